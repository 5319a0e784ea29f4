//! `agentd cocode run --fleet`, and `agentd fleet collect` after it was killed.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::Value;

use crate::cast::KINDS;
use crate::network::Network;
use crate::site::Site;

/// A running submitter with its events.
pub(crate) struct Submitter {
    process: Child,
    events: Receiver<Value>,
}

impl Submitter {
    /// Submits this many agents of each kind.
    pub(crate) fn run(site: &Site, network: &Network, of_each: usize) -> Submitter {
        let mut command = site.agentd(Some(&network.server), "home");
        command.args([
            "cocode",
            "run",
            "--json",
            "--issue",
            "5",
            "--issue-body",
            "x",
            "--fleet",
            &Site::url(),
        ]);
        command.arg("--agent").args(KINDS.iter().map(|kind| kind.name));
        command.arg("--count").arg(of_each.to_string());
        Submitter::start(site, command)
    }

    /// Resumes after a submitter that was killed.
    pub(crate) fn collect(site: &Site, network: &Network) -> Submitter {
        let mut command = site.agentd(Some(&network.server), "home");
        command.args(["fleet", "collect", "--json", "--url", &Site::url()]);
        Submitter::start(site, command)
    }

    fn start(site: &Site, mut command: Command) -> Submitter {
        command.arg("--agents-file").arg(site.definitions());
        site.reach(&mut command, "home");
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (sender, events) = channel();
        let mut log = site.log("events");
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = std::io::Write::write_all(&mut log, format!("{line}\n").as_bytes());
                // The last line of one that was killed may be half a line.
                if let Ok(event) = serde_json::from_str(&line) {
                    let _ = sender.send(event);
                }
            }
        });
        Submitter { process, events }
    }

    /// Returns what it has said since the last call.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.events.try_iter().collect()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.process.try_wait().unwrap().is_some()
    }

    /// Kills it, or waits for it if it has ended, and returns its last events.
    pub(crate) fn end(mut self) -> Vec<Value> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        // Its reader ends with its output.
        self.events.iter().collect()
    }
}

impl Drop for Submitter {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
