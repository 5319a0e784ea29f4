//! Snapshots that no test uses.

use std::collections::BTreeSet;
use std::path::Path;

use crate::Tree;

/// The variable that makes the snapshot library write down every snapshot file that a test asks for, one path a line.
pub(crate) const VARIABLE: &str = "INSTA_SNAPSHOT_REFERENCES_FILE";

/// Returns the snapshots of a tree that are not among the references which a whole test run wrote, sorted.
///
/// Paths in `references` are absolute, or relative to the folder of the crate that was tested; they are compared by
/// their end.
#[must_use]
pub fn unreferenced_snapshots(tree: &Tree, root: &Path, references: &str) -> Vec<String> {
    let used: BTreeSet<String> = references.lines().filter_map(|line| relative(root, line)).collect();
    let snapshots = tree.paths().filter(|path| path.ends_with(".snap"));
    snapshots.filter(|path| !used.contains(*path)).map(str::to_owned).collect()
}

/// A reference relative to the root, without `..` and `.` steps.
fn relative(root: &Path, line: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in line.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let cleaned = format!("/{}", parts.join("/"));
    let root = root.to_str()?.trim_end_matches('/');
    cleaned.strip_prefix(root)?.strip_prefix('/').map(str::to_owned)
}
