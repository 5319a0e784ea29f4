//! The workflow for other systems builds every crate that may not need Linux.

use super::Finding;
use super::layering::CODECS;
use crate::Tree;

const CHECK: &str = "other systems";
const WORKFLOW: &str = ".github/workflows/ci.yml";

/// Codecs do no I/O, and this one keeps its files in memory.
const MORE: [&str; 1] = ["memory-workspace"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(workflow) = tree.text(WORKFLOW) else { return Vec::new() };
    let words: Vec<&str> = workflow.split_whitespace().collect();
    let is_built = |name: &str| words.windows(2).any(|pair| pair == ["-p", name]);
    let missing = CODECS.iter().chain(&MORE).filter(|name| !is_built(name));
    missing.map(|name| Finding::new(CHECK, WORKFLOW, format!("does not build {name}"))).collect()
}
