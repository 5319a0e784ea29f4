//! Paths of a contributor's machine.

use super::Finding;
use crate::Tree;

const CHECK: &str = "machine path";
/// Written in two pieces, so that this file does not hold them.
const FORBIDDEN: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        for (index, line) in text.lines().enumerate() {
            for forbidden in FORBIDDEN.iter().filter(|forbidden| line.contains(**forbidden)) {
                findings.push(Finding::at(CHECK, path, index, format!("holds {forbidden}")));
            }
        }
    }
    findings
}
