//! The amount of each part of an outbox that keeps the whole within a token budget.

use super::results::MOST_RESULTS;
use super::suggested::estimated_tokens;
use super::{Context, TokenCounter};
use crate::Session;

/// The limits of each part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Allowance {
    /// The most lines of the listing.
    pub(super) listed_entries: usize,
    /// The most characters of the output of one command.
    pub(super) output_characters: usize,
    /// The most characters of one requested file.
    pub(super) file_characters: usize,
    /// The most results.
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

    /// Returns the allowance within which `render` keeps to a budget: a part is cut only when the parts before it are
    /// empty. If even empty parts are too much, all of them are empty.
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
        // In the order in which a model can best do without them.
        for (most, part) in parts {
            // The rendered length grows with the limit, so the largest value that fits can be searched by halving. It lies
            // in `low..high`, if there is one.
            let (mut low, mut high) = (0, most);
            // If the rest is too long even without this part, the next one is cut too.
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

/// Checks whether a text has at most so many tokens. Counts only where that is in doubt.
pub(super) fn is_within(text: &str, tokens: u64, count: TokenCounter) -> bool {
    // A token has at least one byte, and texts with more than twice the estimate are far beyond any vocabulary's count.
    if text.len() as u64 <= tokens {
        return true;
    }
    estimated_tokens(text) <= tokens.saturating_mul(2) && count(text) <= tokens
}
