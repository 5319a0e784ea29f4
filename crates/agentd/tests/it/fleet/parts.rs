//! The processes of a fleet.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::cocode::desk::Desk;
use crate::fixture::daemon::Daemon;
use crate::fixture::project::Ran;

/// A repository with these definitions of agents; home and hosts share the user.
pub(crate) fn desk(agents: &str) -> Desk {
    let desk = Desk::new();
    desk.define(agents);
    desk
}

/// Runs a command about fleets.
pub(crate) fn fleet_command(desk: &Desk, arguments: &[&str]) -> Ran {
    Ran::of(command(desk, arguments).output().unwrap())
}

fn command(desk: &Desk, arguments: &[&str]) -> Command {
    let mut command = desk.command(&[]);
    let program = command.get_program().to_owned();
    let folder = desk.project.workspace();
    let variables: Vec<_> =
        command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
    command = Command::new(program);
    command.arg("fleet").args(arguments).current_dir(folder);
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command
}

/// A process that is asked to end when it is dropped, and waited for: it has others to end.
pub(crate) struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(i32::try_from(self.0.id()).unwrap()), Signal::SIGTERM);
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline && self.0.try_wait().is_ok_and(|ended| ended.is_none()) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server for a fleet.
pub(crate) struct Fleet {
    folder: TempDir,
    address: String,
    options: Vec<String>,
    server: Option<Ending>,
}

impl Fleet {
    /// Starts a server, or says that the test is skipped.
    pub(crate) fn start(test: &str, options: &[&str]) -> Option<Fleet> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
        if !folders.into_iter().any(|folder| folder.join("nats-server").is_file()) {
            test_support::skip(test, "nats-server is not installed; `cargo xtask setup` installs it");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("agentd-fleet-").tempdir().unwrap();
        // Free a moment ago; the server does not choose a port itself.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        let address = format!("127.0.0.1:{port}");
        let mut fleet = Fleet { folder, address, options, server: None };
        fleet.server = Some(fleet.start_again());
        Some(fleet)
    }

    /// Starts the server, and returns when hosts can join.
    pub(crate) fn start_again(&self) -> Ending {
        self.up().0
    }

    /// Starts the server, and returns it with the number of its process.
    pub(crate) fn up(&self) -> (Ending, u32) {
        let mut child = self.up_command().spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let child = Ending(child);
        let mut values = serde_json::Deserializer::from_reader(output).into_iter::<Value>();
        let up = values.next().expect("the server starts").unwrap();
        assert_eq!(up["url"], self.url());
        (child, u32::try_from(up["process"].as_u64().unwrap()).unwrap())
    }

    /// Runs `up` with further options, and returns what came of it.
    pub(crate) fn up_fails(&self, options: &[&str]) -> Ran {
        Ran::of(self.up_command().args(options).stderr(std::process::Stdio::piped()).output().unwrap())
    }

    fn up_command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agentd"));
        command.args(["fleet", "up", "--json", "--listen", &self.address]).args(&self.options);
        command.arg("--folder").arg(self.folder.path().join("server"));
        command.env("HOME", self.folder.path()).current_dir(self.folder.path());
        command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
        command
    }

    /// Kills what has started the server, with `kill -9`. The server stays.
    pub(crate) fn kill_up(&mut self) {
        let mut up = self.server.take().unwrap();
        up.0.kill().unwrap();
        up.0.wait().unwrap();
    }

    pub(crate) fn stop(&mut self) {
        self.server = None;
    }

    /// Keeps a server that was started apart, to be killed or ended with the others.
    pub(crate) fn keep(&mut self, up: Ending) {
        self.server = Some(up);
    }

    /// Returns the folder of the server and the hosts.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://{}", self.address)
    }

    /// Returns the file of a key.
    pub(crate) fn key(&self, name: &str) -> String {
        self.folder.path().join(format!("server/keys/{name}.seed")).display().to_string()
    }

    /// Starts a host, and returns when it takes tasks.
    pub(crate) fn host(&self, desk: &Desk, name: &str, options: &[&str]) -> Host {
        let host = self.host_process(desk, name, &[options, &["-v"]].concat());
        let status = || {
            let key = options.contains(&"--key-file").then(|| self.key("home"));
            let mut arguments = vec!["status", "--json"];
            arguments.extend(key.iter().flat_map(|key| ["--key-file", key]));
            self.command(desk, &arguments).stdout
        };
        crate::fixture::daemon::eventually("the host has joined", || {
            status().contains(&format!("\"host\": \"{name}\""))
        });
        host
    }

    /// Starts a host.
    pub(crate) fn host_process(&self, desk: &Desk, name: &str, options: &[&str]) -> Host {
        self.host_process_in(desk, name, &self.folder.path().join(name), options)
    }

    /// Starts a host with a folder.
    pub(crate) fn host_process_in(&self, desk: &Desk, name: &str, folder: &Path, options: &[&str]) -> Host {
        let mut command = command(desk, &["join", &self.url(), "--host-name", name, "--slots", "2"]);
        command.arg("--folder").arg(folder).args(["--sandbox", "allow=none"]).args(options);
        Host(Some(Daemon::start(command)))
    }

    /// Checks that a host that has ended has left no work.
    pub(crate) fn nothing_is_left_at(&self, host: &str) -> bool {
        let slots = std::fs::read_dir(self.folder.path().join(host).join("slots")).unwrap();
        slots.map(|slot| slot.unwrap().path()).all(|slot| std::fs::read_dir(slot).unwrap().next().is_none())
    }

    /// Runs agents on the fleet.
    pub(crate) fn run(&self, desk: &Desk, options: &[&str]) -> Ran {
        let run = ["--fleet", &self.url(), "--sandbox", "allow=none"];
        desk.run(&[&run[..], options].concat())
    }

    /// Runs a command about this fleet.
    pub(crate) fn command(&self, desk: &Desk, arguments: &[&str]) -> Ran {
        fleet_command(desk, &[arguments, &["--url", &self.url()]].concat())
    }

    pub(crate) fn status(&self, desk: &Desk) -> Value {
        serde_json::from_str(&self.command(desk, &["status", "--json"]).ok().stdout).unwrap()
    }
}

/// A host; it leaves its fleet when it is dropped.
pub(crate) struct Host(Option<Daemon>);

impl Host {
    /// Kills it with `kill -9`.
    pub(crate) fn kill(mut self) {
        // The fixture kills what is dropped.
        drop(self.0.take());
    }

    /// Waits until it ends by itself, and returns what it said.
    pub(crate) fn ended(mut self) -> Ran {
        self.0.take().unwrap().wait()
    }

    /// Waits until it says something.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        self.0.as_mut().unwrap().wait_for(text);
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let Some(daemon) = self.0.take() else { return };
        let id = Pid::from_raw(i32::try_from(daemon.process_id()).unwrap());
        let _ = kill(id, Signal::SIGTERM);
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline && !has_ended(id) {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Checks whether a child has ended; it stays to be waited for.
fn has_ended(id: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    status.rsplit(')').next().is_none_or(|rest| rest.trim_start().starts_with('Z'))
}
