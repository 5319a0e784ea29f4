//! Replacing an exact match that may begin and end within lines, byte by byte.

use std::ops::Range;

use memchr::memmem;

use super::TextMatch;
use crate::encode::{Unencodable, encode, encode_any};
use crate::line_map::byte_edits::ByteEdit;
use crate::{EditErrorKind, LineMap, SearchText, Source, TextFormat};

/// The bytes of a match that belong to one line of the search text.
struct MatchedLine {
    text: Range<usize>,
    /// Empty for the last line.
    ending: Range<usize>,
}

/// A text with a replaced match.
pub(crate) struct ReplacedBytes {
    pub(crate) bytes: Vec<u8>,
    /// The bytes of the match in the text before.
    pub(crate) old: Range<usize>,
    /// The bytes that replaced it.
    pub(crate) new: Range<usize>,
}

impl TextMatch {
    /// Replaces the bytes of the match and no others. Lines that the replacement shares with the search text keep theirs, and new
    /// line feeds become the dominant ending.
    ///
    /// # Errors
    ///
    /// [`EditErrorKind::UndecodableMatch`] if the search text has the character that stands for undecodable bytes, and
    /// [`EditErrorKind::Unencodable`].
    pub(crate) fn replaced_bytes(
        &self,
        source: &Source<'_>,
        format: &TextFormat,
        search: &SearchText,
        replacement: &str,
    ) -> Result<ReplacedBytes, EditErrorKind> {
        let matched = self
            .matched_lines(source, search.as_str())
            .ok_or_else(|| EditErrorKind::UndecodableMatch { lines: self.lines.clone() })?;
        let old = extent(&matched);
        let replacement = Replacement::of(source, format, search.as_str(), replacement);
        let mut bytes = source.bytes()[..old.start].to_vec();
        replacement.write(&matched, &mut bytes)?;
        let new = old.start..bytes.len();
        bytes.extend_from_slice(&source.bytes()[old.end..]);
        Ok(ReplacedBytes { bytes, old, new })
    }

    /// Finds the bytes of the match, which begins within its first line. `None` if bytes there only look like the search text.
    fn matched_lines(&self, source: &Source<'_>, search: &str) -> Option<Vec<MatchedLine>> {
        let encoding = source.format().encoding;
        let pieces: Vec<Vec<u8>> = search.split('\n').map(|piece| encode_any(piece, encoding)).collect();
        let span = source.line_span(*self.lines.start())?;
        let text_end = span.end - source.ending_bytes(self.lines.start() - 1);
        if pieces.len() > 1 {
            // Up to its first line feed, the match ends with the text of its first line.
            let start = text_end.checked_sub(pieces[0].len()).filter(|start| *start >= span.start)?;
            return follow(source, &pieces, start);
        }
        let line = &source.bytes()[span.start..text_end];
        let finder = memmem::Finder::new(&pieces[0]);
        let mut at = finder.find(line)?;
        // Two halves of code units may look like one, and a false match that begins there may hide a real one that overlaps it.
        while !at.is_multiple_of(encoding.unit_bytes()) {
            at += 1 + finder.find(&line[at + 1..])?;
        }
        follow(source, &pieces, span.start + at)
    }
}

/// Matches the pieces of a search text from a byte on, across line endings of any kind.
fn follow(source: &Source<'_>, pieces: &[Vec<u8>], start: usize) -> Option<Vec<MatchedLine>> {
    let mut lines = Vec::with_capacity(pieces.len());
    let mut at = start;
    for (nth, piece) in pieces.iter().enumerate() {
        let text = at..at + piece.len();
        if source.bytes().get(text.clone())? != piece.as_slice() {
            return None;
        }
        at = text.end;
        if nth + 1 < pieces.len() {
            let line_index = source.line_index_at(text.start);
            let end = source.offset_of(line_index + 1);
            let ending = source.ending_bytes(line_index);
            if ending == 0 || end - ending != at {
                return None;
            }
            at = end;
        }
        lines.push(MatchedLine { ending: text.end..at, text });
    }
    Some(lines)
}

/// A text with all matches replaced.
pub(crate) struct ReplacedEverywhere {
    pub(crate) bytes: Vec<u8>,
    pub(crate) edits: Vec<ByteEdit>,
}

/// Replaces the bytes of all matches of a text that may begin and end within lines, and no others. The matches do not overlap.
///
/// # Errors
///
/// [`EditErrorKind::Unencodable`], and [`EditErrorKind::ResultTooLarge`].
pub(crate) fn replaced_everywhere(
    source: &Source<'_>,
    format: &TextFormat,
    search: &SearchText,
    replacement: &str,
    limit_bytes: usize,
) -> Result<ReplacedEverywhere, EditErrorKind> {
    let replacement = Replacement::of(source, format, search.as_str(), replacement);
    let (mut bytes, mut edits, mut copied) = (Vec::new(), Vec::new(), 0);
    for matched in all_matched(source, search.as_str()) {
        let old = extent(&matched);
        bytes.extend_from_slice(&source.bytes()[copied..old.start]);
        let start = bytes.len();
        replacement.write(&matched, &mut bytes)?;
        if bytes.len() > limit_bytes {
            return Err(EditErrorKind::ResultTooLarge { limit_bytes });
        }
        copied = old.end;
        edits.push(ByteEdit { old, new: start..bytes.len() });
    }
    bytes.extend_from_slice(&source.bytes()[copied..]);
    Ok(ReplacedEverywhere { bytes, edits })
}

/// Finds the bytes of all matches, from the start of the text.
fn all_matched(source: &Source<'_>, search: &str) -> Vec<Vec<MatchedLine>> {
    let (encoding, unit) = (source.format().encoding, source.format().encoding.unit_bytes());
    let pieces: Vec<Vec<u8>> = search.split('\n').map(|piece| encode_any(piece, encoding)).collect();
    let finder = memmem::Finder::new(&pieces[0]);
    let (mut all, mut from) = (Vec::new(), source.text_start());
    for line_number in 1..=source.total_lines() {
        let Some(span) = source.line_span(line_number) else { break };
        let text_end = span.end - source.ending_bytes(line_number - 1);
        let mut at = from.max(span.start);
        while at <= text_end {
            let start = match pieces.len() {
                1 => finder.find(&source.bytes()[at..text_end]).map(|offset| at + offset),
                _ => text_end.checked_sub(pieces[0].len()).filter(|start| *start >= at),
            };
            let Some(start) = start else { break };
            let is_aligned = (start - source.text_start()).is_multiple_of(unit);
            match follow(source, &pieces, start).filter(|_| is_aligned) {
                Some(matched) => {
                    from = extent(&matched).end;
                    // A text that matches no byte would match there again.
                    at = from.max(start + 1);
                    all.push(matched);
                }
                None => at = start + 1,
            }
        }
    }
    all
}

fn extent(matched: &[MatchedLine]) -> Range<usize> {
    matched[0].text.start..matched[matched.len() - 1].text.end
}

/// A replacement that keeps the bytes of the lines that it shares with the search text.
struct Replacement<'a> {
    source: &'a Source<'a>,
    format: &'a TextFormat,
    text: String,
    kept: Vec<(usize, usize)>,
}

impl<'a> Replacement<'a> {
    fn of(
        source: &'a Source<'a>,
        format: &'a TextFormat,
        search: &str,
        replacement: &str,
    ) -> Replacement<'a> {
        let text = replacement.replace("\r\n", "\n");
        let kept = kept_lines(search, text.strip_prefix('\u{FEFF}').unwrap_or(&text));
        Replacement { source, format, text, kept }
    }

    /// Writes the replacement of one match.
    fn write(&self, matched: &[MatchedLine], bytes: &mut Vec<u8>) -> Result<(), EditErrorKind> {
        let (source, encoding) = (self.source, self.format.encoding);
        // A model that saw the mark as part of line 1 sends it back, but the text already has it.
        let text = match self.text.strip_prefix('\u{FEFF}') {
            Some(rest) if self.format.byte_order_mark && matched[0].text.start == source.text_start() => rest,
            _ => &self.text,
        };
        let mut ending = Vec::new();
        encode(self.format.line_ending.as_str(), encoding, &mut ending)
            .expect("every encoding has the line endings");
        let lines: Vec<&str> = text.split('\n').collect();
        let mut kept = self.kept.iter().peekable();
        for (index, line) in lines.iter().enumerate() {
            let old = kept.next_if(|(_, new)| *new == index).map(|(old, _)| &matched[*old]);
            match old {
                Some(old) => bytes.extend_from_slice(&source.bytes()[old.text.clone()]),
                None => encode(line, encoding, bytes).map_err(|Unencodable(character)| {
                    EditErrorKind::Unencodable { character, encoding, content_line: index + 1 }
                })?,
            }
            if index + 1 < lines.len() {
                match old.filter(|old| !old.ending.is_empty()) {
                    Some(old) => bytes.extend_from_slice(&source.bytes()[old.ending.clone()]),
                    None => bytes.extend_from_slice(&ending),
                }
            }
        }
        Ok(())
    }
}

/// Returns the lines that a replacement shares with the search text, as pairs of 0-based indexes in ascending order.
fn kept_lines(search: &str, replacement: &str) -> Vec<(usize, usize)> {
    let [old, new] = [search, replacement].map(|text| format!("{text}\n"));
    let (Ok(old), Ok(new)) = (Source::parse(old.as_bytes()), Source::parse(new.as_bytes())) else {
        return Vec::new();
    };
    let map = LineMap::between(&old, &new);
    let mut kept = Vec::new();
    let (mut at_old, mut at_new) = (0, 0);
    let ends = (old.total_lines()..old.total_lines(), new.total_lines()..new.total_lines());
    for (hunk_old, hunk_new) in
        map.hunks().iter().map(|hunk| (hunk.old.clone(), hunk.new.clone())).chain([ends])
    {
        kept.extend((at_old..hunk_old.start).zip(at_new..hunk_new.start));
        (at_old, at_new) = (hunk_old.end, hunk_new.end);
    }
    kept
}
