//! The limits of the parts of an outbox that keep the whole within a token budget.

use super::results::MOST_RESULTS;
use super::suggested::estimated_tokens;
use super::{Context, TokenCounter};
use crate::Session;

/// The limits of each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance {
    /// The maximum number of lines of the listing.
    pub(super) listed_entries: usize,
    /// The maximum length of the output of one command, in characters.
    pub(super) output_characters: usize,
    /// The maximum length of one requested file, in characters.
    pub(super) file_characters: usize,
    /// The maximum number of results.
    pub(super) results: usize,
}

/// Selects the limit of one part.
type Part = fn(&mut Allowance) -> &mut usize;

impl Allowance {
    /// No limits.
    pub(super) const ALL: Allowance = Allowance {
        listed_entries: usize::MAX,
        output_characters: usize::MAX,
        file_characters: usize::MAX,
        results: usize::MAX,
    };

    /// Returns the allowance with which `render` keeps to a budget: a part is cut only once the parts before it are empty. If
    /// even empty parts are too long, all of them are empty.
    pub(super) fn within(
        tokens: u32,
        session: &Session,
        context: &Context,
        count: TokenCounter,
        render: impl Fn(&Allowance) -> String,
    ) -> Allowance {
        let fits = |allowance: &Allowance| is_within(&render(allowance), u64::from(tokens), count);
        let mut allowance = Allowance::ALL;
        if fits(&allowance) {
            return allowance;
        }
        let outputs = session.last_results.iter().map(|result| result.output.len());
        let files = context.files.iter().filter_map(|file| file.text.as_ref()).map(|text| text.text.len());
        let parts: [(usize, Part); 4] = [
            (context.listing.len(), |allowance| &mut allowance.listed_entries),
            (outputs.max().unwrap_or(0), |allowance| &mut allowance.output_characters),
            (files.max().unwrap_or(0), |allowance| &mut allowance.file_characters),
            (session.last_results.len().min(MOST_RESULTS), |allowance| &mut allowance.results),
        ];
        // The parts that a model needs least come first.
        for (most, part) in parts {
            // The rendered length grows with the limit, so a binary search in `low..high` finds the largest value that fits, if
            // any.
            let (mut low, mut high) = (0, most);
            // If the rest is too long even without this part, the next part is cut too.
            *part(&mut allowance) = 0;
            if !fits(&allowance) {
                continue;
            }
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                *part(&mut allowance) = middle;
                if fits(&allowance) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            *part(&mut allowance) = low;
            break;
        }
        allowance
    }
}

/// Checks whether a text has at most `tokens` tokens. Only counts them in cases of doubt.
pub(super) fn is_within(text: &str, tokens: u64, count: TokenCounter) -> bool {
    // A token has at least one byte, and texts with more than twice the estimate are far beyond any vocabulary's count.
    if text.len() as u64 <= tokens {
        return true;
    }
    estimated_tokens(text) <= tokens.saturating_mul(2) && count(text) <= tokens
}
