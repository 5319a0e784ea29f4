//! A server whose `agentd fleet up` was killed.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::parts::{Fleet, desk};
use crate::fixture::daemon::eventually;

/// A server that may be left; it is killed with the test.
struct Left(Pid);

impl Left {
    fn of(process: u32) -> Left {
        Left(Pid::from_raw(i32::try_from(process).unwrap()))
    }

    fn is_there(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0)).unwrap_or_default();
        // A zombie has ended; only its parent has not noticed.
        stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
            && stat.contains("(nats-server)")
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        if self.is_there() {
            let _ = kill(self.0, Signal::SIGKILL);
        }
    }
}

#[test]
fn a_server_whose_starter_was_killed_is_adopted() {
    let Some(mut fleet) = Fleet::start("a_server_whose_starter_was_killed_is_adopted", &[]) else { return };
    let desk = desk("[agents.fixer]\ncommand = 'true'\n");
    fleet.stop();
    let (up, process) = fleet.up();
    let left = Left::of(process);
    fleet.keep(up);
    // While it runs, there is no second one.
    let second = fleet.up_fails(&[]);
    second.exits(5).says("another `agentd fleet up` runs the server");
    fleet.kill_up();
    assert!(left.is_there(), "the server stays");
    // One with other options is another server.
    let other = fleet.up_fails(&["--host", "north"]);
    other.exits(5).says("with another configuration").says(&format!("kill {process}"));
    let (up, adopted) = fleet.up();
    assert_eq!(adopted, process);
    assert_eq!(fleet.status(&desk)["waiting"], 0);
    // It ends with the one that has adopted it.
    drop(up);
    eventually("the server has ended", || !left.is_there());
    // And a number that another process has by now is not taken for a server.
    let file = fleet.folder().join("server/nats-server.pid");
    std::fs::write(&file, format!("{}\n", std::process::id())).unwrap();
    let (up, fresh) = fleet.up();
    assert!(fresh != process && fresh != std::process::id());
    drop(up);
}

#[test]
fn a_server_that_was_killed_too_is_started_anew() {
    let Some(mut fleet) = Fleet::start("a_server_that_was_killed_too_is_started_anew", &[]) else { return };
    fleet.stop();
    let (up, process) = fleet.up();
    let left = Left::of(process);
    fleet.keep(up);
    fleet.kill_up();
    kill(left.0, Signal::SIGKILL).unwrap();
    eventually("the server has ended", || !left.is_there());
    let (_up, fresh) = fleet.up();
    assert_ne!(fresh, process);
}

#[test]
fn each_fault_of_the_options_has_its_own_way_out() {
    let Some(mut fleet) = Fleet::start("each_fault_of_the_options_has_its_own_way_out", &[]) else { return };
    fleet.stop();
    let address = fleet.url().trim_start_matches("nats://").to_owned();
    let listener = std::net::TcpListener::bind(&address).unwrap();
    let in_use = fleet.up_fails(&[]).exits(1).says("another program listens there already");
    in_use.says(&address).says("--listen ADDRESS:PORT chooses another port");
    drop(listener);
    let twice = fleet.up_fails(&["--host", "north", "--host", "north"]).exits(2);
    let twice = twice.says("is there twice").says("give each host with one --host NAME");
    assert!(!twice.stderr.contains("certificate"), "{twice}");
    let missing = fleet.up_fails(&["--tls-certificate", "missing.pem", "--tls-key", "missing.key"]).exits(2);
    let missing = missing.says("missing.pem").says("the files that --tls-certificate and --tls-key name");
    assert!(!missing.stderr.contains("port"), "{missing}");
    // The same key in two files, as a copy makes it.
    fleet.up_fails(&["--host", "north", "--write-only"]).ok();
    std::fs::copy(fleet.key("north"), fleet.key("south")).unwrap();
    let equal = fleet.up_fails(&["--host", "north", "--host", "south"]);
    equal.exits(2).says("is there twice").says("remove one of the two files in the folder `keys`");
}
