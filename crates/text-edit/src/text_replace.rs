//! Replaces a text that [`find_text`] finds, unless the edit is already applied.

use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};

use crate::difference::TELLING_CHARACTERS;
use crate::line_map::byte_edits::{self, ByteEdit};
use crate::new_lines;
use crate::text_match::{ReplacedBytes, only_exact, rival};
use crate::{
    EditErrorKind, LineMap, Lines, MatchRule, NoMatch, SearchText, Source, TextContent, TextFormat,
    TextMatch, find_all_text, find_text,
};

/// The outcome of a text replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextOutcome {
    /// The 0-based index of the operation.
    pub operation_index: usize,
    /// The lines of the matches just before the operation, 1-based; if it was already applied, the lines of the new text.
    pub lines: Vec<RangeInclusive<usize>>,
    /// The differences between the text and its match that were allowed.
    pub rules: Vec<MatchRule>,
    /// True if the new text is already there, and nothing was done.
    pub already_applied: bool,
}

impl TextOutcome {
    /// Describes the outcome for a reader; `None` for an exact match.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let first = self.lines.first()?;
        let lines = if first.start() == first.end() {
            format!("line {}", first.start())
        } else {
            format!("lines {}-{}", first.start(), first.end())
        };
        if self.already_applied {
            return Some(format!("already applied, nothing done: the new text is at {lines}"));
        }
        let phrases: Vec<&str> = self.rules.iter().filter_map(|rule| rule.phrase()).collect();
        (!phrases.is_empty()).then(|| {
            format!("the search text was matched with {lines}, apart from {}", phrases.join(" and "))
        })
    }
}

/// The effect of one operation.
pub(crate) struct Replaced {
    pub(crate) edit: Edit,
    pub(crate) outcome: TextOutcome,
}

/// The edit that replaces a text.
pub(crate) enum Edit {
    /// Whole lines, in the order of the text; none if nothing changes.
    Lines(Vec<TextContent>),
    /// The whole text with other bytes at the match, and the map of its lines.
    Bytes { bytes: Vec<u8>, map: LineMap },
}

/// Finds the edits that replace a text.
pub(crate) fn replace(
    (source, format): (&Source<'_>, &TextFormat),
    search: &SearchText,
    replacement: &str,
    within: Option<Range<usize>>,
) -> Result<Replaced, EditErrorKind> {
    let nothing = || Edit::Lines(Vec::new());
    let outcome =
        |lines, rules, already_applied| TextOutcome { operation_index: 0, lines, rules, already_applied };
    let added = Added::between(search, replacement);
    let done =
        (added >= Added::Word).then(|| only_exact(source, &SearchText::of_lines(replacement))).flatten();
    let is_certain = added == Added::TellingLine;
    let passage = match find_text(source, search, &MatchRule::ALL, within.clone()) {
        Ok(passage) => passage,
        Err(NoMatch::Absent { nearest, .. }) => {
            // A similar line is probably the one to edit, and the new text a different passage. Where nothing is similar, the new
            // text is a trace of this edit only if it shares something with the search text.
            let is_trace = |lines: &RangeInclusive<usize>| match &nearest {
                Some(nearest) => overlap(lines, &nearest.lines),
                None => keeps_telling_line(search, replacement) || shares_names(search, replacement),
            };
            return match done.filter(|_| is_certain) {
                Some(lines) if !is_trace(&lines) => {
                    Err(refusal(NoMatch::Absent { nearest, new_text: Some(lines) }))
                }
                Some(lines) => {
                    let within = within.unwrap_or(0..source.total_lines());
                    // Another passage that is as similar may be the one to edit.
                    if let Some(rival) = nearest.and_then(|_| rival(source, search, &lines, within)) {
                        return Err(refusal(NoMatch::Absent { nearest: Some(rival), new_text: Some(lines) }));
                    }
                    Ok(Replaced { edit: nothing(), outcome: outcome(vec![lines], Vec::new(), true) })
                }
                None => Err(refusal(NoMatch::absent(nearest))),
            };
        }
        Err(reason) => return Err(refusal(reason)),
    };
    // After an edit that only adds lines, the search text still occurs. And if the new text occurs exactly, a loose match of the
    // search text is probably a different passage.
    let is_loose = passage.rules.iter().any(|rule| rule.phrase().is_some());
    if let Some(lines) = done.filter(|lines| is_loose || covers(lines, &passage.lines)) {
        let is_of_this_edit =
            covers(&lines, &passage.lines) || is_loose_next_to_result(&passage, search, replacement);
        if !is_certain || !is_of_this_edit {
            return Err(EditErrorKind::AlreadyThere { lines });
        }
        return Ok(Replaced { edit: nothing(), outcome: outcome(vec![lines], Vec::new(), true) });
    }
    let edit = if passage.is_within_lines {
        bytes_of((source, format), &passage, search, replacement)?
    } else {
        let contents = contents_of(source, &passage, search, replacement)?;
        new_lines::check(source, search, replacement, &passage, &contents)?;
        Edit::Lines(contents)
    };
    let outcome = outcome(vec![passage.lines], passage.rules, false);
    Ok(Replaced { edit, outcome })
}

fn bytes_of(
    (source, format): (&Source<'_>, &TextFormat),
    passage: &TextMatch,
    search: &SearchText,
    replacement: &str,
) -> Result<Edit, EditErrorKind> {
    let ReplacedBytes { bytes, old, new } = passage.replaced_bytes(source, format, search, replacement)?;
    let after = Source::of_edited(&bytes, format);
    let map = byte_edits::line_map(source, &after, &[ByteEdit { old, new }]);
    let text_of = |index: usize| after.line_text(index + 1).unwrap_or_default();
    let contents: Vec<TextContent> = map
        .hunks()
        .iter()
        .map(|hunk| TextContent {
            lines: hunk.old.clone(),
            content: Lines::from_body(hunk.new.clone().map(text_of)),
        })
        .collect();
    new_lines::check(source, search, replacement, passage, &contents)?;
    Ok(Edit::Bytes { bytes, map })
}

fn refusal(reason: NoMatch) -> EditErrorKind {
    EditErrorKind::NoMatch(Box::new(reason))
}

fn contents_of(
    source: &Source<'_>,
    passage: &TextMatch,
    search: &SearchText,
    replacement: &str,
) -> Result<Vec<TextContent>, EditErrorKind> {
    let unfit = || match passage.has_uncertain_numbers(source, search, replacement) {
        true => EditErrorKind::UncertainNumbers { lines: passage.lines.clone() },
        false => EditErrorKind::UnfitIndentation { lines: passage.lines.clone() },
    };
    passage.content(source, search, replacement).ok_or_else(unfit)
}

/// Returns the lines of all matches, if there are as many as expected.
pub(crate) fn lines_of_all(
    source: &Source<'_>,
    search: &SearchText,
    expected: usize,
) -> Result<Vec<RangeInclusive<usize>>, EditErrorKind> {
    let matches = find_all_text(source, search, expected, None).map_err(refusal)?;
    Ok(matches.into_iter().map(|passage| passage.lines).collect())
}

/// The degree to which the lines that an edit adds identify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Added {
    /// None, or only blank lines and brackets, which occur anywhere.
    Nothing,
    /// A short line, such as `end`.
    Word,
    /// A line that identifies an earlier application of the edit.
    TellingLine,
}

fn with_end(text: &str) -> String {
    format!("{}\n", text.strip_suffix('\n').unwrap_or(text))
}

/// Checks whether a loose match is a different passage than the one the edit already changed: it is indented differently, and the
/// new text repeats every line of the search text exactly.
///
/// An edit that removes lines cannot be distinguished from one that was never made: its new text may occur anywhere.
fn is_loose_next_to_result(passage: &TextMatch, search: &SearchText, replacement: &str) -> bool {
    let is_indented_differently =
        passage.rules.iter().any(|rule| matches!(rule, MatchRule::Indentation | MatchRule::TabsAndBlanks));
    let mut new = replacement.lines();
    let only_adds = search.as_str().lines().all(|line| new.any(|new| new == line));
    is_indented_differently && only_adds && keeps_telling_line(search, replacement)
}

/// Checks whether a replacement keeps a distinctive line of the search text.
fn keeps_telling_line(search: &SearchText, replacement: &str) -> bool {
    let is_telling = |line: &&str| {
        line.chars().filter(|character| !character.is_whitespace()).count() >= TELLING_CHARACTERS
    };
    let kept: HashSet<&str> = replacement.lines().collect();
    search.as_str().lines().filter(is_telling).any(|line| kept.contains(line))
}

/// Checks whether a replacement has at least half of the name parts of the search text: `old_value` and `new_value` share one of
/// two.
fn shares_names(search: &SearchText, replacement: &str) -> bool {
    let (old, new) = (name_parts(search.as_str()), name_parts(replacement));
    !old.is_empty() && old.intersection(&new).count() * 2 >= old.len()
}

fn name_parts(text: &str) -> HashSet<&str> {
    text.split(|sign: char| !sign.is_alphanumeric()).filter(|part| part.len() >= 2).collect()
}

impl Added {
    fn between(search: &SearchText, replacement: &str) -> Added {
        let (old, new) = (with_end(search.as_str()), with_end(replacement));
        let (Ok(old), Ok(new)) = (Source::parse(old.as_bytes()), Source::parse(new.as_bytes())) else {
            return Added::Nothing;
        };
        let map = LineMap::between(&old, &new);
        let added = map.hunks().iter().flat_map(|hunk| hunk.new.clone()).map(|index| {
            let line = new.line_text(index + 1).unwrap_or_default();
            let count = line.chars().filter(|character| !character.is_whitespace()).count();
            match line.contains(char::is_alphanumeric) {
                _ if count >= TELLING_CHARACTERS => Added::TellingLine,
                true => Added::Word,
                false => Added::Nothing,
            }
        });
        added.max().unwrap_or(Added::Nothing)
    }
}

fn overlap(lines: &RangeInclusive<usize>, others: &RangeInclusive<usize>) -> bool {
    lines.start() <= others.end() && others.start() <= lines.end()
}

fn covers(lines: &RangeInclusive<usize>, others: &RangeInclusive<usize>) -> bool {
    lines.start() <= others.start() && others.end() <= lines.end()
}
