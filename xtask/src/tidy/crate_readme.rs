//! Every library crate has a README.

use super::Finding;
use crate::{CrateList, Tree};

const CHECK: &str = "crate README";

pub(super) fn check(tree: &Tree, list: &CrateList) -> Vec<Finding> {
    let libraries = list.crates.iter().filter(|one| {
        one.folder.starts_with("crates/") && tree.contains(&format!("{}/src/lib.rs", one.folder))
    });
    let paths = libraries.map(|one| format!("{}/README.md", one.folder));
    paths
        .filter(|path| !tree.contains(path))
        .map(|path| {
            Finding::new(CHECK, path, "is missing: what the crate owns, an example, what it never does")
        })
        .collect()
}
