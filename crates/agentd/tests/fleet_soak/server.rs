//! `agentd fleet up` and its server.

use std::fs;
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::network::{Network, SERVER};
use crate::site::Site;

/// A running server.
pub(crate) struct Server {
    up: Child,
    /// The process of the server itself, as `up` has named it.
    process: Pid,
}

impl Server {
    /// Starts it, and waits until it answers.
    pub(crate) fn start(site: &Site, network: &Network) -> Server {
        let mut command = site.agentd(Some(&network.server), "server");
        command.args(["fleet", "up", "--json", "--listen"]).arg(format!("{SERVER}:4222"));
        command.arg("--folder").arg(site.root.join("server"));
        command.arg("--tls-certificate").arg(site.certificate());
        command.arg("--tls-key").arg(site.certificate_key());
        site.lease(&mut command);
        for number in 0..network.workers.len() {
            command.arg("--host").arg(format!("w{number}"));
        }
        let mut up = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(up.stdout.take().unwrap());
        let answer = serde_json::Deserializer::from_reader(output.take(1 << 20)).into_iter::<Value>().next();
        let answer = answer.expect("the server starts; its log says why not").unwrap();
        let process =
            answer["process"].as_i64().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Server { up, process: process.unwrap() }
    }

    /// Returns the process of the server itself.
    pub(crate) fn process(&self) -> Pid {
        self.process
    }

    /// Kills the server. What has started it sees that, and ends.
    pub(crate) fn kill(mut self) {
        kill_process(self.process, Signal::KILL).unwrap();
        assert!(!self.up.wait().unwrap().success());
    }

    /// Kills what has started the server, which stays. Returns the server's process; the next start adopts it.
    pub(crate) fn orphan(mut self) -> Pid {
        self.up.kill().unwrap();
        self.up.wait().unwrap();
        self.process
    }

    /// Copies what the server has stored at this moment: the files that a sync would leave on the disk.
    pub(crate) fn sync_to(&self, site: &Site) {
        kill_process(self.process, Signal::STOP).unwrap();
        let task = format!("/proc/{}/task", self.process.as_raw_nonzero());
        let is_stopped = |thread: std::io::Result<fs::DirEntry>| {
            let status = fs::read_to_string(thread.unwrap().path().join("status")).unwrap_or_default();
            status.is_empty() || status.contains("State:\tT")
        };
        while !fs::read_dir(&task).unwrap().all(is_stopped) {
            std::thread::yield_now();
        }
        let _ = fs::remove_dir_all(site.synced());
        copy_folder(&site.store(), &site.synced());
        kill_process(self.process, Signal::CONT).unwrap();
    }

    /// Cuts the power of the server: it is killed, and its disk has what the last sync has left.
    pub(crate) fn cut_power(self, site: &Site) {
        self.kill();
        let _ = fs::remove_dir_all(site.store());
        if site.synced().exists() {
            copy_folder(&site.synced(), &site.store());
        }
    }

    /// Lets it end in order.
    pub(crate) fn stop(mut self) {
        kill_process(Pid::from_child(&self.up), Signal::INT).unwrap();
        self.up.wait().unwrap();
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Only of one that has not been waited for is the server's process still ours.
        if let Ok(None) = self.up.try_wait() {
            let _ = kill_process(self.process, Signal::KILL);
            let _ = self.up.kill();
            let _ = self.up.wait();
        }
    }
}
