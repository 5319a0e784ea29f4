//! Sockets of commands while the network is off: as root and as an ordinary user, with and without a layer.

mod loopback;
mod named;
mod read_only_workspace;
mod receipts;
mod shared;
mod unix_sockets;

use rustix::process::geteuid;
use sandbox_exec::{LayerKind, Level, Outcome};

use crate::attack::exec_attacks::become_ordinary;
use crate::fixture::{Fixture, marker};
use crate::layer;

/// Tells a copy of this program that it is the ordinary user.
const STAND_IN: &str = "SANDBOX_EXEC_TEST_NETWORK_ORDINARY";

/// Runs `body` at level full without and with a layer, as the user of the tests and, if that is root, as an ordinary user.
fn at_level_full(test: &str, body: impl Fn(&mut Fixture)) {
    for has_layer in [false, true] {
        let mut fixture = Fixture::contained();
        let report = fixture.launcher.report();
        assert_eq!((report.level, report.layer), (Level::Full, LayerKind::Overlay), "not run: {report}");
        if has_layer {
            layer::renew(&mut fixture, "layer");
        }
        body(&mut fixture);
    }
    if geteuid().is_root() {
        become_ordinary(test, STAND_IN);
    }
}

/// Returns a command that runs this Python text, which holds no single quotes.
fn python(text: &str) -> String {
    assert!(!text.contains('\''), "{text}");
    format!("python3 -c '{text}'")
}

/// Runs a command, on a fresh layer if the policy has one: a layer serves one command at a time.
fn run(fixture: &mut Fixture, text: &str) -> Outcome {
    if fixture.policy.layer.is_some() {
        layer::renew(fixture, &marker());
    }
    fixture.run(text)
}
