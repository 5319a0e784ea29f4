//! The long list of escapes: all are refused at level full, and the same list succeeds where nothing refuses it.

use std::collections::BTreeSet;

use sandbox_exec::Level;

use crate::fixture::Fixture;

/// Attempts that succeed on any machine that does not forbid them: the control for the list.
const OPEN_TO_ALL: [&str; 16] = [
    "read outside",
    "write outside",
    "see outside",
    "list home",
    "make a socket beyond loopback",
    "signal a process outside",
    "system call ptrace",
    "system call unshare",
    "system call setns",
    "system call open_tree",
    "system call fanotify_mark",
    "system call TIOCSTI",
    "netlink socket of KOBJECT_UEVENT",
    "read /proc/cmdline",
    "read /proc/interrupts",
    "read /proc/locks",
];

#[test]
fn every_escape_is_refused_at_level_full() {
    let fixture = Fixture::contained();
    assert_eq!(fixture.launcher.report().level, Level::Full, "not run: {}", fixture.launcher.report());
    let escapes = fixture.launcher.probe().unwrap();
    let names: BTreeSet<&str> = escapes.iter().map(|escape| escape.name.as_str()).collect();
    assert!(escapes.len() >= 50 && names.len() == escapes.len(), "{}: {names:?}", escapes.len());
    let open: Vec<&str> =
        escapes.iter().filter(|escape| !escape.is_refused).map(|escape| escape.name.as_str()).collect();
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_same_escapes_succeed_without_confinement() {
    let escapes = Fixture::at_level(Level::None).launcher.probe().unwrap();
    let open: Vec<&str> =
        escapes.iter().filter(|escape| !escape.is_refused).map(|escape| escape.name.as_str()).collect();
    for name in OPEN_TO_ALL {
        assert!(open.contains(&name), "{name}: {open:?}");
    }
    // Root may do nearly all of it, where it is not itself in a container.
    assert!(open.len() >= 20, "{open:?}");
}

#[test]
fn a_probe_changes_nothing_and_leaves_nothing() {
    let fixture = Fixture::at_level(Level::None);
    let before = std::fs::read_to_string("/proc/sys/kernel/core_pattern").ok();
    fixture.launcher.probe().unwrap();
    assert_eq!(std::fs::read_to_string("/proc/sys/kernel/core_pattern").ok(), before);
    assert_eq!(std::fs::read_dir(fixture.root().join("scratch")).unwrap().count(), 0);
}
