//! The folders in which unsafe code is allowed.

use super::Finding;
use super::source_code::{code_only, has_word};
use crate::Tree;

const CHECK: &str = "unsafe code";
const ALLOWED: [&str; 2] = ["crates/sandbox-exec/src/sys.rs", "crates/sandbox-exec/src/sys/"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in
        tree.sources().filter(|(path, _)| !ALLOWED.iter().any(|allowed| path.starts_with(allowed)))
    {
        for (index, line) in code_only(text).lines().enumerate() {
            if has_word(line, "unsafe") {
                findings.push(Finding::at(CHECK, path, index, "belongs into sandbox-exec/src/sys"));
            }
        }
    }
    findings
}
