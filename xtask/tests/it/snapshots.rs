//! Snapshots and the tests that use them.

use std::path::Path;

use xtask::{Tree, unreferenced_snapshots};

#[test]
fn a_snapshot_that_no_test_asked_for_is_an_orphan() {
    let tree = Tree::of([
        ("crates/a/tests/it/snapshots/used.snap", ""),
        ("crates/a/tests/it/snapshots/also.snap", ""),
        ("crates/a/tests/it/snapshots/orphan.snap", ""),
        ("crates/a/tests/it/other.rs", ""),
    ]);
    let references =
        "/w/crates/a/tests/it/snapshots/used.snap\n/w/./crates/b/../a/tests/it/snapshots/also.snap\n";
    let orphans = unreferenced_snapshots(&tree, Path::new("/w"), references);
    assert_eq!(orphans, ["crates/a/tests/it/snapshots/orphan.snap"]);
    assert_eq!(unreferenced_snapshots(&tree, Path::new("/w"), "").len(), 3);
}
