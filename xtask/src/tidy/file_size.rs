//! The limit of a source's length.

use super::Finding;
use crate::Tree;

const CHECK: &str = "file size";
/// No source may have more lines.
const MOST_LINES: usize = 800;
/// A source with more lines is named.
const MANY_LINES: usize = 500;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let long = sizes(tree).filter(|(_, lines)| *lines > MOST_LINES);
    long.map(|(path, lines)| Finding::new(CHECK, path, format!("has {lines} lines, more than {MOST_LINES}")))
        .collect()
}

/// Names the sources that are allowed and too long all the same.
pub(super) fn notes(tree: &Tree) -> Vec<String> {
    let long = sizes(tree).filter(|(_, lines)| (MANY_LINES + 1..=MOST_LINES).contains(lines));
    long.map(|(path, lines)| format!("{path} has {lines} lines, more than {MANY_LINES}")).collect()
}

fn sizes(tree: &Tree) -> impl Iterator<Item = (&str, usize)> {
    let sources = tree.sources().filter(|(path, _)| path.split('/').any(|part| part == "src"));
    sources.map(|(path, text)| (path, text.lines().count()))
}
