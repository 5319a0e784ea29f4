//! One case: a command in a small repository, and the refusals that its answer names.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use egress::Network;
use local_workspace::EngineConfig;
use rel_path::RelPath;
use serde::Deserialize;
use wap_core::{Denied, ExecuteCommand, ExecuteCommandResponse, Unobserved, WapError, Workspace};

use crate::fixture::workspace::{Caller, Fixture, Layered};

/// The cases of one file, with what holds for all of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    /// The description of the file, for its readers.
    #[serde(rename = "about")]
    _about: String,
    /// The names that commands may connect to; without it, the network is off.
    network: Option<String>,
    /// False where commands change the folder itself.
    layer: Option<bool>,
    cases: Vec<CaseText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseText {
    name: String,
    /// A command for the shell, or the text of a program for an interpreter.
    command: Option<String>,
    python: Option<String>,
    node: Option<String>,
    /// The name of a system call with its numeric arguments, which must fail.
    call: Option<(String, Vec<i64>)>,
    /// The programs that it requires, in addition to those of every system.
    #[serde(default)]
    needs: Vec<String>,
    /// Files that are there before.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// The limits of the command.
    processes: Option<u32>,
    memory_megabytes: Option<u64>,
    /// Seconds.
    timeout: Option<i64>,
    /// True if the workspace takes no commands.
    #[serde(default)]
    read_only: bool,
    /// What, why, and what allows it.
    #[serde(default)]
    denied: Vec<(String, String, Option<String>)>,
    /// A part of a warning, or of the error, that names the refusal instead.
    warning: Option<String>,
    error: Option<String>,
    /// The exit code, where it says that an ordinary command did its work.
    exit: Option<i32>,
}

/// One case with the settings of its file.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: String,
    network: Option<String>,
    layered: Layered,
    text: CaseText,
    is_refused: bool,
}

/// The receipts of an answer, and its other words.
#[derive(Debug)]
pub(super) struct Said {
    rows: Vec<(String, String, Option<String>)>,
    warnings: String,
    error: String,
    exit: Option<i32>,
    output: String,
}

/// Reads all cases: refusals first.
pub(super) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/denied");
    let mut cases = Vec::new();
    for (kind, is_refused) in [("refused", true), ("ordinary", false)] {
        let entries = fs::read_dir(folder.join(kind)).unwrap();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            let group: Group = serde_json::from_slice(&fs::read(&file).unwrap())
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let stem = file.file_stem().unwrap().to_str().unwrap();
            cases.extend(group.cases.into_iter().map(|text| Case {
                name: format!("{kind}/{stem}: {}", text.name),
                network: group.network.clone(),
                layered: if group.layer == Some(false) { Layered::No } else { Layered::Yes },
                text,
                is_refused,
            }));
        }
    }
    cases
}

impl Case {
    pub(super) fn is_refused(&self) -> bool {
        self.is_refused
    }

    pub(super) fn missing_program(&self) -> Option<&str> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = |name: &&String| std::env::split_paths(&path).any(|folder| folder.join(name).exists());
        self.text.needs.iter().find(|name| !is_there(name)).map(String::as_str)
    }

    /// Runs the command in a fixture of its own; `None` if it is about a limit on the whole command, and this user has none.
    pub(super) fn run(&self) -> Option<Said> {
        let fixture = Fixture::new();
        for (name, content) in &self.text.files {
            fixture.put(name, self.fill(content, &fixture, 0));
        }
        // Servers of the host: one in the folder, and one on its loopback.
        let _planted = UnixListener::bind(fixture.root().join("host.sock")).unwrap();
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let network = self.network.as_ref().map_or(Network::Off, |list| {
            Network::Names(list.replace("{port}", &port.to_string()).parse().unwrap())
        });
        let mut config = EngineConfig {
            network,
            read_only: self.text.read_only,
            state_folder: Some(RelPath::parse(".agentd").unwrap()),
            output_folder: fixture.root().join(".agentd/output"),
            ..fixture.layered_config(self.layered)
        };
        let limits = &mut config.policy.limits;
        limits.processes = self.text.processes.unwrap_or(limits.processes);
        limits.memory_bytes =
            self.text.memory_megabytes.map_or(limits.memory_bytes, |megabytes| megabytes << 20);
        fixture.put(".agentd/journal", "the state of the daemon\n");
        let workspace = fixture.open_with(fixture.open_journal(), config).0;
        let request = ExecuteCommand {
            command: self.fill(&self.command(), &fixture, port),
            timeout: self.text.timeout.map(|seconds| seconds * 1000),
            ..ExecuteCommand::default()
        };
        let is_about_limits = self.text.processes.is_some() || self.text.memory_megabytes.is_some();
        let has_none = |missing: &String| missing.starts_with("limit on the whole command");
        if is_about_limits && workspace.sandbox_report().unwrap().missing.iter().any(has_none) {
            return None;
        }
        let answer = workspace.execute_command(&Caller::once().call(), &request, &mut Unobserved);
        Some(self.said(&fixture, port, answer))
    }

    fn said(&self, fixture: &Fixture, port: u16, answer: Result<ExecuteCommandResponse, WapError>) -> Said {
        let (denied, warnings, error, exit, output) = match answer {
            Ok(response) => {
                let output = format!("{}{}", response.stdout, response.stderr);
                (
                    response.denied,
                    response.warnings.join("\n"),
                    String::new(),
                    Some(response.exit_code),
                    output,
                )
            }
            Err(error) => {
                let output = error.detail("stderr").map(ToString::to_string).unwrap_or_default();
                (Denied::of_error(&error), String::new(), error.to_string(), None, output)
            }
        };
        let row = |denied: Denied| {
            let plain = |text: String| self.plain(&text, fixture, port);
            (plain(denied.what), denied.why, denied.allow.map(plain))
        };
        Said { rows: denied.into_iter().map(row).collect(), warnings, error, exit, output }
    }

    /// Returns what is wrong with an answer, if anything is.
    pub(super) fn complaint(&self, said: &Said) -> Option<String> {
        let sorted = |rows: &[(String, String, Option<String>)]| {
            let mut rows = rows.to_vec();
            rows.sort();
            rows
        };
        let has =
            |wanted: &Option<String>, text: &str| wanted.as_ref().is_none_or(|part| text.contains(part));
        let is_right = sorted(&said.rows) == sorted(&self.text.denied)
            && has(&self.text.warning, &said.warnings)
            && has(&self.text.error, &said.error)
            && self.text.exit.is_none_or(|exit| said.exit == Some(exit));
        let Said { rows, warnings, error, exit, output } = said;
        (!is_right).then(|| {
            format!(
                "{}: {rows:?}, warnings {warnings:?}, error {error:?}, exit {exit:?}: {output}",
                self.name
            )
        })
    }

    fn command(&self) -> String {
        let text = &self.text;
        let quoted = |program: &str, text: &str| format!("{program} '{}'", text.replace('\'', r"'\''"));
        match (&text.command, &text.python, &text.node, &text.call) {
            (Some(command), None, None, None) => command.clone(),
            (None, Some(program), None, None) => quoted("python3 -c", program),
            (None, None, Some(program), None) => quoted("node -e", program),
            (None, None, None, Some((name, arguments))) => {
                let arguments: String =
                    arguments.iter().map(|number| format!(", ctypes.c_long({number})")).collect();
                let call =
                    format!("ctypes.CDLL(None).syscall(ctypes.c_long({}){arguments})", call_number(name));
                quoted("python3 -c", &format!("import ctypes; exit({call} < 0)"))
            }
            _ => panic!("{}: one of command, python, node and call", self.name),
        }
    }

    /// Puts this run's folders and port into a text.
    fn fill(&self, text: &str, fixture: &Fixture, port: u16) -> String {
        let text = text.replace("{home}", fixture.path().join("home").to_str().unwrap());
        let text = text.replace("{outside}", fixture.outside().to_str().unwrap());
        text.replace("{workspace}", fixture.root().to_str().unwrap()).replace("{port}", &port.to_string())
    }

    fn plain(&self, text: &str, fixture: &Fixture, port: u16) -> String {
        let names = [
            (fixture.path().join("home"), "{home}"),
            (fixture.outside(), "{outside}"),
            (fixture.root(), "{workspace}"),
        ];
        let text = names
            .iter()
            .fold(text.to_owned(), |text, (path, name)| text.replace(path.to_str().unwrap(), name));
        let text = text.replace(fixture.path().to_str().unwrap(), "{around}");
        if text.contains(&port.to_string()) { text.replace(&port.to_string(), "{port}") } else { text }
    }
}

/// Returns the number of a system call on this machine.
fn call_number(name: &str) -> i64 {
    macro_rules! numbers {
        ($($name:ident)*) => { [$((stringify!($name), libc::$name)),*] };
    }
    let numbers = numbers! {
        SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_process_madvise SYS_process_mrelease SYS_pidfd_getfd SYS_kcmp SYS_migrate_pages SYS_move_pages SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register SYS_userfaultfd SYS_bpf SYS_perf_event_open SYS_keyctl SYS_add_key SYS_request_key SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_move_mount SYS_open_tree SYS_fsopen SYS_fsconfig SYS_fsmount SYS_fspick SYS_mount_setattr SYS_unshare SYS_setns SYS_open_by_handle_at SYS_fanotify_init SYS_fanotify_mark SYS_init_module SYS_finit_module SYS_delete_module SYS_kexec_load SYS_reboot SYS_swapon SYS_swapoff SYS_acct SYS_quotactl SYS_syslog SYS_sethostname SYS_setdomainname SYS_settimeofday SYS_clock_settime SYS_clock_adjtime SYS_adjtimex SYS_vhangup SYS_clone SYS_clone3
    };
    let name = format!("SYS_{name}");
    numbers
        .iter()
        .find(|(listed, _)| *listed == name)
        .map(|(_, number)| *number)
        .unwrap_or_else(|| panic!("{name}"))
}
