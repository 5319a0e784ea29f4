//! Recognises a passage in two versions of a text, and the lines that an edit added around it.

use std::ops::RangeInclusive;

use super::{MatchRule, SearchText, TextMatch};
use crate::difference::TELLING_CHARACTERS;
use crate::{LineMap, Mapped, MappedRange, Source};

impl TextMatch {
    /// Checks whether the lines that a text matches in a later version are not those of this match: they differ from the text in
    /// another way, and are not where these lines were.
    ///
    /// The same lines may have moved, and reindented lines replace the earlier ones. `map` leads from the version of this match
    /// to the later one; `lines` are 1-based lines of the later version.
    #[must_use]
    pub fn is_different_from(
        &self,
        lines: &RangeInclusive<usize>,
        rules: &[MatchRule],
        map: &LineMap,
    ) -> bool {
        if self.rules == rules {
            return false;
        }
        let is_kept_elsewhere = |(then, now): (usize, usize)| match map.map(then) {
            Mapped::Kept(line) => line != now,
            Mapped::Changed => false,
        };
        let replaces_match = match map.map_range(self.lines.clone()) {
            MappedRange::Kept(kept) => kept == *lines,
            MappedRange::Interrupted { .. } => false,
            MappedRange::Changed { now } => {
                now.start < *lines.start()
                    && *lines.end() <= now.end
                    && !self.lines.clone().zip(lines.clone()).any(is_kept_elsewhere)
            }
        };
        !replaces_match
    }
}

/// Checks whether the lines that an edit adds to those of `search` are already around a passage, and are too short (blank lines,
/// brackets) to prove by themselves that the edit was made before. `lines` are the 1-based lines of the passage.
#[must_use]
pub fn has_added_lines_around(
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
