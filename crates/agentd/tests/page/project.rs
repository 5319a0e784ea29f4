//! A folder of code, and `agentd ui` on it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// A folder of code with a home of its own, gone when it is dropped.
pub(crate) struct Project(TempDir);

impl Project {
    /// A small project with a test that fails.
    pub(crate) fn new() -> Project {
        let folder = tempfile::Builder::new().prefix("agentd-page-").tempdir().unwrap();
        for name in ["greeter", "home", "tmp"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let project = Project(folder);
        project.write("greet.sh", "greet() {\n    echo \"Hello $1\"\n}\n");
        project.write("test.sh", ". ./greet.sh\n[ \"$(greet you)\" = 'Hello, you' ] && echo passed\n");
        project
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.0.path().join("greeter")
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.workspace().join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.workspace().join(name)).unwrap()
    }

    /// Puts a reply into the inbox as a whole.
    pub(crate) fn drop_reply(&self, name: &str, text: &str) {
        let unfinished = self.0.path().join("tmp").join(name);
        fs::write(&unfinished, text).unwrap();
        fs::rename(unfinished, self.workspace().join(".agentd/inbox").join(name)).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        // Another build can be measured, such as an optimized one.
        let program = std::env::var_os("PAGE_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_agentd").into());
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.workspace());
        // These cases are about the page, and run where there is no full confinement, too.
        command.args(["--sandbox", "allow=none"]);
        for (name, folder) in [("HOME", "home"), ("TMPDIR", "tmp")] {
            command.env(name, self.0.path().join(folder));
        }
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "DISPLAY", "WAYLAND_DISPLAY"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// Starts the page on a free port.
    pub(crate) fn page(&self) -> Page {
        self.page_at("127.0.0.1:0")
    }

    pub(crate) fn page_at(&self, address: &str) -> Page {
        Page::start(self.command(&["ui", "--no-open", "--json", "--listen", address]))
    }

    /// A session with its first message, by the command line.
    pub(crate) fn session(&self, task: &str) -> String {
        let ran = self.command(&["new", "--no-wait", "--json", task]).output().unwrap();
        let started: Value = serde_json::from_slice(&ran.stdout).unwrap();
        started["session"].as_str().unwrap().to_owned()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.0.path()
    }
}

/// A running `agentd ui`; killed when it is dropped.
pub(crate) struct Page {
    child: Child,
    // Kept open, so that it can print.
    _output: BufReader<ChildStdout>,
    /// The address with its code.
    pub(crate) url: String,
    /// Host and port.
    pub(crate) address: String,
}

/// An answer to a plain request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The head in small letters.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Page {
    fn start(mut command: Command) -> Page {
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        let listening: Value = loop {
            assert_ne!(output.read_line(&mut text).unwrap(), 0, "it shows no page: {text}");
            if let Ok(value) = serde_json::from_str(&text) {
                break value;
            }
        };
        let url = listening["url"].as_str().unwrap().to_owned();
        let address = url["http://".len()..].split('/').next().unwrap().to_owned();
        Page { child, _output: output, url, address }
    }

    pub(crate) fn code(&self) -> &str {
        self.url.split_once("#code=").unwrap().1
    }

    /// Kills it at once.
    pub(crate) fn kill(mut self) -> String {
        let _ = self.child.kill();
        self.child.wait().unwrap();
        self.address.clone()
    }

    /// Returns a figure of its memory in KiB, such as `VmRSS`.
    pub(crate) fn memory_kib(&self, figure: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix(':')).unwrap();
        line.trim().trim_end_matches("kB").trim().parse().unwrap()
    }

    /// Sends a request byte by byte and returns the answer.
    pub(crate) fn ask(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut request =
            format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request.push_str(&format!("Host: {}\r\n", self.address));
        }
        headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The reply that makes the test of the project pass.
pub(crate) const GOOD_REPLY: &str = "I see.\n\n[EDIT_FILE path=\"greet.sh\" start_line=\"2\" end_line=\"2\"]\n    echo \"Hello, $1\"\n\
                                     [/EDIT_FILE]\n[RUN_COMMAND]\nsh test.sh\n[/RUN_COMMAND]\n";
