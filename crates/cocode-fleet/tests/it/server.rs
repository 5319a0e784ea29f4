//! A real nats-server on loopback, with a store of its own, that ends with the test.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Returns the program; none if it is not installed.
pub(crate) fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join("nats-server")).find(|file| file.is_file())
}

/// A server that is killed when it is dropped, or when the thread of the test ends.
pub(crate) struct Server {
    process: Child,
    port: u16,
    configuration: String,
    folder: TempDir,
}

impl Server {
    /// Starts a server with further configuration; none, and a word to the user, without the program.
    pub(crate) fn start(test: &str, configuration: &str) -> Option<Server> {
        let Some(program) = program() else {
            test_support::skip(test, "nats-server is not installed");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let (process, port) = run(&program, folder.path(), configuration, None);
        Some(Server { process, port, configuration: configuration.to_owned(), folder })
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Kills the server.
    pub(crate) fn kill(&mut self) {
        // It may be frozen, which SIGKILL does not mind.
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts the killed server again at the same port, with its store.
    pub(crate) fn start_again(&mut self) {
        let (process, _) = run(&program().unwrap(), self.folder.path(), &self.configuration, Some(self.port));
        self.process = process;
    }

    /// Starts the killed server again with another configuration.
    pub(crate) fn start_again_with(&mut self, configuration: &str) {
        configuration.clone_into(&mut self.configuration);
        self.start_again();
    }

    /// Deletes what the killed server has stored.
    pub(crate) fn delete_store(&self) {
        std::fs::remove_dir_all(self.folder.path().join("store")).unwrap();
    }

    /// Copies what the server has stored at this moment: what a sync would leave on the disk.
    pub(crate) fn copy_of_store(&self) -> TempDir {
        self.freeze();
        let copy = tempfile::tempdir().unwrap();
        copy_folder(&self.folder.path().join("store"), &copy.path().join("store"));
        self.thaw();
        copy
    }

    /// Puts an earlier copy into place of what the killed server has stored, as a power cut does.
    pub(crate) fn restore(&self, copy: &TempDir) {
        self.delete_store();
        copy_folder(&copy.path().join("store"), &self.folder.path().join("store"));
    }

    /// Stops the process without ending it, and returns when none of its threads runs any more.
    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
        let threads = || std::fs::read_dir(format!("/proc/{}/task", self.process.id())).unwrap();
        let is_stopped = |thread: std::io::Result<std::fs::DirEntry>| {
            let status = std::fs::read_to_string(thread.unwrap().path().join("status")).unwrap();
            status.contains("State:\tT")
        };
        while !threads().all(is_stopped) {
            std::thread::yield_now();
        }
    }

    /// Lets the process continue.
    pub(crate) fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.process.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts the program and waits until it says that it is ready.
fn run(program: &Path, folder: &Path, configuration: &str, port: Option<u16>) -> (Child, u16) {
    let file = folder.join("server.conf");
    let port = port.map_or("-1".to_owned(), |port| port.to_string());
    let listen = format!("listen: \"127.0.0.1:{port}\"\n");
    let store = folder.join("store").display().to_string();
    let text = configuration.replace("STORE", &store).replace("listen: \"127.0.0.1:4222\"\n", "");
    std::fs::write(&file, format!("{text}\n{listen}")).unwrap();
    // The kernel kills it with this thread, also if the test is killed.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL"]).arg(program).arg("-c").arg(&file);
    let mut process = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("setpriv is a part of every Linux");
    let errors = BufReader::new(process.stderr.take().unwrap());
    let (sender, receiver) = mpsc::channel();
    // It reads on until the server ends, so that the server never waits for its own log.
    std::thread::spawn(move || {
        let mut text = String::new();
        for line in errors.lines().map_while(Result::ok) {
            text.push_str(&line);
            text.push('\n');
            if line.contains("Server is ready") {
                let _ = sender.send(std::mem::take(&mut text));
            }
        }
        let _ = sender.send(text);
    });
    let log = receiver.recv_timeout(Duration::from_secs(30)).expect("the server says something in time");
    let marker = "Listening for client connections on 127.0.0.1:";
    let Some((_, rest)) = log.split_once(marker) else { panic!("the server did not start:\n{log}") };
    let port = rest.split_whitespace().next().unwrap().parse().unwrap();
    (process, port)
}

/// A server without keys, for all tests but those of permissions.
pub(crate) const OPEN: &str = "
jetstream { store_dir: \"STORE\", max_mem: 16MB, max_file: 2GB }
max_payload: 8MB
";
