//! The same passage in two versions of a text, and what an edit has put around it.

use std::ops::RangeInclusive;

use super::{MatchRule, SearchText, TextMatch};
use crate::difference::TELLING_CHARACTERS;
use crate::{LineMap, Mapped, MappedRange, Source};

impl TextMatch {
    /// Checks whether the lines that a text matches in a later version are other ones than this match: they differ from the text in
    /// another way, and do not stand where these lines did.
    ///
    /// The same lines may have moved; lines that were indented anew stand instead of those before. `map` leads from the version of
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

/// Checks whether lines that an edit adds to those of `search` stand around a passage, and are too short to say by themselves that the
/// edit was made before: blank ones, brackets. `lines` are the 1-based lines of the passage.
#[must_use]
pub fn stands_around(
    source: &Source<'_>,
    search: &SearchText,
    replacement: &str,
    lines: &RangeInclusive<usize>,
) -> bool {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (search.as_str().lines().collect(), replacement.lines().collect());
    if old.is_empty() || new.len() <= old.len() {
        return false;
    }
    let has_line = |number: usize, text: &str| source.line_text(number).is_some_and(|line| line == text);
    let is_telling = |line: &&str| {
        line.chars().filter(|character| !character.is_whitespace()).count() >= TELLING_CHARACTERS
    };
    let above = (0..=new.len() - old.len()).filter(|above| {
        let added = || new[..*above].iter().chain(&new[above + old.len()..]);
        new[*above..].starts_with(&old) && !added().any(is_telling)
    });
    above
        .filter_map(|above| lines.start().checked_sub(above).filter(|start| *start > 0))
        .any(|start| new.iter().enumerate().all(|(index, text)| has_line(start + index, text)))
}
