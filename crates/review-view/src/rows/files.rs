//! The rows of one file: its hunks with a few lines around them, or all of it if it is created or removed.

use std::ops::Range;

use change_review::{FileStep, Side};

use super::{Line, LineSource, RowKind, Span, StepRows, lines_of, small};

/// The number of unchanged lines shown on each side of a hunk.
const CONTEXT: usize = 3;

/// A file with the positions of its lines.
pub(super) struct FileRows<'a> {
    file: &'a FileStep,
    before: Vec<Span>,
    after: Vec<Span>,
    /// True if some lines end in CRLF and others do not, in either text.
    has_mixed_ends: bool,
    /// True if only one of the two texts ends with a line end.
    differs_at_end: bool,
}

impl<'a> FileRows<'a> {
    pub(super) fn new(file: &'a FileStep) -> FileRows<'a> {
        let spans = |text: &Option<String>| lines_of(text.as_deref().unwrap_or_default()).collect();
        let texts = || [&file.before, &file.after].into_iter().flatten();
        let mut ends =
            texts().flat_map(|text| text.split_inclusive('\n')).filter(|line| line.ends_with('\n'));
        let is_return = ends.next().is_some_and(|line| line.ends_with("\r\n"));
        let has_mixed_ends = ends.any(|line| line.ends_with("\r\n") != is_return);
        let has_end = |text: &Option<String>| text.as_ref().is_none_or(|text| text.ends_with('\n'));
        let differs_at_end = has_end(&file.before) != has_end(&file.after);
        let (before, after) = (spans(&file.before), spans(&file.after));
        FileRows { file, before, after, has_mixed_ends, differs_at_end }
    }

    /// Returns the number of added and removed lines.
    pub(super) fn changed_lines(&self) -> u32 {
        if self.file.hunks.is_empty() {
            return small(self.before.len() + self.after.len());
        }
        small(self.file.hunks.iter().map(|hunk| hunk.old_count + hunk.new_count).sum())
    }

    /// Adds the rows. Only hunks of the step's own change can be chosen.
    pub(super) fn add(&mut self, rows: &mut StepRows<'_>, source: LineSource) {
        let hunks = &self.file.hunks;
        if hunks.is_empty() {
            // A file that is created or removed is one decision.
            match (&self.file.before, &self.file.after) {
                (Some(_), Some(_)) => {}
                _ => {
                    self.lines(rows, source, None, (Side::Before, 0..self.before.len()));
                    self.lines(rows, source, None, (Side::After, 0..self.after.len()));
                }
            }
            return;
        }
        let mut next = 0;
        for (index, hunk) in hunks.iter().enumerate() {
            let new_start = hunk.new_first - 1;
            let old_start = hunk.old_first - 1;
            let from = new_start.saturating_sub(CONTEXT).max(next);
            if from > next {
                rows.push(RowKind::Gap);
            }
            // The header is before the context of the hunk; between adjacent hunks, context is shown once.
            if source == LineSource::Step {
                rows.stop(Some(index));
                rows.push(RowKind::Hunk(small(index)));
            }
            let moved = (old_start, new_start);
            self.context(rows, source, from..new_start, moved);
            let number = Some(small(index));
            self.lines(rows, source, number, (Side::Before, old_start..old_start + hunk.old_count));
            self.lines(rows, source, number, (Side::After, new_start..new_start + hunk.new_count));
            let (old_end, new_end) = (old_start + hunk.old_count, new_start + hunk.new_count);
            let until = hunks.get(index + 1).map_or(self.after.len(), |hunk| hunk.new_first - 1);
            // The lines before the next hunk belong to it.
            let after_end = (new_end + CONTEXT).min(until);
            self.context(rows, source, new_end..after_end, (old_end, new_end));
            next = after_end;
        }
        if next < self.after.len() {
            rows.push(RowKind::Gap);
        }
    }

    /// Adds unchanged lines, by their indexes after the step. `moved` is the same position before and after it.
    fn context(
        &self,
        rows: &mut StepRows<'_>,
        source: LineSource,
        range: Range<usize>,
        moved: (usize, usize),
    ) {
        for index in range {
            let old = (index + moved.0).saturating_sub(moved.1);
            self.line(rows, (source, None), Side::After, index, [small(old + 1), small(index + 1)]);
            if source == LineSource::Step {
                rows.comments_at(Side::Before, small(old + 1));
            }
        }
    }

    fn lines(
        &self,
        rows: &mut StepRows<'_>,
        source: LineSource,
        hunk: Option<u32>,
        (side, range): (Side, Range<usize>),
    ) {
        for index in range {
            let number = small(index + 1);
            let numbers = match side {
                Side::Before => [number, 0],
                Side::After => [0, number],
            };
            self.line(rows, (source, hunk), side, index, numbers);
        }
    }

    fn has_line_end(&self, side: Side) -> bool {
        let text = match side {
            Side::Before => &self.file.before,
            Side::After => &self.file.after,
        };
        text.as_ref().is_none_or(|text| text.ends_with('\n'))
    }

    fn line(
        &self,
        rows: &mut StepRows<'_>,
        (source, hunk): (LineSource, Option<u32>),
        side: Side,
        index: usize,
        numbers: [u32; 2],
    ) {
        let spans = match side {
            Side::Before => &self.before,
            Side::After => &self.after,
        };
        let Some(span) = spans.get(index).copied() else { return };
        let shows_return = self.has_mixed_ends;
        rows.push(RowKind::Line(Line { source, hunk, side, span, numbers, shows_return }));
        if hunk.is_some() && self.differs_at_end && index + 1 == spans.len() && !self.has_line_end(side) {
            rows.push(RowKind::NoLineEnd);
        }
        if source == LineSource::Step {
            rows.comments_at(side, small(index + 1));
        }
    }
}
