//! The lines of `docs/fleet.md` that lead from two machines to a fleet, run as they are written. Each machine is a network namespace
//! with its own folder and home; the first one has the server and the repository, the second one is a host.

use std::fs;
use std::fs::{File, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::network::{Namespace, Network, SERVER};

/// An agent that makes a file with the name of its worktree.
const AGENTS: &str = r#"
[agents.fixer]
command = "sh"
args = ["-c", "N=$(basename $PWD); echo $N > $N; git add $N; git commit -q --author \"$N <$N@localhost>\" -m 'cocode ready for check'"]
check = "ls | grep -q fixer"
"#;

/// The program that fetches an issue's text, with an issue that is made up.
const GH: &str = r#"#!/bin/sh
echo '{"title":"A sum","body":"It is wrong","url":"https://localhost/issues/5"}'
"#;

/// Returns the commands of the section, fence by fence, without those that install packages.
fn commands(guide: &str) -> Vec<String> {
    let (_, section) = guide.split_once("\n## From two machines to a fleet\n").expect("the section is there");
    let (section, _) = section.split_once("\n## ").expect("another section follows");
    let fences = section.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let is_run = |line: &&str| !line.starts_with("apt install ");
    fences.map(|fence| fence.lines().filter(is_run).collect::<Vec<_>>().join("\n")).collect()
}

struct Machine<'a> {
    namespace: &'a Namespace,
    root: PathBuf,
}

impl<'a> Machine<'a> {
    fn make(namespace: &'a Namespace, root: PathBuf) -> Machine<'a> {
        for folder in ["home/.config/agentd", "work", "bin"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::set_permissions(root.join("home/.config/agentd"), Permissions::from_mode(0o700)).unwrap();
        fs::write(root.join("home/.gitconfig"), "[user]\n\tname = A\n\temail = a@localhost\n").unwrap();
        fs::write(root.join("home/.config/agentd/agents.toml"), AGENTS).unwrap();
        fs::write(root.join("bin/gh"), GH).unwrap();
        fs::set_permissions(root.join("bin/gh"), Permissions::from_mode(0o755)).unwrap();
        Machine { namespace, root }
    }

    /// Returns the folder where the commands are typed.
    fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    fn shell(&self, script: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_agentd")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut command = self.namespace.command("sh");
        command.args(["-ec", script]).current_dir(self.work()).stdin(Stdio::null());
        command.env("PATH", format!("{}:{}:{path}", program.display(), self.root.join("bin").display()));
        command.env("HOME", self.root.join("home"));
        for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs commands to their end, and returns what they print.
    fn run(&self, script: &str) -> String {
        let output = self.shell(script).output().unwrap();
        let printed =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{script}\n{printed}");
        printed
    }

    /// Starts a command that runs until it is stopped; its error output is in a log.
    fn start(&self, script: &str) -> Running {
        let mut command = self.shell(&format!("exec {script}"));
        let log = File::create(self.root.join("log")).unwrap();
        Running(command.stdout(Stdio::piped()).stderr(log).spawn().unwrap())
    }
}

/// A process that is interrupted, and waited for, when it is dropped.
struct Running(Child);

impl Running {
    /// Returns what it prints, up to a line that holds a text.
    fn printed_until(&mut self, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for line in BufReader::new(self.0.stdout.take().unwrap()).lines() {
            lines.push(line.unwrap());
            if lines.last().is_some_and(|line| line.contains(text)) {
                return lines;
            }
        }
        panic!("it has ended, and has only printed {lines:?}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::INT);
        let _ = self.0.wait();
    }
}

/// Makes an authority, and a certificate of it for the server's address.
const CERTIFICATES: &str = "
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=authority \
  -keyout ca.key -out ca.pem
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=server \
  -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=IP:ADDRESS -CA ca.pem -CAkey ca.key \
  -keyout server.key -out server.pem
";

/// Returns the key file that a printed line names.
fn key_file<'a>(lines: &'a [String], name: &str) -> &'a str {
    let file = format!("/{name}.seed");
    let mut words = lines.iter().flat_map(|line| line.split_whitespace());
    words.find(|word| word.ends_with(&file)).expect("the line names the file of the key")
}

#[test]
fn the_lines_of_the_guide_lead_from_two_machines_to_a_fleet() {
    let test = "the_lines_of_the_guide_lead_from_two_machines_to_a_fleet";
    if !rustix::process::geteuid().is_root() {
        return test_support::skip(test, "it makes network namespaces, which needs root");
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> =
        std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from)).collect();
    let is_there = |program: &str| folders.iter().any(|folder| folder.join(program).is_file());
    if let Some(program) = ["nats-server", "openssl", "ip", "unshare", "nsenter", "setpriv"]
        .into_iter()
        .find(|program| !is_there(program))
    {
        let why =
            format!("the program {program} is not installed; `cargo xtask setup` installs what is missing");
        return test_support::skip(test, &why);
    }
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleet.md");
    let commands = commands(&fs::read_to_string(guide).unwrap());
    let lines: usize = commands.iter().map(|fence| fence.lines().count()).sum();
    assert!(lines < 10, "ten lines, one of which installs the server: {commands:#?}");
    let [up, join, run] = commands.as_slice() else { panic!("three fences: {commands:#?}") };

    let folder: TempDir = tempfile::Builder::new().prefix("fleet-guide-").tempdir().unwrap();
    let network = Network::make(1);
    let home = Machine::make(&network.server, folder.path().join("first"));
    let host = Machine::make(&network.workers[0], folder.path().join("second"));
    home.run(&CERTIFICATES.replace("ADDRESS", SERVER));
    home.run("git init -q -b main; echo .agentd > .gitignore; git add .gitignore; git commit -q -m start");

    let mut server = home.start(up);
    let printed = server.printed_until("agentd cocode run");
    // "Copy each host its key file"; the certificate of the authority goes with it.
    for (name, machine) in [("north", &host), ("home", &home)] {
        fs::copy(key_file(&printed, name), machine.work().join(format!("{name}.seed"))).unwrap();
    }
    fs::copy(home.work().join("ca.pem"), host.work().join("ca.pem")).unwrap();
    // A file that is only on the first machine shows that the second one does the work.
    fs::remove_file(home.root.join("home/.config/agentd/agents.toml")).unwrap();
    fs::write(home.root.join("home/.config/agentd/agents.toml"), AGENTS.replace("git commit", "false"))
        .unwrap();

    let joined = host.start(join);
    let printed = home.run(run);
    assert!(printed.contains("fixer-7"), "{printed}");
    let picked = fs::read_to_string(home.work().join("5-fixer-7")).unwrap();
    assert_eq!(picked, "5-fixer-7\n", "{printed}");
    drop(joined);
    drop(server);
}
