//! An `agentd` that runs while the test does something else.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::project::Ran;

/// How long anything may take before the test gives up on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running `agentd`; killed when it is dropped.
pub(crate) struct Daemon {
    child: Child,
    lines: Receiver<String>,
    stdout: Option<thread::JoinHandle<String>>,
    /// All lines of standard error that were looked at.
    pub(crate) seen: Vec<String>,
}

impl Daemon {
    pub(crate) fn start(mut command: Command) -> Daemon {
        let mut child = command.spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut stdout = child.stdout.take().unwrap();
        let stdout = thread::spawn(move || {
            let mut text = String::new();
            let _ = stdout.read_to_string(&mut text);
            text
        });
        Daemon { child, lines, stdout: Some(stdout), seen: Vec::new() }
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until a line of standard error has this text, and returns the line.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        match self.next_line_with(text, PATIENCE) {
            Some(line) => line,
            None => panic!("'{text}' was not said:\n{}", self.seen.join("\n")),
        }
    }

    /// Waits for a line with this text, at most so long.
    pub(crate) fn next_line_with(&mut self, text: &str, at_most: Duration) -> Option<String> {
        let deadline = Instant::now() + at_most;
        loop {
            let line = self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()?;
            self.seen.push(line.clone());
            if line.contains(text) {
                return Some(line);
            }
        }
    }

    /// Waits until a line of standard error begins with one of these texts.
    #[track_caller]
    pub(crate) fn wait_for_any(&mut self, starts: &[&str]) {
        while let Some(line) = self.next_line_with("", PATIENCE) {
            if starts.iter().any(|start| line.starts_with(start)) {
                return;
            }
        }
        panic!("none of {starts:?} was said:\n{}", self.seen.join("\n"));
    }

    /// Waits until it says where replies are to be saved, and so waits for one.
    #[track_caller]
    pub(crate) fn wait_until_it_waits(&mut self) {
        self.wait_for("save the reply as a .txt file in:");
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(status.unwrap().success(), "kill -{name}");
    }

    /// Kills it as a crash would, and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until it has ended by itself.
    #[track_caller]
    pub(crate) fn wait(mut self) -> Ran {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > deadline => panic!("it does not end:\n{}", self.remaining_lines()),
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        let stderr = self.remaining_lines();
        let stdout = self.stdout.take().unwrap().join().unwrap();
        Ran { code: status.code().unwrap_or(-1), stdout, stderr }
    }

    /// Asks it to stop and waits until it has.
    #[track_caller]
    pub(crate) fn interrupt(self) -> Ran {
        self.signal("INT");
        self.wait()
    }

    fn remaining_lines(&mut self) -> String {
        // A survivor could hold the stream open for ever.
        while let Ok(line) = self.lines.recv_timeout(Duration::from_secs(5)) {
            self.seen.push(line);
        }
        self.seen.iter().map(|line| format!("{line}\n")).collect()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is so, and fails if that takes too long.
#[track_caller]
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "it never came about that {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
