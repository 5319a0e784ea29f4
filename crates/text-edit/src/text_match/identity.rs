//! The same passage in two versions of a text.

use std::ops::RangeInclusive;

use super::{MatchRule, TextMatch};
use crate::{LineMap, Mapped, MappedRange};

impl TextMatch {
    /// Checks whether the lines that a text matches in a later version are other ones than this match: they differ from the text in
    /// another way, and do not stand where these lines did.
    ///
    /// The same lines may have moved; lines that were indented anew stand in the place of those before. `map` leads from the version of
    /// this match to the later one; `lines` are 1-based lines of that.
    #[must_use]
    pub fn is_another_than(&self, lines: &RangeInclusive<usize>, rules: &[MatchRule], map: &LineMap) -> bool {
        if self.rules == rules {
            return false;
        }
        let is_kept_elsewhere = |(then, now): (usize, usize)| match map.map(then) {
            Mapped::Kept(line) => line != now,
            Mapped::Changed => false,
        };
        let is_in_its_place = match map.map_range(self.lines.clone()) {
            MappedRange::Kept(kept) => kept == *lines,
            MappedRange::Interrupted { .. } => false,
            MappedRange::Changed { now } => {
                now.start < *lines.start()
                    && *lines.end() <= now.end
                    && !self.lines.clone().zip(lines.clone()).any(is_kept_elsewhere)
            }
        };
        !is_in_its_place
    }
}
