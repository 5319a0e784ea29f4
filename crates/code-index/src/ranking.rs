//! What a file is worth for a search.
//!
//! A sum of a few signs, with weights that were tuned on questions with known answers; see docs/codali.md.

use crate::matches::Matches;
use crate::passage::Passage;
use crate::query::Term;
use crate::{file_name, test_paths};

/// How much a word in the path, in the names of definitions and in the text counts when the store picks out files that are
/// looked at.
///
/// BM25 adds up what is weighted and only then lets it saturate. With weights far above 1 a word counts as much when it
/// stands in a file once as when the whole file is about it, and what a path has beside the text makes no difference;
/// with weights far below 1 it goes by how often.
pub(crate) const PICKED_BY: [f64; 3] = [1.0, 1.0, 0.1];

/// How much is said of what is asked for.
const AMOUNT: f64 = 2.0;
/// The words that stand together in one piece, those that are defined, and those at the beginning of the file.
const NEAR: f64 = 1.0;
const DEFINED: f64 = 1.0;
const HEAD: f64 = 1.0;
/// A file that is called what is asked for.
const NAMED: f64 = 1.5;
/// Files that are e times as long say so much more of everything, in multiples of about the length of a short file.
const LENGTH: f64 = 1.5;
const SHORT_BYTES: f64 = 2_500.0;
/// Tests and examples use what others define, and prose tells of it.
const USES_OTHERS: f64 = 2.0;
const NO_CODE: f64 = 1.5;

/// Puts together what a look at a file says of it. The result is above 0, and means something only beside that of other files.
pub(crate) fn score(
    path: &str,
    length_bytes: usize,
    terms: &[Term],
    matches: &Matches<'_>,
    passage: &Passage,
) -> f64 {
    let asks_for_tests = terms.iter().any(|term| matches!(term.word.as_str(), "test" | "bench" | "exampl"));
    let length = f64::from(u32::try_from(length_bytes).unwrap_or(u32::MAX));
    let mut sum = AMOUNT * matches.amount()
        + NEAR * passage.near
        + DEFINED * passage.defined
        + HEAD * matches.in_head()
        + NAMED * file_name::asked_share(path, terms)
        - LENGTH * (length / SHORT_BYTES).ln_1p();
    if !asks_for_tests && test_paths::uses_others(path) {
        sum -= USES_OTHERS;
    }
    if file_name::is_no_code(path, terms) {
        sum -= NO_CODE;
    }
    // Goes to the sum itself where that is large, and never below 0.
    sum.exp().ln_1p()
}
