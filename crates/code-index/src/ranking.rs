//! What a file is worth for a search.

use crate::passage::Passage;
use crate::test_paths;

/// How much a word in the path and in the names of definitions counts, a word in the text being 1.
pub(crate) const PATH_WEIGHT: f64 = 6.0;
pub(crate) const DEFINITION_WEIGHT: f64 = 4.0;

/// Puts together what the full text says of a file and what a look at it says.
pub(crate) fn score(text_score: f64, passage: &Passage, path: &str, asks_for_tests: bool) -> f64 {
    let near = 0.6 + 1.0 * passage.coverage + 0.5 * passage.defined;
    let place = if !asks_for_tests && test_paths::uses_others(path) { 0.7 } else { 1.0 };
    text_score * near * place
}
