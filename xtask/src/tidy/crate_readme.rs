//! Every library crate has a README, which is of use without the repository.

use super::Finding;
use super::doc_links::linked;
use crate::{CrateList, Tree};

const CHECK: &str = "crate README";

pub(super) fn check(tree: &Tree, list: &CrateList) -> Vec<Finding> {
    let libraries = list.crates.iter().filter(|one| {
        one.folder.starts_with("crates/") && tree.contains(&format!("{}/src/lib.rs", one.folder))
    });
    libraries.flat_map(|one| check_one(tree, &one.folder)).collect()
}

fn check_one(tree: &Tree, folder: &str) -> Vec<Finding> {
    let path = format!("{folder}/README.md");
    let Some(text) = tree.text(&path) else {
        return vec![Finding::new(
            CHECK,
            path,
            "is missing: what the crate owns, an example, what it never does",
        )];
    };
    let inside = format!("{folder}/");
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let outer = linked(&path, line).into_iter().filter(|(target, _)| !target.starts_with(&inside));
        findings.extend(outer.map(|(target, _)| {
            Finding::at(
                CHECK,
                &path,
                index,
                format!("links to {target}, which is not in the package: name it without a link"),
            )
        }));
    }
    findings
}
