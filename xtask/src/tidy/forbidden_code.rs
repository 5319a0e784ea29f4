//! Code that is not finished, and lints that are switched off for good.

use super::Finding;
use super::source_code::code_only;
use crate::Tree;

const CHECK: &str = "forbidden code";
const FORBIDDEN: [(&str, &str); 5] = [
    ("todo!", "is not finished"),
    ("unimplemented!", "is not finished"),
    ("dbg!", "is for debugging"),
    ("#[allow(", "say #[expect(…, reason = …)]"),
    ("#![allow(", "say #![expect(…, reason = …)]"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.sources() {
        for (index, line) in code_only(text).lines().enumerate() {
            for (code, why) in FORBIDDEN.iter().filter(|(code, _)| line.contains(code)) {
                findings.push(Finding::at(CHECK, path, index, format!("{code}: {why}")));
            }
        }
    }
    findings
}
