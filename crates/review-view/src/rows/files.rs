//! The rows of one file: its hunks with a few lines around them, or all of it where it appears or goes.

use std::ops::Range;

use change_review::{FileStep, Side};

use super::{Line, LineSource, RowKind, Span, StepRows, lines_of, small};

/// The lines that stay and are shown on each side of a hunk.
const CONTEXT: usize = 3;

/// A file with the positions of its lines.
pub(super) struct FileRows<'a> {
    file: &'a FileStep,
    before: Vec<Span>,
    after: Vec<Span>,
}

impl<'a> FileRows<'a> {
    pub(super) fn new(file: &'a FileStep) -> FileRows<'a> {
        let spans = |text: &Option<String>| lines_of(text.as_deref().unwrap_or_default()).collect();
        FileRows { file, before: spans(&file.before), after: spans(&file.after) }
    }

    /// Returns the number of lines that come or go.
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
            // A file that appears or goes is one decision.
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
            // The header stands in front of the lines around the hunk; between neighbours they are shown once.
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
            // The lines in front of the next hunk are its own.
            let behind = (new_end + CONTEXT).min(until);
            self.context(rows, source, new_end..behind, (old_end, new_end));
            next = behind;
        }
        if next < self.after.len() {
            rows.push(RowKind::Gap);
        }
    }

    /// Adds lines that stay, by their indexes after the step. `moved` is the same position before and after it.
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
        rows.push(RowKind::Line(Line { source, hunk, side, span, numbers }));
        if source == LineSource::Step {
            rows.comments_at(side, small(index + 1));
        }
    }
}
