//! A network namespace for the server and one for each host, joined by a bridge.
//!
//! The namespaces have no names: each lives as long as the process that holds it, which dies with this one, however this one
//! ends. Links go with them.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::relay::Relay;

/// The address of the server in its namespace.
pub(crate) const SERVER: &str = "10.0.0.1";

/// The address of a host's relay in its namespace.
pub(crate) const RELAY: &str = "127.0.0.1";

/// The port of both.
pub(crate) const PORT: u16 = 4222;

/// A namespace, by the process that holds it.
pub(crate) struct Namespace {
    holder: Child,
    /// The number of the namespace in the kernel.
    pub(crate) inode: u64,
}

impl Namespace {
    fn make() -> Namespace {
        let outside = fs::metadata("/proc/self/ns/net").unwrap().ino();
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "unshare", "--net", "sleep", "infinity"]).stdin(Stdio::null());
        let mut namespace =
            Namespace { holder: command.spawn().expect("setpriv and unshare are there"), inode: outside };
        let path = format!("/proc/{}/ns/net", namespace.holder.id());
        let began = Instant::now();
        while namespace.inode == outside {
            assert!(began.elapsed() < Duration::from_secs(10), "no network namespace can be made");
            std::thread::sleep(Duration::from_millis(2));
            namespace.inode = fs::metadata(&path).unwrap().ino();
        }
        namespace.ip("link set lo up");
        namespace
    }

    /// Returns a command that runs a program in the namespace, as this process's child, and dies with this process.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "nsenter"]);
        command.arg(format!("--net=/proc/{}/ns/net", self.holder.id())).arg(program);
        command
    }

    /// Returns the bytes that have come and gone over the host's link.
    pub(crate) fn bytes(&self) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/net/dev", self.holder.id())).unwrap();
        let line = text.lines().find_map(|line| line.trim().strip_prefix("wire:")).unwrap();
        let fields: Vec<u64> = line.split_whitespace().map(|field| field.parse().unwrap()).collect();
        fields[0] + fields[8]
    }

    fn relay(&self) -> Relay {
        let address = |address: &str| SocketAddr::new(address.parse().unwrap(), PORT);
        let namespace = format!("/proc/{}/ns/net", self.holder.id());
        Relay::start(namespace.into(), address(RELAY), address(SERVER))
    }

    fn ip(&self, arguments: &str) {
        let output = self.command("ip").args(arguments.split(' ')).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "ip {arguments}: {said}");
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// The namespaces and their links.
pub(crate) struct Network {
    pub(crate) server: Namespace,
    pub(crate) workers: Vec<Namespace>,
    /// The relays of the hosts whose links are delayed; hosts that are started afterwards use them.
    relays: Vec<OnceLock<Relay>>,
}

impl Network {
    pub(crate) fn make(workers: usize) -> Network {
        assert!(workers <= 200, "there are addresses for 200 hosts");
        let server = Namespace::make();
        server.ip("link add bridge type bridge");
        server.ip(&format!("addr add {SERVER}/24 dev bridge"));
        server.ip("link set bridge up");
        let join = |number: usize| {
            let worker = Namespace::make();
            let holder = worker.holder.id();
            server.ip(&format!("link add to-{number} type veth peer name wire netns {holder}"));
            server.ip(&format!("link set to-{number} master bridge up"));
            worker.ip(&format!("addr add 10.0.0.{}/24 dev wire", number + 10));
            worker.ip("link set wire up");
            worker
        };
        let relays = (0..workers).map(|_| OnceLock::new()).collect();
        let workers = (0..workers).map(join).collect();
        Network { server, workers, relays }
    }

    /// Delays the link of a host, in each direction.
    pub(crate) fn delay(&self, worker: usize, delay: Duration) {
        self.relays[worker].get_or_init(|| self.workers[worker].relay()).set(delay);
    }

    /// Returns the address at which a host reaches the server.
    pub(crate) fn url(&self, worker: usize) -> String {
        let address = if self.relays[worker].get().is_some() { RELAY } else { SERVER };
        format!("tls://{address}:{PORT}")
    }

    /// Cuts the link of a host: nothing is answered, and nothing is refused.
    pub(crate) fn cut(&self, worker: usize) {
        self.server.ip(&format!("link set to-{worker} down"));
    }

    pub(crate) fn heal(&self, worker: usize) {
        self.server.ip(&format!("link set to-{worker} up"));
    }

    pub(crate) fn inodes(&self) -> Vec<u64> {
        self.workers.iter().chain([&self.server]).map(|namespace| namespace.inode).collect()
    }
}
