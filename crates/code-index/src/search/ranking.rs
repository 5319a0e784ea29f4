//! What a file is worth for a search.
//!
//! A sum of a few signs, with weights that were tuned on questions with known answers; see docs/codali.md.

use crate::outline::file_name;
use crate::outline::test_paths;
use crate::search::matches::Matches;
use crate::search::passage::Passage;
use crate::search::query::Term;

/// How much a word in the text, one that stands there often, one in the names of definitions and one in the path counts when
/// the store picks out files that are looked at.
///
/// BM25 adds up what is weighted and only then lets it saturate. With weights far above 1 a word counts as much when it
/// stands in a file once as when the whole file is about it, and what a path has beside the text makes no difference;
/// with weights far below 1 it goes by how often.
pub(crate) const PICKED_BY: [f64; 4] = [0.1, 0.5, 1.0, 1.0];

/// How much is said of what is asked for. Signs without a weight of their own count once: that of the words that stand
/// together, of those that are defined, of those at the beginning of the file, and of the file's name.
const AMOUNT: f64 = 1.4;
/// A file that is e times as long says so much more of everything; files up to about this length are all short.
const SHORT_BYTES: f64 = 2_500.0;
/// What a test or an example is worth less, because it uses what others define.
const USES_OTHERS: f64 = 2.0;
/// What prose and data are worth less, because they only tell of code.
const NO_CODE: f64 = 1.0;

/// What it is worth to define the one name that is asked for: more than all that can be said of it.
const DEFINES_ASKED: f64 = 20.0;

/// Puts together what a look at a file says of it. The result is above 0, and means something only beside that of other files.
pub(crate) fn score(
    path: &str,
    length_bytes: usize,
    terms: &[Term],
    matches: &Matches<'_>,
    passage: &Passage,
    defines_asked: bool,
) -> f64 {
    let asks_for_tests = terms.iter().any(|term| matches!(term.word.as_str(), "test" | "bench" | "exampl"));
    let length = f64::from(u32::try_from(length_bytes).unwrap_or(u32::MAX));
    let mut sum = AMOUNT * matches.amount()
        + passage.near
        + passage.defined
        + matches.in_head()
        + file_name::asked_share(path, terms);
    // A name is defined in a long file as well as in a short one.
    sum += if defines_asked { DEFINES_ASKED } else { -(length / SHORT_BYTES).ln_1p() };
    if !asks_for_tests && test_paths::uses_others(path) {
        sum -= USES_OTHERS;
    }
    if file_name::is_no_code(path, terms) {
        sum -= NO_CODE;
    }
    // Goes to the sum itself where that is large, and never below 0.
    sum.exp().ln_1p()
}
