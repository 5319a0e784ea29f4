//! Carries operations from the shown version of a text to the current one.

use std::ops::{Range, RangeInclusive};

use crate::difference::has_lines;
use crate::{
    Difference, EditError, EditErrorKind, EditLimits, LineMap, Lines, Mapped, MappedRange, Operation, Source,
    find_unique, first_difference,
};

/// Addressed lines that have changed since they were shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("lines {}-{} {reason} since they were shown", .lines.start(), .lines.end())]
pub struct Stale {
    /// The reason why the operation cannot be carried over.
    pub reason: StaleReason,
    /// The addressed lines in the shown version, 1-based; for an insertion the line that it goes after.
    pub lines: RangeInclusive<usize>,
    /// Their text at that time, without endings, joined by line feeds, truncated.
    pub expected: String,
    /// The lines that replace them in the current version, 1-based; `None` if there are none.
    pub present_lines: Option<RangeInclusive<usize>>,
    /// The text of those, without endings, joined by line feeds, truncated.
    pub present: String,
    /// The first line in which the two differ. `None` if neither is longer than the quotes allow and they are
    /// the same, which happens when a line was removed and put back elsewhere.
    pub first_difference: Option<Difference>,
    /// True if the present lines are exactly those that the operation would have put there.
    pub already_applied: bool,
    /// The only other lines of the current version that equal the shown ones, 1-based: with these numbers, the operation would
    /// have its intended effect.
    pub moved_to: Option<RangeInclusive<usize>>,
}

/// The reason why an operation cannot be carried to the current version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum StaleReason {
    /// At least one of the addressed lines was changed or removed.
    #[error("have changed")]
    Changed,
    /// All addressed lines are unchanged, but there are new lines between them, which the operation would remove unseen.
    #[error("have {inserted} new lines between them")]
    Interrupted {
        /// The number of new lines.
        inserted: usize,
    },
}

/// Carries operations whose line numbers all mean `shown` to `current`, along `map`.
///
/// The result is meant for [`Numbering::Original`](crate::Numbering::Original) on `current`. Lines that were inserted directly
/// before or after the addressed ones do not matter. An insertion requires the line before it to be unchanged; at the top it
/// stays at the top, and past the end of `shown` it is at the end of `current`. Regular expressions have no line numbers and pass
/// unchanged.
///
/// # Errors
///
/// [`EditErrorKind::InvalidRange`] and [`EditErrorKind::InvalidPosition`] for numbers that are not in `shown`,
/// [`EditErrorKind::Stale`] for lines that have changed.
///
/// # Panics
///
/// If `map` is not a map from a text with as many lines as `shown` to one with as many as `current`.
pub fn rebase(
    operations: &[Operation],
    earlier: &Source<'_>,
    current: &Source<'_>,
    map: &LineMap,
    limits: &EditLimits,
) -> Result<Vec<Operation>, EditError> {
    let ends = (earlier.total_lines(), current.total_lines());
    assert_eq!(
        (map.old_lines(), map.new_lines()),
        ends,
        "the map leads from the shown text to the current one"
    );
    let rebase = Rebase { earlier, current, map, limits };
    let carried = operations.iter().enumerate().map(|(index, operation)| {
        rebase.operation(operation).map_err(|kind| EditError { operation_index: Some(index), kind })
    });
    carried.collect()
}

/// The position of addressed lines in another version.
///
/// Lines are 0-based and half-open; an insertion addresses the empty range before the line that follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carried {
    /// They are there unchanged, consecutively.
    Kept {
        /// The lines in the version that the numbers mean.
        addressed: Range<usize>,
        /// The same lines in the other version.
        now: Range<usize>,
    },
    /// They have changed, or other lines were put between them.
    Changed {
        /// The lines that are there instead.
        now: Range<usize>,
    },
    /// The version has no lines of these numbers, or the operation has no line numbers.
    Absent,
}

/// Carries the lines that an operation addresses along `map`, as [`rebase`] does.
pub fn carry(operation: &Operation, map: &LineMap) -> Carried {
    let Ok(addressed) = operation.addressed_lines(map.old_lines()) else { return Carried::Absent };
    match operation {
        Operation::RegexReplace { .. } | Operation::ReplaceText { within: None, .. } => Carried::Absent,
        Operation::Insert { after_line, .. } => match carried_position(map, *after_line, addressed.start) {
            Ok(now) => Carried::Kept { addressed, now: now..now },
            Err(now) => Carried::Changed { now },
        },
        Operation::Replace { .. } | Operation::Delete { .. } | Operation::ReplaceText { .. } => {
            match map.map_range(addressed.start + 1..=addressed.end) {
                MappedRange::Kept(kept) => Carried::Kept { addressed, now: kept.start() - 1..*kept.end() },
                MappedRange::Interrupted { lines, .. } => {
                    Carried::Changed { now: lines.start() - 1..*lines.end() }
                }
                MappedRange::Changed { now } => Carried::Changed { now },
            }
        }
    }
}

/// Returns the line after which an insertion belongs in the new version, or the lines that replace the one it was to follow.
fn carried_position(map: &LineMap, addressed: i64, after: usize) -> Result<usize, Range<usize>> {
    if after == 0 && addressed == 0 {
        return Ok(0);
    }
    if addressed > signed(map.old_lines()) {
        return Ok(map.new_lines());
    }
    match map.map(after) {
        Mapped::Kept(line) => Ok(line),
        Mapped::Changed => Err(match map.map_range(after..=after) {
            MappedRange::Changed { now } => now,
            MappedRange::Kept(lines) | MappedRange::Interrupted { lines, .. } => {
                lines.start() - 1..*lines.end()
            }
        }),
    }
}

struct Rebase<'a> {
    earlier: &'a Source<'a>,
    current: &'a Source<'a>,
    map: &'a LineMap,
    limits: &'a EditLimits,
}

impl Rebase<'_> {
    fn operation(&self, operation: &Operation) -> Result<Operation, EditErrorKind> {
        let lines = operation.addressed_lines(self.earlier.total_lines())?;
        Ok(match operation {
            Operation::Replace { content, .. } => {
                let (start_line, end_line) = self.range(lines, content)?;
                Operation::Replace { start_line, end_line, content: content.clone() }
            }
            Operation::Delete { .. } => {
                let (start_line, end_line) = self.range(lines, &Lines::none())?;
                Operation::Delete { start_line, end_line }
            }
            Operation::Insert { after_line, content } => {
                let after_line = self.position(*after_line, lines.start)?;
                Operation::Insert { after_line, content: content.clone() }
            }
            Operation::ReplaceText { search, replacement, expected, within: Some(_) } => {
                let within = Some(self.range(lines, &Lines::none())?);
                Operation::ReplaceText {
                    search: search.clone(),
                    replacement: replacement.clone(),
                    expected: *expected,
                    within,
                }
            }
            Operation::ReplaceText { .. } | Operation::RegexReplace { .. } => operation.clone(),
        })
    }

    fn range(&self, lines: Range<usize>, content: &Lines) -> Result<(i64, i64), EditErrorKind> {
        let (reason, now) = match self.map.map_range(lines.start + 1..=lines.end) {
            MappedRange::Kept(kept) => return Ok((signed(*kept.start()), signed(*kept.end()))),
            MappedRange::Interrupted { lines, inserted } => {
                (StaleReason::Interrupted { inserted }, lines.start() - 1..*lines.end())
            }
            MappedRange::Changed { now } => (StaleReason::Changed, now),
        };
        let already_applied = has_lines(self.current, now.clone(), content);
        Err(self.stale(reason, lines, now, already_applied))
    }

    fn position(&self, addressed: i64, after: usize) -> Result<i64, EditErrorKind> {
        carried_position(self.map, addressed, after)
            .map(signed)
            .map_err(|now| self.stale(StaleReason::Changed, after - 1..after, now, false))
    }

    fn stale(
        &self,
        reason: StaleReason,
        lines: Range<usize>,
        now: Range<usize>,
        already_applied: bool,
    ) -> EditErrorKind {
        let texts = |source: &Source<'_>, indexes: Range<usize>| {
            let text = |index: usize| source.line_text(index + 1).map(|line| line.into_owned());
            indexes.filter_map(text).collect::<Vec<String>>()
        };
        let expected = texts(self.earlier, lines.clone());
        let difference = first_difference(&expected, texts(self.current, now.clone()));
        let limit_chars = self.limits.quote_limit_chars;
        EditErrorKind::Stale(Box::new(Stale {
            reason,
            lines: lines.start + 1..=lines.end,
            expected: self.earlier.quote(lines, limit_chars),
            present_lines: (!now.is_empty()).then(|| now.start + 1..=now.end),
            present: self.current.quote(now, limit_chars),
            first_difference: difference.map(|difference| cut(difference, limit_chars)),
            already_applied,
            moved_to: find_unique(self.current, &Lines::from_body(&expected)),
        }))
    }
}

fn cut(difference: Difference, limit_chars: usize) -> Difference {
    let cut = |line: String| {
        let mut text = String::new();
        crate::source::push_cut(&mut text, &line, &mut { limit_chars });
        text
    };
    Difference {
        line_index: difference.line_index,
        expected: difference.expected.map(cut),
        present: difference.present.map(cut),
    }
}

fn signed(line_number: usize) -> i64 {
    i64::try_from(line_number).expect("a text in memory has fewer lines than i64 can count")
}
