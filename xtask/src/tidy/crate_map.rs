//! Every crate has its line in the README.

use super::Finding;
use super::source_code::is_word;
use crate::{CrateList, Tree};

const CHECK: &str = "crate map";
/// A line of the map says at least this much beside the name.
const FEWEST_WORDS: usize = 3;

pub(super) fn check(tree: &Tree, list: &CrateList) -> Vec<Finding> {
    let Some(readme) = tree.text("README.md") else {
        return vec![Finding::new(CHECK, "README.md", "is missing")];
    };
    let missing = list.crates.iter().filter(|one| !readme.lines().any(|line| describes(line, &one.name)));
    missing.map(|one| Finding::new(CHECK, "README.md", format!("the crate map lacks {}", one.name))).collect()
}

/// Checks whether a line names a crate and describes it.
fn describes(line: &str, name: &str) -> bool {
    let belongs = |character: char| is_word(character) || character == '-';
    let Some((_, after)) = line.match_indices(name).find_map(|(start, _)| {
        let (before, after) = (&line[..start], &line[start + name.len()..]);
        let alone =
            !before.chars().next_back().is_some_and(belongs) && !after.chars().next().is_some_and(belongs);
        alone.then_some((before, after))
    }) else {
        return false;
    };
    after.split_whitespace().filter(|word| word.chars().any(is_word)).count() >= FEWEST_WORDS
}
