//! What the cases of the attack corpus need beforehand, and what must hold after them.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use rustix::process::Pid;
use sandbox_exec::{Level, Outcome, ShellCommand};
use tempfile::TempDir;

use crate::ground::{CANARY, Ground, stderr, stdout, traced_spawner, write_program};

/// A ground prepared for one case.
pub(crate) struct Scene {
    pub(crate) ground: Ground,
    name: String,
    /// Digits that stand in the arguments of every long sleep, to find survivors by.
    pub(crate) marker: String,
    listener: TcpListener,
    abstract_listener: UnixListener,
    workspace_listener: UnixListener,
    datagrams: UnixDatagram,
    /// What must be the same afterwards: the outside file's mode, its modification time, the host's core pattern.
    before: (Option<(u32, i64)>, Option<String>),
    level: Level,
    tools: TempDir,
    /// What stands in the arguments of the next.
    bystander_mark: String,
    /// A process outside with a secret among its variables.
    bystander: Child,
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.bystander.kill();
        let _ = self.bystander.wait();
    }
}

impl Scene {
    pub(crate) fn new(name: &str, with_repository: bool, level: Level) -> Scene {
        let tools = tempfile::tempdir().unwrap();
        let mut ground = match name {
            "daemon-crash-idempotence" | "sandbox-setup-race" => {
                Ground::with_spawner(traced_spawner(tools.path()), level)
            }
            _ => Ground::at_level(level),
        };
        let (root, workspace) = (ground.root(), ground.workspace());
        fs::create_dir(root.join("tools")).unwrap();
        write_program(&root.join("tools/probe"), include_str!("../probe.py"));
        ground.policy.readable.push(root.join("tools"));
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", root.join("tools").display());
        ground.policy.environment.insert("PATH".into(), path.into());
        for name in ["sessions", "inbox"] {
            fs::create_dir_all(workspace.join(".agentd").join(name)).unwrap();
        }
        fs::write(workspace.join(".agentd/sessions/1.json"), CANARY).unwrap();
        ground.policy.hidden.push(ground.policy.workspace.join(".agentd"));
        fs::write(workspace.join("not-executable"), "#!/bin/sh\n").unwrap();
        let limits = &mut ground.policy.limits;
        match name {
            "fork-bomb" | "fork-bomb-slow" | "thread-bomb" => limits.processes = 64,
            "zombie-farm" => limits.processes = 4096,
            "memory-bomb" => limits.memory_bytes = 256 << 20,
            _ => {}
        }
        if with_repository {
            let text = "git init -q . && git config user.name t && git config user.email t@localhost";
            assert!(ground.run(text).ending.is_success());
        }
        let abstract_name = SocketAddr::from_abstract_name(abstract_name(&ground)).unwrap();
        let datagrams = UnixDatagram::bind(root.join("outside/dsock")).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let marker = digits();
        let bystander_mark = format!("299.{}", digits());
        let mut bystander = Command::new("sleep");
        let bystander = bystander.arg(&bystander_mark).env("CANARY_TOKEN", CANARY).spawn().unwrap();
        let mut scene = Scene {
            bystander_mark,
            bystander,
            abstract_listener: UnixListener::bind_addr(&abstract_name).unwrap(),
            workspace_listener: UnixListener::bind(workspace.join("agent.sock")).unwrap(),
            before: (None, None),
            level,
            tools,
            ground,
            name: name.to_owned(),
            marker,
            listener,
            datagrams,
        };
        for listener in [&scene.abstract_listener, &scene.workspace_listener] {
            listener.set_nonblocking(true).unwrap();
        }
        scene.before = scene.state();
        scene
    }

    /// Returns how long the case may take.
    pub(crate) fn timeout(&self, expected: &str) -> Duration {
        let is_to_be_killed = matches!(expected, "timeout" | "killed");
        // Python waits for the threads that it could start.
        let is_endless = is_to_be_killed || self.name == "thread-bomb";
        // What is not stopped may go on for ever.
        let longest = if self.level != Level::Full && self.name == "listen-port" { 5 } else { 60 };
        Duration::from_secs(if is_endless { 1 } else { longest })
    }

    /// Returns the case's command for this ground.
    pub(crate) fn command(&self, text: &str) -> String {
        if text == "echo <1 MiB of a>" {
            return format!("echo {}", "a".repeat(1 << 20));
        }
        let port = self.listener.local_addr().unwrap().port().to_string();
        let state = self.ground.workspace().join(".agentd");
        let text = match self.name.as_str() {
            // The shell itself would be the parent that is meant to be the launcher's.
            "proc-mem-parent" => format!("exec {text}"),
            // Each of the three counts.
            "netlink-packet" => text.replace("; ", " || "),
            // Whatever the niceness is with which the tests are run.
            "nice-minus" => "renice -n $(($(nice) - 5)) $$".to_owned(),
            // The same without programs that are seldom installed.
            "keyring" => "probe keyrings".to_owned(),
            "icmp-raw" => "probe icmp".to_owned(),
            _ => text.to_owned(),
        };
        text.replace("$AGENTD_STATE", state.to_str().unwrap())
            .replace("$PORT", &port)
            .replace("8765", &free_port())
            .replace("$T", self.ground.root().to_str().unwrap())
            .replace("@lababs", &format!("@{}", abstract_name(&self.ground)))
            .replace("sleep 300", &format!("sleep 300.{}", self.marker))
            .replace("sleep 60", &format!("sleep 60.{}", self.marker))
            .replace("sleep 100", &format!("sleep 100.{}", self.marker))
    }

    /// Returns the spawner's process, where it was asked to leave its number.
    pub(crate) fn spawner(&self) -> Pid {
        let number = fs::read_to_string(self.tools.path().join("spawner.pid")).unwrap();
        Pid::from_raw(number.trim().parse().unwrap()).unwrap()
    }

    fn state(&self) -> (Option<(u32, i64)>, Option<String>) {
        let secret = fs::metadata(self.ground.outside("secret.txt")).ok();
        let secret = secret.map(|secret| (secret.mode(), secret.mtime_nsec()));
        (secret, fs::read_to_string("/proc/sys/kernel/core_pattern").ok())
    }

    fn has_connection(&self) -> bool {
        let is_none = |error: Option<ErrorKind>| error == Some(ErrorKind::WouldBlock);
        !(is_none(self.listener.accept().err().map(|error| error.kind()))
            && is_none(self.abstract_listener.accept().err().map(|error| error.kind()))
            && is_none(self.workspace_listener.accept().err().map(|error| error.kind()))
            && is_none(self.datagrams.recv(&mut [0; 8]).err().map(|error| error.kind())))
    }
}

/// Returns digits that no other process has in its arguments.
fn digits() -> String {
    crate::ground::marker().bytes().filter(u8::is_ascii_digit).map(char::from).collect()
}

/// Returns a port that nobody listens on, for a moment at least.
fn free_port() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port().to_string()
}

fn abstract_name(ground: &Ground) -> String {
    ground.root().to_string_lossy().replace('/', ".")
}

/// Returns a variable's value, where the corpus describes a long one.
pub(crate) fn value(text: &str) -> String {
    if text == "10 MB" { "x".repeat(10_000_000) } else { text.to_owned() }
}

/// Checks what the expectation alone does not say. What holds after every case is checked first.
pub(crate) fn check(name: &str, scene: &mut Scene, outcome: Option<&Outcome>) -> Result<(), String> {
    let ground = &scene.ground;
    let workspace = ground.workspace();
    let entries = |path: PathBuf| -> Vec<String> {
        let names =
            fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    let require = |holds: bool, what: &str| if holds { Ok(()) } else { Err(format!("{what}: {outcome:#?}")) };
    require(scene.state() == scene.before, "something outside was changed")?;
    require(entries(ground.root().join("outside")) == ["dsock", "secret.txt"], "something outside was made")?;
    require(entries(ground.root().join("home")) == [".aws", ".netrc", ".ssh"], "the home was changed")?;
    let secret = fs::read_to_string(ground.outside("secret.txt")).unwrap_or_default();
    require(secret == CANARY, "the secret was changed")?;
    require(!scene.has_connection(), "something was sent")?;
    let Some(outcome) = outcome else { return Ok(()) };
    let (stdout, stderr) = (stdout(outcome), stderr(outcome));
    require(!stdout.contains(CANARY) && !stderr.contains(CANARY), "a secret was read")?;
    let is_quick = outcome.duration.as_secs() < 5;
    match name {
        "ansi-escapes" => require(outcome.stdout.head.starts_with(b"\x1b[2J"), "the raw bytes are kept"),
        "bg-holds-stderr-only" | "setsid-daemon" | "nohup-disown" => require(is_quick, "the reply is late"),
        "binary-output" => require(outcome.stdout.total_bytes == 100_000, "bytes are missing"),
        "carriage-return-progress" => require(stdout == "1%\r2%\r3%\r\n", "the raw bytes are kept"),
        "closed-stdout" => require(outcome.duration.as_millis() >= 1000, "an early end"),
        "command-crlf" => require(stdout == "a\nb\n", "stray characters"),
        "coredump" => require(!entries(workspace).iter().any(|name| name.starts_with("core")), "a core file"),
        "cwd-deleted" => require(workspace.is_dir(), "the workspace is gone"),
        "exit-127" => require(stderr.contains("no-such-command-xyz"), "the message is lost"),
        "fifo-left-behind" => {
            require(fs::symlink_metadata(workspace.join("p")).unwrap().file_type().is_fifo(), "no fifo")
        }
        "flood-then-exit" => require(
            outcome.stdout.total_bytes == 200_000_000 && outcome.stdout.omitted_bytes() > 0,
            "the total is wrong",
        ),
        "git-commit-works" => {
            require(ground.run("git log --format=%s | grep -x x").ending.is_success(), "no commit")
        }
        "git-dir-rename" | "git-hook-write" => require(
            !workspace.join(".git.old").exists() && !workspace.join(".git/hooks/pre-commit").exists(),
            "the repository was changed",
        ),
        "umount-protected" => {
            let again = ground.run("echo x >> .git/config");
            require(!again.ending.is_success(), "no longer protected")
        }
        "git-init-missing" => {
            // There was nothing to bind over: the caller is told what to look at afterwards.
            let running = ground.launcher.spawn(&ground.policy, &ShellCommand::new("true").unwrap()).unwrap();
            require(running.unprotected().iter().any(|path| path.ends_with(".git/config")), "not named")
        }
        "heredoc-multiline" => require(stdout == "[/RUN_COMMAND]x\n", "the text was changed"),
        "kill-minus-one" | "kill-parent" => Ok(()),
        "nice-minus" => require(!outcome.ending.is_success(), "more urgent than allowed"),
        "no-output" => require(outcome.stdout.total_bytes == 0, "output"),
        "pager" => require(is_quick, "it waits for a key"),
        "proc-cmdline" => require(!stdout.contains(&scene.bystander_mark), "sees a foreign process"),
        "setuid-su" => require(!stdout.contains("uid=0") || stdout.is_empty(), "privileges were gained"),
        "chmod-set-user-id"
        | "chmod-set-group-id"
        | "folder-7777"
        | "open-set-user-id"
        | "openat2-set-user-id"
        | "fchmodat2-set-user-id"
        | "tar-set-user-id"
        | "mknod-whiteout" => {
            let left = crate::tricks::left_in(&workspace);
            require(!left.iter().any(|(kind, _)| matches!(*kind, "bits" | "device")), "something is left")
        }
        "stdin-read" => require(stdout == "got::1\n", "not at its end"),
        "tcp-public" => require(is_quick, "a packet was sent"),
        "utf8-split-across-reads" => require(stdout == "\u{20ac}", "not one character"),
        "write-home-rc" => require(stderr.contains(".bashrc") && stderr.contains(".profile"), "written"),
        "write-tmp" => {
            // At a level without a private folder there, it is the test's to remove.
            let is_there = fs::remove_file("/tmp/agent-test").is_ok();
            require(!is_there, "the host has the file")
        }
        _ => Ok(()),
    }
}
