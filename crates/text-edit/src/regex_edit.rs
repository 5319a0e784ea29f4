//! Regular-expression edits over a whole text.

mod matches;
pub(crate) mod pattern;
mod replacement;

use std::ops::Range;

use crate::encode::{Unencodable, decode_utf16_exact, encode};
use crate::line_map::byte_edits::{self, ByteEdit};
use crate::regex_edit::matches::Matches;
use crate::regex_edit::pattern::Pattern;
use crate::regex_edit::replacement::Piece;
use crate::work::Work;
use crate::{EditErrorKind, EditLimits, Encoding, LineMap, Source, TextFormat};

/// The result of a regular-expression edit.
#[derive(Debug)]
pub(crate) struct Replaced {
    pub(crate) bytes: Vec<u8>,
    pub(crate) map: LineMap,
    /// The number of matches that were replaced.
    pub(crate) replacements: usize,
    /// The number of matches; a lower bound if counting the remaining ones takes too long.
    pub(crate) matches: usize,
}

/// The steps for counting the remaining matches, apart from [`COUNT_STEPS_A_BYTE`] for each byte of the text.
const COUNT_STEPS: u64 = 1 << 22;

/// The additional steps for each byte of the text.
const COUNT_STEPS_A_BYTE: u64 = 4;

/// Replaces the first or all matches of `pattern` in `base`.
pub(crate) fn replace(
    base: &Source<'_>,
    format: &TextFormat,
    pattern: &Pattern,
    replacement: &str,
    limits: &EditLimits,
    work: &mut Work<'_>,
) -> Result<Replaced, EditErrorKind> {
    let scope = (base, format);
    let text = &base.bytes()[base.text_start()..];
    if format.encoding.unit_bytes() == 2 {
        let undecodable = EditErrorKind::Undecodable { encoding: format.encoding };
        let decoded = decode_utf16_exact(text, format.encoding).ok_or(undecodable)?;
        return replace_in(scope, pattern, replacement, limits, (decoded.as_bytes(), true), work);
    }
    let is_text = std::str::from_utf8(text).is_ok();
    replace_in(scope, pattern, replacement, limits, (text, is_text), work)
}

/// Replaces matches in the decoded view `text`: characters if the text could be decoded, its bytes if not.
fn replace_in(
    (base, format): (&Source<'_>, &TextFormat),
    pattern: &Pattern,
    replacement: &str,
    limits: &EditLimits,
    (text, is_text): (&[u8], bool),
    work: &mut Work<'_>,
) -> Result<Replaced, EditErrorKind> {
    let engine = pattern.compile(is_text)?;
    work.check_cancelled()?;
    let template = Template::new(replacement, &engine.group_names(), format)?;
    let mut writer = Writer::new(base, format, limits, text);
    let mut matches = Matches::new(&engine, text);
    while matches.advance(work)? {
        // Over bytes, an empty match may fall into the middle of a character.
        let is_split = |range: Range<usize>| range.is_empty() && splits_character(text, range.start);
        if !is_text && matches.group(0).is_some_and(is_split) {
            continue;
        }
        work.spend(template.pieces.len() as u64)?;
        writer.replace(|index| matches.group(index), &template)?;
        if !pattern.is_global() {
            let rest = count_rest(&mut matches, text, is_text, work)?;
            return Ok(Replaced { matches: 1 + rest, ..writer.finish()? });
        }
    }
    writer.finish()
}

/// Counts the remaining matches. It has its own budget of steps, so that it cannot make a call fail.
fn count_rest(
    matches: &mut Matches<'_, '_>,
    text: &[u8],
    is_text: bool,
    work: &Work<'_>,
) -> Result<usize, EditErrorKind> {
    let mut work = work.separate(COUNT_STEPS + COUNT_STEPS_A_BYTE * text.len() as u64);
    let mut count = 0;
    loop {
        match matches.advance(&mut work) {
            Ok(true) => {
                let is_split = |range: Range<usize>| range.is_empty() && splits_character(text, range.start);
                if is_text || !matches.group(0).is_some_and(is_split) {
                    count += 1;
                }
            }
            Ok(false) | Err(EditErrorKind::TooMuchWork { .. }) => return Ok(count),
            Err(kind) => return Err(kind),
        }
    }
}

/// Checks whether the byte at `at` may continue a multi-byte character.
fn splits_character(text: &[u8], at: usize) -> bool {
    let continues = text.get(at).is_some_and(|byte| (0x80..0xC0).contains(byte));
    let begun = at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(|byte| *byte >= 0x80);
    continues && begun
}

/// A replacement whose literal pieces are in the text's encoding.
struct Template {
    pieces: Vec<EncodedPiece>,
    /// The reason why the replacement cannot be written. It is an error only once something matches.
    unencodable: Option<EditErrorKind>,
}

enum EncodedPiece {
    Literal(Vec<u8>),
    Group(usize),
}

impl Template {
    fn new(replacement: &str, names: &[Option<&str>], format: &TextFormat) -> Result<Self, EditErrorKind> {
        let mut template = Self { pieces: Vec::new(), unencodable: None };
        for piece in replacement::parse(replacement, names, format.line_ending)? {
            template.pieces.push(match piece {
                Piece::Group(group) => EncodedPiece::Group(group),
                Piece::Literal(text) => {
                    let mut bytes = Vec::new();
                    if let Err(Unencodable(character)) = encode(&text, format.encoding, &mut bytes) {
                        let at = replacement.find(character).unwrap_or(0);
                        let content_line = 1 + replacement[..at].matches('\n').count();
                        let encoding = format.encoding;
                        template.unencodable =
                            Some(EditErrorKind::Unencodable { character, encoding, content_line });
                    }
                    EncodedPiece::Literal(bytes)
                }
            });
        }
        Ok(template)
    }
}

/// Copies the text and writes replacements into it.
///
/// Matches are offsets into `text`, the decoded view. The text's own bytes are copied, never encoded again.
struct Writer<'a> {
    base: &'a Source<'a>,
    format: &'a TextFormat,
    text: &'a [u8],
    limit_bytes: usize,
    bytes: Vec<u8>,
    cursor: Cursor<'a>,
    /// The offset into the base from which copying continues.
    copied: usize,
    edits: Vec<ByteEdit>,
    replacements: usize,
}

impl<'a> Writer<'a> {
    fn new(base: &'a Source<'a>, format: &'a TextFormat, limits: &EditLimits, text: &'a [u8]) -> Self {
        let copied = base.text_start();
        Self {
            base,
            format,
            text,
            limit_bytes: limits.result_limit_bytes.max(base.bytes().len()),
            bytes: base.bytes()[..copied].to_vec(),
            cursor: Cursor { text, wide: format.encoding.unit_bytes() == 2, at: 0, base_offset: copied },
            copied,
            edits: Vec::new(),
            replacements: 0,
        }
    }

    fn replace(
        &mut self,
        group: impl Fn(usize) -> Option<Range<usize>>,
        template: &Template,
    ) -> Result<(), EditErrorKind> {
        let Some(whole) = group(0) else { return Ok(()) };
        if let Some(unencodable) = &template.unencodable {
            return Err(unencodable.clone());
        }
        let old = self.cursor.advance(whole.start)..self.cursor.advance(whole.end);
        self.bytes.extend_from_slice(&self.base.bytes()[self.copied..old.start]);
        self.copied = old.end;
        let new_start = self.bytes.len();
        for piece in &template.pieces {
            match piece {
                EncodedPiece::Literal(bytes) => self.bytes.extend_from_slice(bytes),
                EncodedPiece::Group(index) => {
                    if let Some(range) = group(*index) {
                        self.copy_group(range);
                    }
                }
            }
            if self.bytes.len() > self.limit_bytes {
                return Err(EditErrorKind::ResultTooLarge { limit_bytes: self.limit_bytes });
            }
        }
        self.replacements += 1;
        if self.bytes[new_start..] != self.base.bytes()[old.clone()] {
            self.edited(ByteEdit { old, new: new_start..self.bytes.len() });
        }
        Ok(())
    }

    /// Records an edit. Edits of the same line are merged: a long line can have tens of millions.
    fn edited(&mut self, edit: ByteEdit) {
        match self.edits.last_mut() {
            Some(last) if !self.base.bytes()[last.old.end..edit.old.start].contains(&b'\n') => {
                last.old.end = edit.old.end;
                last.new.end = edit.new.end;
            }
            _ => self.edits.push(edit),
        }
    }

    fn copy_group(&mut self, range: Range<usize>) {
        let matched = &self.text[range];
        match self.format.encoding {
            Encoding::Utf8 | Encoding::UnknownEightBit => self.bytes.extend_from_slice(matched),
            encoding => {
                let matched = std::str::from_utf8(matched)
                    .expect("groups of a match in a str are on character boundaries");
                // A NUL that the text already has is copied as it is, and must not reach `encode`.
                for unit in matched.encode_utf16() {
                    let pair =
                        if encoding == Encoding::Utf16Be { unit.to_be_bytes() } else { unit.to_le_bytes() };
                    self.bytes.extend_from_slice(&pair);
                }
            }
        }
    }

    fn finish(mut self) -> Result<Replaced, EditErrorKind> {
        self.bytes.extend_from_slice(&self.base.bytes()[self.copied..]);
        if self.bytes.len() > self.limit_bytes {
            return Err(EditErrorKind::ResultTooLarge { limit_bytes: self.limit_bytes });
        }
        let new = Source::of_edited(&self.bytes, self.format);
        let map = byte_edits::line_map(self.base, &new, &self.edits);
        Ok(Replaced { bytes: self.bytes, map, replacements: self.replacements, matches: self.replacements })
    }
}

/// Converts offsets of the decoded view, requested in ascending order, into offsets of the base.
struct Cursor<'a> {
    text: &'a [u8],
    wide: bool,
    at: usize,
    base_offset: usize,
}

impl Cursor<'_> {
    fn advance(&mut self, to: usize) -> usize {
        let passed = &self.text[self.at..to];
        self.base_offset += if self.wide {
            let text = std::str::from_utf8(passed).expect("matches in a str are on character boundaries");
            text.chars().map(|character| 2 * character.len_utf16()).sum()
        } else {
            passed.len()
        };
        self.at = to;
        self.base_offset
    }
}
