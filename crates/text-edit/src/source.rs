//! A text that is held as bytes, with its format and an index of its lines.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use memchr::{memchr, memchr_iter};

use crate::encode::decode_lossy;
use crate::{Encoding, LineEnding, TextFormat};

/// The number of bytes that are searched for a NUL.
const BINARY_PROBE_BYTES: usize = 8 * 1024;

/// The bytes are not a text: there is a NUL in the first 8 KiB and no UTF-16 mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file is binary (NUL at byte offset {offset_bytes})")]
pub struct BinaryError {
    /// The offset of the first NUL, counted from 0.
    pub offset_bytes: usize,
}

/// A text, borrowed, with an index of its lines.
///
/// Lines end at a line feed; a carriage return before it belongs to the ending. A text whose last byte is
/// a line feed has no further empty line, and an empty text has no lines. Line numbers are 1-based.
///
/// A carriage return at the very end of a text is part of the last line; once lines are added after it, the
/// line feed that follows makes it part of the ending. Its byte stays either way.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    bytes: &'a [u8],
    format: TextFormat,
    /// The byte offset of each line.
    starts: Starts,
}

/// Byte offsets in ascending order. For a text of short lines they would take more memory than the text, so they are kept small.
#[derive(Clone, Debug)]
enum Starts {
    /// Of a text below 4 GiB.
    Near(Vec<u32>),
    Far(Vec<usize>),
}

impl Starts {
    /// Allocates exactly the space that the lines of a text need.
    fn for_text(bytes: &[u8]) -> Starts {
        let count = memchr_iter(b'\n', bytes).count() + 1;
        match u32::try_from(bytes.len()) {
            Ok(_) => Starts::Near(Vec::with_capacity(count)),
            Err(_) => Starts::Far(Vec::with_capacity(count)),
        }
    }

    fn push(&mut self, offset: usize) {
        match self {
            Starts::Near(starts) => starts.push(u32::try_from(offset).expect("the text is below 4 GiB")),
            Starts::Far(starts) => starts.push(offset),
        }
    }

    fn len(&self) -> usize {
        match self {
            Starts::Near(starts) => starts.len(),
            Starts::Far(starts) => starts.len(),
        }
    }

    fn get(&self, index: usize) -> Option<usize> {
        match self {
            Starts::Near(starts) => starts.get(index).map(|start| *start as usize),
            Starts::Far(starts) => starts.get(index).copied(),
        }
    }

    /// Counts the offsets that are not above this one.
    fn count_up_to(&self, offset: usize) -> usize {
        match self {
            Starts::Near(starts) => starts.partition_point(|start| *start as usize <= offset),
            Starts::Far(starts) => starts.partition_point(|start| *start <= offset),
        }
    }
}

impl<'a> Source<'a> {
    /// Detects the format of `bytes` and indexes the lines.
    ///
    /// # Errors
    ///
    /// [`BinaryError`] if the bytes are not a text.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, BinaryError> {
        let (encoding, mark) = detect_encoding(bytes)?;
        Ok(Self::indexed(bytes, encoding, mark))
    }

    /// Indexes an edited text. It keeps the encoding of the original, even where removing the only undecodable line made it valid
    /// UTF-8, or moved a late NUL to the front.
    pub(crate) fn of_edited(bytes: &'a [u8], format: &TextFormat) -> Self {
        Self::indexed(bytes, format.encoding, format.byte_order_mark)
    }

    fn indexed(bytes: &'a [u8], encoding: Encoding, byte_order_mark: bool) -> Self {
        let text_start = if byte_order_mark { mark_bytes(encoding) } else { 0 };
        let unit = encoding.unit_bytes();
        let mut starts = Starts::for_text(bytes);
        let mut first_ending = None;
        let (mut lf_count, mut crlf_count) = (0usize, 0usize);
        let mut line_start = text_start;
        for at in line_feeds(bytes, text_start, encoding) {
            starts.push(line_start);
            let ending = if at >= line_start + unit && is_unit(bytes, at - unit, b'\r', encoding) {
                crlf_count += 1;
                LineEnding::CrLf
            } else {
                lf_count += 1;
                LineEnding::Lf
            };
            first_ending.get_or_insert(ending);
            line_start = at + unit;
        }
        let final_newline = line_start >= bytes.len();
        if !final_newline {
            starts.push(line_start);
        }
        let line_ending = match crlf_count.cmp(&lf_count) {
            std::cmp::Ordering::Greater => LineEnding::CrLf,
            std::cmp::Ordering::Less => LineEnding::Lf,
            std::cmp::Ordering::Equal => first_ending.unwrap_or(LineEnding::Lf),
        };
        let format = TextFormat {
            encoding,
            byte_order_mark,
            line_ending,
            mixed_line_endings: lf_count > 0 && crlf_count > 0,
            final_newline,
        };
        Self { bytes, format, starts }
    }

    /// All bytes, with the mark.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The detected format.
    pub fn format(&self) -> &TextFormat {
        &self.format
    }

    /// The number of lines.
    pub fn total_lines(&self) -> usize {
        self.starts.len()
    }

    /// The byte offset at which line 1 begins: the length of the mark, or 0.
    pub fn text_start(&self) -> usize {
        if self.format.byte_order_mark { mark_bytes(self.format.encoding) } else { 0 }
    }

    /// The byte range of a line with its ending, or `None` if there is no such line.
    pub fn line_span(&self, line_number: usize) -> Option<Range<usize>> {
        let index = line_number.checked_sub(1)?;
        let start = self.starts.get(index)?;
        Some(start..self.offset_of(index + 1))
    }

    /// The bytes of a line without its ending, or `None` if there is no such line.
    pub fn line_bytes(&self, line_number: usize) -> Option<&'a [u8]> {
        let span = self.line_span(line_number)?;
        let ending = self.ending_bytes(line_number - 1);
        Some(&self.bytes[span.start..span.end - ending])
    }

    /// The characters of a line without its ending; undecodable bytes become U+FFFD.
    pub fn line_text(&self, line_number: usize) -> Option<Cow<'a, str>> {
        self.line_bytes(line_number).map(|bytes| decode_lossy(bytes, self.format.encoding))
    }

    /// The byte range of the lines `start..=end` with their endings, or `None` unless all of them exist.
    pub fn lines_span(&self, lines: RangeInclusive<usize>) -> Option<Range<usize>> {
        if lines.is_empty() {
            return None;
        }
        Some(self.line_span(*lines.start())?.start..self.line_span(*lines.end())?.end)
    }

    /// The characters of the lines `start..=end`, endings kept as they are; undecodable bytes become U+FFFD.
    ///
    /// `None` unless all of the lines exist. The byte-order mark does not belong to line 1.
    pub fn lines_text(&self, lines: RangeInclusive<usize>) -> Option<Cow<'a, str>> {
        self.lines_span(lines).map(|span| decode_lossy(&self.bytes[span], self.format.encoding))
    }

    /// All characters after the mark; undecodable bytes become U+FFFD.
    pub fn text(&self) -> Cow<'a, str> {
        decode_lossy(&self.bytes[self.text_start()..], self.format.encoding)
    }

    /// Checks whether some bytes cannot be decoded, so that [`text`](Self::text) shows U+FFFD in their place.
    pub fn is_lossy(&self) -> bool {
        let text = &self.bytes[self.text_start()..];
        match self.format.encoding {
            Encoding::Utf8 => std::str::from_utf8(text).is_err(),
            Encoding::UnknownEightBit => true,
            Encoding::Utf16Le | Encoding::Utf16Be => {
                crate::encode::decode_utf16_exact(text, self.format.encoding).is_none()
            }
        }
    }

    /// The 1-based number of the line that holds the byte at `offset_bytes`.
    ///
    /// The end of the text belongs to the last line if that has no ending, and otherwise to no line: the
    /// answer is then one more than the number of lines.
    pub fn line_at(&self, offset_bytes: usize) -> usize {
        self.line_index_at(offset_bytes) + 1
    }

    pub(crate) fn line_index_at(&self, offset_bytes: usize) -> usize {
        if offset_bytes >= self.bytes.len() && self.format.final_newline {
            return self.starts.len();
        }
        self.starts.count_up_to(offset_bytes).saturating_sub(1)
    }

    /// Returns the offset at which the line with this 0-based index begins; the end of the text for the index past the last.
    pub(crate) fn offset_of(&self, line_index: usize) -> usize {
        self.starts.get(line_index).unwrap_or(self.bytes.len())
    }

    /// The length of a line's ending: 0 for a last line without one.
    pub(crate) fn ending_bytes(&self, line_index: usize) -> usize {
        let (start, end) = (self.offset_of(line_index), self.offset_of(line_index + 1));
        let (unit, encoding) = (self.format.encoding.unit_bytes(), self.format.encoding);
        if end < start + unit || !is_unit(self.bytes, end - unit, b'\n', encoding) {
            0
        } else if end >= start + 2 * unit && is_unit(self.bytes, end - 2 * unit, b'\r', encoding) {
            2 * unit
        } else {
            unit
        }
    }

    /// The text of lines given by 0-based indexes, joined by line feeds, cut at `limit_chars`.
    pub(crate) fn quote(&self, line_indexes: Range<usize>, limit_chars: usize) -> String {
        let mut quoted = String::new();
        let mut left = limit_chars;
        for (nth, index) in line_indexes.enumerate() {
            let Some(line) = self.line_text(index + 1) else { break };
            if nth > 0 {
                quoted.push('\n');
                left = left.saturating_sub(1);
            }
            if !push_cut(&mut quoted, &line, &mut left) {
                break;
            }
        }
        quoted
    }
}

/// Appends up to `left` characters of `text`; false, and an ellipsis, if it was truncated.
pub(crate) fn push_cut(target: &mut String, text: &str, left: &mut usize) -> bool {
    for character in text.chars() {
        if *left == 0 {
            target.push('…');
            return false;
        }
        target.push(character);
        *left -= 1;
    }
    true
}

fn detect_encoding(bytes: &[u8]) -> Result<(Encoding, bool), BinaryError> {
    let probe = &bytes[..bytes.len().min(BINARY_PROBE_BYTES)];
    let utf16 = match bytes {
        // The UTF-32 mark begins like the UTF-16 one; a text does not begin with U+0000.
        [0xFF, 0xFE, 0, 0, ..] | [0xFE, 0xFF, 0, 0, ..] => return Err(BinaryError { offset_bytes: 2 }),
        [0xFF, 0xFE, ..] => Some(Encoding::Utf16Le),
        [0xFE, 0xFF, ..] => Some(Encoding::Utf16Be),
        _ => None,
    };
    if let Some(encoding) = utf16 {
        return Ok((encoding, true));
    }
    if let Some(offset_bytes) = memchr(0, probe) {
        return Err(BinaryError { offset_bytes });
    }
    if bytes.starts_with(&[0xEF, 0xBB, 0xBF]) {
        return Ok((Encoding::Utf8, true));
    }
    let encoding =
        if std::str::from_utf8(bytes).is_ok() { Encoding::Utf8 } else { Encoding::UnknownEightBit };
    Ok((encoding, false))
}

fn mark_bytes(encoding: Encoding) -> usize {
    match encoding {
        Encoding::Utf8 => 3,
        Encoding::Utf16Le | Encoding::Utf16Be => 2,
        Encoding::UnknownEightBit => 0,
    }
}

/// The offsets of the code units that are line feeds.
fn line_feeds(bytes: &[u8], text_start: usize, encoding: Encoding) -> impl Iterator<Item = usize> + '_ {
    let text = &bytes[text_start..];
    let high_first = usize::from(encoding == Encoding::Utf16Be);
    memchr_iter(b'\n', text).filter_map(move |at| {
        if encoding.unit_bytes() == 1 {
            return Some(text_start + at);
        }
        let unit_start = at.checked_sub(high_first)?;
        let is_line_feed = unit_start % 2 == 0 && is_unit(text, unit_start, b'\n', encoding);
        is_line_feed.then_some(text_start + unit_start)
    })
}

/// Checks whether the code unit at `at` is this ASCII character.
fn is_unit(bytes: &[u8], at: usize, ascii: u8, encoding: Encoding) -> bool {
    match encoding {
        Encoding::Utf8 | Encoding::UnknownEightBit => bytes.get(at) == Some(&ascii),
        Encoding::Utf16Le => bytes.get(at..at + 2) == Some(&[ascii, 0]),
        Encoding::Utf16Be => bytes.get(at..at + 2) == Some(&[0, ascii]),
    }
}
