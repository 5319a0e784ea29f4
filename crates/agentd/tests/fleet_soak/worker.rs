//! `agentd fleet join` in its own namespace.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::network::Network;
use crate::site::Site;

/// The agents that a host runs at once.
const SLOTS: &str = "2";

/// A running host.
pub(crate) struct Worker(Child);

impl Worker {
    pub(crate) fn start(site: &Site, network: &Network, number: usize) -> Worker {
        let name = format!("w{number}");
        let mut command = site.agentd(Some(&network.workers[number]), &name);
        command.args([
            "fleet",
            "join",
            &network.url(number),
            "--host-name",
            &name,
            "--slots",
            SLOTS,
            "--folder",
        ]);
        command.arg(site.root.join("hosts").join(&name)).arg("--agents-file").arg(site.definitions());
        site.reach(&mut command, &name);
        Worker(command.spawn().unwrap())
    }

    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Asserts that it has not ended by itself.
    pub(crate) fn assert_alive(&mut self, number: usize) {
        let ended = self.0.try_wait().unwrap();
        assert_eq!(ended, None, "the host w{number} has ended by itself; its log says why");
    }

    /// Lets it end in order.
    pub(crate) fn stop(mut self) {
        kill_process(Pid::from_child(&self.0), Signal::INT).unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
