//! Puts lines into a text in one pass.

use std::ops::Range;

use crate::encode::{Unencodable, encode};
use crate::{EditError, EditErrorKind, Encoding, Hunk, LineMap, Lines, Source, TextFormat};

/// Lines to remove and lines to add, as 0-based half-open line indexes.
#[derive(Clone, Debug)]
pub(crate) struct Splice<'a> {
    pub(crate) operation_index: usize,
    /// The lines in the text that the operation's numbers refer to.
    pub(crate) addressed: Range<usize>,
    /// The same lines in the current text.
    pub(crate) old: Range<usize>,
    pub(crate) content: Option<&'a Lines>,
}

impl Splice<'_> {
    pub(crate) fn added_lines(&self) -> usize {
        self.content.map_or(0, Lines::count)
    }
}

/// Sorts splices by position; insertions at the same position stay in the order of the call.
pub(crate) fn sort(splices: &mut [Splice<'_>]) {
    splices.sort_by_key(|splice| (splice.old.start, splice.old.end, splice.operation_index));
}

/// Returns the first two of sorted splices that touch the same lines, as indexes into the slice.
pub(crate) fn overlap(splices: &[Splice<'_>]) -> Option<(usize, usize)> {
    (1..splices.len()).find(|&at| splices[at].old.start < splices[at - 1].old.end).map(|at| (at - 1, at))
}

/// Applies sorted, disjoint splices to `base`, whose format is `format`.
///
/// `format` is that of the text before the call, so that a text emptied by an earlier operation keeps its line ending and whether
/// it ends with one.
pub(crate) fn splice(
    base: &Source<'_>,
    format: &TextFormat,
    splices: &[Splice<'_>],
) -> Result<(Vec<u8>, LineMap), EditError> {
    let mut writer = Writer::new(base, format);
    let mut hunks = Vec::with_capacity(splices.len());
    let mut next = 0;
    for splice in splices {
        writer.keep(next..splice.old.start);
        let new_start = writer.line_count;
        for (nth, line) in splice.content.iter().flat_map(|content| content.iter()).enumerate() {
            writer.insert(line).map_err(|Unencodable(character)| {
                let encoding = format.encoding;
                let kind = EditErrorKind::Unencodable { character, encoding, content_line: nth + 1 };
                EditError::of(splice.operation_index, kind)
            })?;
        }
        hunks.push(Hunk { old: splice.old.clone(), new: new_start..writer.line_count });
        next = splice.old.end;
    }
    writer.keep(next..base.total_lines());
    let line_count = writer.line_count;
    let bytes = writer.finish();
    Ok((bytes, LineMap::from_hunks(base.total_lines(), line_count, hunks)))
}

/// Writes lines in order and tracks the ending of the last one.
struct Writer<'a> {
    base: &'a Source<'a>,
    format: &'a TextFormat,
    /// The dominant ending, encoded.
    ending: Vec<u8>,
    bytes: Vec<u8>,
    line_count: usize,
    last: Last,
}

/// The ending of the last line that was written.
#[derive(Clone, Copy)]
struct Last {
    ending_bytes: usize,
    is_blank: bool,
}

impl<'a> Writer<'a> {
    fn new(base: &'a Source<'a>, format: &'a TextFormat) -> Self {
        let mut ending = Vec::new();
        encode(format.line_ending.as_str(), format.encoding, &mut ending)
            .expect("every encoding has the line endings");
        let mut bytes = Vec::with_capacity(base.bytes().len());
        bytes.extend_from_slice(&base.bytes()[..base.text_start()]);
        Self { base, format, ending, bytes, line_count: 0, last: Last { ending_bytes: 0, is_blank: false } }
    }

    /// Copies lines of the base as they are.
    fn keep(&mut self, line_indexes: Range<usize>) {
        let Some(last_index) = line_indexes.end.checked_sub(1).filter(|last| *last >= line_indexes.start)
        else {
            return;
        };
        self.end_line();
        let span = self.base.offset_of(line_indexes.start)..self.base.offset_of(line_indexes.end);
        self.bytes.extend_from_slice(&self.base.bytes()[span]);
        self.line_count += line_indexes.len();
        let ending_bytes = self.base.ending_bytes(last_index);
        let line_bytes = self.base.offset_of(last_index + 1) - self.base.offset_of(last_index);
        self.last = Last { ending_bytes, is_blank: line_bytes == ending_bytes };
    }

    fn insert(&mut self, line: &str) -> Result<(), Unencodable> {
        self.end_line();
        // A model that saw the mark as part of line 1 sends it back, but the text already has it.
        let is_second_mark = self.line_count == 0
            && self.format.byte_order_mark
            && self.format.encoding != Encoding::UnknownEightBit;
        let line = if is_second_mark { line.strip_prefix('\u{FEFF}').unwrap_or(line) } else { line };
        // In such a text it stands for bytes that only the text itself has.
        if line.contains(char::REPLACEMENT_CHARACTER) && self.base.is_lossy() {
            return Err(Unencodable(char::REPLACEMENT_CHARACTER));
        }
        encode(line, self.format.encoding, &mut self.bytes)?;
        self.bytes.extend_from_slice(&self.ending);
        self.line_count += 1;
        self.last = Last { ending_bytes: self.ending.len(), is_blank: line.is_empty() };
        Ok(())
    }

    /// Gives the last line of a text without final newline an ending, because a line is about to follow.
    fn end_line(&mut self) {
        if self.line_count > 0 && self.last.ending_bytes == 0 {
            self.bytes.extend_from_slice(&self.ending);
        }
    }

    /// Removes the last ending where the text had none. A blank last line keeps it: without an ending it would not be a line.
    fn finish(mut self) -> Vec<u8> {
        if self.line_count > 0 && !self.format.final_newline && !self.last.is_blank {
            self.bytes.truncate(self.bytes.len() - self.last.ending_bytes);
        }
        self.bytes
    }
}
