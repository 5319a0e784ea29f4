//! Names that say nothing about what a module owns.

use super::Finding;
use super::source_code::code_only;
use crate::{CrateList, Tree};

const CHECK: &str = "banned name";
const BANNED: [&str; 7] = ["utils", "util", "common", "helpers", "helper", "types", "misc"];

pub(super) fn check(tree: &Tree, list: &CrateList) -> Vec<Finding> {
    let mut findings = Vec::new();
    for one in &list.crates {
        if one.name.split(['-', '_']).any(|part| BANNED.contains(&part)) {
            findings.push(Finding::new(CHECK, &one.name, "a crate is named after what it owns"));
        }
    }
    for (path, text) in tree.sources() {
        let stem = path.strip_suffix(".rs").unwrap_or(path);
        if stem.split('/').any(|part| BANNED.contains(&part)) {
            findings.push(Finding::new(CHECK, path, "a module is named after what it owns"));
        }
        for (index, line) in code_only(text).lines().enumerate() {
            if inline_module(line).is_some_and(|name| BANNED.contains(&name)) {
                findings.push(Finding::at(CHECK, path, index, "a module is named after what it owns"));
            }
        }
    }
    findings
}

/// The name of the module whose body begins in a line.
fn inline_module(line: &str) -> Option<&str> {
    let (head, _) = line.split_once('{')?;
    let mut words = head.split_whitespace().rev();
    let name = words.next()?;
    (words.next() == Some("mod")).then_some(name)
}
