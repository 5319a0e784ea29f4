//! Snapshots that wait for a review, or whose test is gone.
//!
//! Snapshots that no test uses are found when the tests run; see `snapshot_references`.

use super::Finding;
use crate::Tree;

const CHECK: &str = "snapshot";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in tree.paths() {
        let is_pending = path.ends_with(".snap.new") || path.ends_with(".pending-snap");
        if is_pending {
            findings.push(Finding::new(CHECK, path, "was neither accepted nor thrown away"));
        }
    }
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".snap")) {
        let source = text.lines().find_map(|line| line.strip_prefix("source: "));
        if !source.is_some_and(|source| tree.contains(source.trim())) {
            findings.push(Finding::new(CHECK, path, "its test is gone"));
        }
    }
    findings
}
