//! Codec crates ban I/O by a `clippy.toml` of their own.

use super::Finding;
use super::layering::CODECS;
use crate::{CrateList, Tree};

const CHECK: &str = "codec lints";
/// The names that the file must ban. The last entry is the root's own, which a crate's file replaces.
const NEEDED: [&str; 7] = [
    "std::time::Instant::now",
    "std::time::SystemTime::now",
    "std::env::var",
    "std::env::current_dir",
    "std::fs::",
    "std::process::Command",
    "allow-unwrap-in-tests",
];

pub(super) fn check(tree: &Tree, list: &CrateList) -> Vec<Finding> {
    let mut findings = Vec::new();
    for one in list.crates.iter().filter(|one| CODECS.contains(&one.name.as_str())) {
        let path = format!("{}/clippy.toml", one.folder);
        match tree.text(&path) {
            None => findings.push(Finding::new(CHECK, path, "is missing")),
            Some(text) => {
                let lacks = NEEDED.iter().filter(|needed| !text.contains(**needed));
                findings.extend(lacks.map(|needed| Finding::new(CHECK, &path, format!("lacks {needed}"))));
            }
        }
    }
    findings
}
