//! The score of a file for a query.
//!
//! A weighted sum of a few signals, tuned on questions with known answers; see docs/search-ranking.md.

use crate::outline::{file_name, test_paths};
use crate::search::matches::Matches;
use crate::search::passage::Passage;
use crate::search::query::Term;

/// The weights with which the store selects candidates: words of the text, frequent words, names of definitions,
/// and the path.
///
/// BM25 sums weighted counts and then saturates. With weights far above 1 a single occurrence counts as much as
/// many, and a match in the path makes no difference; with weights far below 1 the count decides.
pub(crate) const PICKED_BY: [f64; 4] = [0.1, 0.5, 1.0, 1.0];

/// The weight of [`Matches::amount`]. The other signals have weight 1: the best passage, definitions, the
/// beginning of the file, and its name.
const AMOUNT: f64 = 1.4;
/// The length up to which a file counts as short; longer files lose the logarithm of their length, because they
/// contain more of every word.
const SHORT_BYTES: f64 = 2_500.0;
/// The deduction for tests and examples, which use definitions of other files.
const USES_OTHERS: f64 = 2.0;
/// The deduction for prose and data.
const NOT_CODE: f64 = 1.0;

/// The bonus for defining the queried name: more than all other signals together.
const DEFINES_QUERIED: f64 = 20.0;

/// Scores a file from its signals. The result is above 0, and only comparable to those of the same query.
pub(crate) fn score(
    path: &str,
    length_bytes: usize,
    terms: &[Term],
    matches: &Matches<'_>,
    passage: &Passage,
    defines_queried: bool,
) -> f64 {
    let asks_for_tests = terms.iter().any(|term| matches!(term.word.as_str(), "test" | "bench" | "exampl"));
    let length = f64::from(u32::try_from(length_bytes).unwrap_or(u32::MAX));
    let mut sum = AMOUNT * matches.amount()
        + passage.near
        + passage.defined
        + matches.in_head()
        + file_name::name_share(path, terms);
    // A definition counts as much in a long file as in a short one.
    sum += if defines_queried { DEFINES_QUERIED } else { -(length / SHORT_BYTES).ln_1p() };
    if !asks_for_tests && test_paths::uses_others(path) {
        sum -= USES_OTHERS;
    }
    if file_name::is_not_code(path, terms) {
        sum -= NOT_CODE;
    }
    // Softplus: about the sum itself where that is large, and never below 0.
    sum.exp().ln_1p()
}
