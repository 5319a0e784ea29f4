//! Details of a refusal: the first difference, whether the edit is already applied, where the lines are now.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use memchr::{memchr_iter, memmem};

use crate::{Lines, Operation, Source};

/// The first difference between two lists of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The 0-based index of the line in both lists.
    pub line_index: usize,
    /// The line that was expected; `None` if the expected list is shorter.
    pub expected: Option<String>,
    /// The line that is present; `None` if the present list is shorter.
    pub present: Option<String>,
}

/// Finds the first line in which two lists of lines differ, or `None` if they are the same.
pub fn first_difference<E, P>(expected: E, present: P) -> Option<Difference>
where
    E: IntoIterator,
    E::Item: AsRef<str>,
    P: IntoIterator,
    P::Item: AsRef<str>,
{
    let (mut expected, mut present) = (expected.into_iter(), present.into_iter());
    let mut line_index = 0;
    loop {
        match (expected.next(), present.next()) {
            (None, None) => return None,
            (Some(one), Some(other)) if one.as_ref() == other.as_ref() => line_index += 1,
            (one, other) => {
                let owned = |line: &str| line.to_owned();
                return Some(Difference {
                    line_index,
                    expected: one.map(|line| owned(line.as_ref())),
                    present: other.map(|line| owned(line.as_ref())),
                });
            }
        }
    }
}

/// Checks whether the lines that a replacement or an insertion would put into `source` are already there.
///
/// Always false for a deletion and a regular expression, and for content without lines.
pub fn already_applied(source: &Source<'_>, operation: &Operation) -> bool {
    let (before, content) = match operation {
        Operation::Replace { start_line, content, .. } => (start_line.checked_sub(1), content),
        Operation::Insert { after_line, content } => (Some(*after_line), content),
        Operation::Delete { .. } | Operation::ReplaceText { .. } | Operation::RegexReplace { .. } => {
            return false;
        }
    };
    let Some(start) = before.and_then(|before| usize::try_from(before).ok()) else { return false };
    let Some(end) = start.checked_add(content.count()) else { return false };
    !content.is_empty() && end <= source.total_lines() && has_lines(source, start..end, content)
}

/// Returns the 1-based lines of `current` that hold the new content of an operation, if it was put there since `earlier`, around
/// the addressed lines. Those are the same in both texts, and given by 0-based indexes of each.
///
/// `None` for content that adds no line, and for deletions and edits by text.
pub fn applied_since(
    earlier: (&Source<'_>, Range<usize>),
    current: (&Source<'_>, Range<usize>),
    operation: &Operation,
) -> Option<RangeInclusive<usize>> {
    let content = added_content(operation, &current.1)?;
    let ((earlier, then), (current, now)) = (earlier, current);
    let (count, addressed) = (content.count(), now.len());
    let kept: Vec<_> = now.clone().filter_map(|index| current.line_text(index + 1)).collect();
    let lines: Vec<&str> = content.iter().collect();
    let is_kept = |at: &usize| lines[*at..*at + addressed].iter().zip(&kept).all(|(line, kept)| line == kept);
    for at in (0..=count - addressed).filter(is_kept).take(MOST_POSITIONS) {
        let stood_there = then.start.checked_sub(at).is_some_and(|start| {
            start + count <= earlier.total_lines() && has_lines(earlier, start..start + count, content)
        });
        let Some(start) = now.start.checked_sub(at).filter(|start| start + count <= current.total_lines())
        else {
            continue;
        };
        if !stood_there && has_lines(current, start..start + count, content) {
            return Some(start + 1..=start + count);
        }
    }
    None
}

/// Returns the content of an operation that adds lines to those that it addresses.
fn added_content<'o>(operation: &'o Operation, addressed: &Range<usize>) -> Option<&'o Lines> {
    let (Operation::Replace { content, .. } | Operation::Insert { content, .. }) = operation else {
        return None;
    };
    (content.count() > addressed.len()).then_some(content)
}

/// Returns the 1-based lines of `current` that equal those an operation adds to the addressed lines, if they occur exactly once
/// and not in `earlier`: they were added since, at another position. The addressed lines are given by 0-based indexes of
/// `current`.
///
/// `None` unless there are several added lines and one of them is distinctive, and for deletions and edits by text.
pub fn applied_elsewhere(
    earlier: &Source<'_>,
    current: (&Source<'_>, Range<usize>),
    operation: &Operation,
) -> Option<RangeInclusive<usize>> {
    let content: Vec<&str> = added_content(operation, &current.1)?.iter().collect();
    let (current, now) = current;
    let kept: Vec<_> = now.filter_map(|index| current.line_text(index + 1)).collect();
    let is_same = |(line, kept): &(&&str, &Cow<'_, str>)| **line == **kept;
    let before = content.iter().zip(&kept).take_while(is_same).count();
    let after = content.iter().rev().zip(kept[before..].iter().rev()).take_while(is_same).count();
    let added = content.get(before..content.len().checked_sub(after)?)?;
    let is_blank = |line: &&&str| line.trim().is_empty();
    let first = added.iter().take_while(is_blank).count();
    let last = added.len() - added.iter().rev().take_while(is_blank).count();
    let added = added.get(first..last)?;
    let characters = |line: &&str| line.chars().filter(|character| !character.is_whitespace()).count();
    let is_telling = added.iter().any(|line| characters(line) >= TELLING_CHARACTERS);
    // A single line may well be wanted twice.
    if !is_telling || added.iter().filter(|line| !line.trim().is_empty()).count() < 2 {
        return None;
    }
    let added = Lines::from_body(added);
    let lines = find_unique(current, &added)?;
    (!has_anywhere(earlier, &added)).then_some(lines)
}

/// The fewest non-blank characters of a new line that identify an edit as applied before.
pub(crate) const TELLING_CHARACTERS: usize = 8;

/// The most positions of the addressed lines within the new content that are tried.
const MOST_POSITIONS: usize = 64;

/// Returns the 1-based numbers of the only consecutive lines of `source` that equal `lines`.
///
/// `None` if they do not occur, or more than once, or if no line is given.
pub fn find_unique(source: &Source<'_>, lines: &Lines) -> Option<RangeInclusive<usize>> {
    if lines.is_empty() {
        return None;
    }
    let (text, wanted) = (searchable(source)?, between_line_feeds(lines));
    let finder = memmem::Finder::new(&wanted);
    let at = finder.find(text.as_bytes())?;
    if finder.find(&text.as_bytes()[at + 1..]).is_some() {
        return None;
    }
    let start = memchr_iter(b'\n', &text.as_bytes()[..=at]).count();
    Some(start..=start + lines.count() - 1)
}

/// Checks whether these lines occur consecutively in `source`.
fn has_anywhere(source: &Source<'_>, lines: &Lines) -> bool {
    searchable(source)
        .is_none_or(|text| memmem::find(text.as_bytes(), between_line_feeds(lines).as_bytes()).is_some())
}

/// Returns all lines with a line feed before and after each, so that one substring search is linear for any text.
fn searchable(source: &Source<'_>) -> Option<String> {
    let mut text = String::from("\n");
    for line_number in 1..=source.total_lines() {
        text.push_str(&source.line_text(line_number)?);
        text.push('\n');
    }
    Some(text)
}

fn between_line_feeds(lines: &Lines) -> String {
    std::iter::once("").chain(lines.iter()).flat_map(|line| [line, "\n"]).collect()
}

/// Checks whether the lines with these 0-based indexes have exactly this text.
pub(crate) fn has_lines(source: &Source<'_>, line_indexes: Range<usize>, lines: &Lines) -> bool {
    line_indexes.len() == lines.count()
        && line_indexes
            .zip(lines.iter())
            .all(|(index, line)| source.line_text(index + 1).is_some_and(|present| present == line))
}
