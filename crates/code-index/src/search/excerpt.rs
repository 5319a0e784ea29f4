//! The excerpt of a hit.

use std::ops::Range;

use memchr::memmem;

use crate::hidden_parts::VisibleContent;
use crate::search::query::Term;
use crate::words;

/// The longest line in bytes; a longer one is truncated around its first match. Such lines are usually generated, and one of them
/// could fill the whole answer.
const LINE_BYTES: usize = 400;
/// The number of bytes that a cut line keeps before the match.
const BYTES_BEFORE: usize = 100;

/// Renders the lines in a byte range of a content, with their endings; `…` marks a cut. No cut divides a hidden part.
pub(crate) fn excerpt(
    content: &[u8],
    visible: &VisibleContent<'_>,
    piece: Range<usize>,
    terms: &[Term],
) -> String {
    let mut excerpt = String::new();
    let mut start = piece.start;
    for line in content[piece].split_inclusive(|byte| *byte == b'\n') {
        let end = start + line.len();
        match line.len() > LINE_BYTES {
            true => push_cut(&mut excerpt, content, visible, start..end, terms),
            false => excerpt.push_str(&String::from_utf8_lossy(line)),
        }
        start = end;
    }
    excerpt
}

/// Adds a part of a long line.
fn push_cut(
    excerpt: &mut String,
    content: &[u8],
    visible: &VisibleContent<'_>,
    line: Range<usize>,
    terms: &[Term],
) {
    let has_ending = content[line.clone()].ends_with(b"\n");
    let text_end = line.end - usize::from(has_ending);
    let matched_at = line.start + first_match(&visible.bytes[line.start..text_end], terms);
    let start = boundary(content, matched_at.saturating_sub(BYTES_BEFORE).max(line.start), line.start);
    let start = visible.divided_at(start).map_or(start, |part| part.end.min(text_end));
    let end = boundary(content, (start + LINE_BYTES).min(text_end), start);
    let end = visible.divided_at(end).map_or(end, |part| part.start.max(start));
    excerpt.push_str(if start > line.start { "…" } else { "" });
    excerpt.push_str(&String::from_utf8_lossy(&content[start..end]));
    excerpt.push_str(if end < text_end { "…" } else { "" });
    excerpt.push_str(if has_ending { "\n" } else { "" });
}

/// Returns the nearest boundary between characters at or before a byte.
fn boundary(content: &[u8], at: usize, least: usize) -> usize {
    let is_within = |at: usize| content.get(at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    // No character has more than four bytes; longer runs are not text.
    (least..=at).rev().take(4).find(|at| !is_within(*at)).unwrap_or(at)
}

/// Returns the offset of the first match of any term, or 0.
fn first_match(text: &[u8], terms: &[Term]) -> usize {
    let folded = text.to_ascii_lowercase();
    let offsets = terms.iter().filter_map(|term| {
        let mut candidates = memmem::find_iter(&folded, term.needle());
        candidates.find(|at| words::begins_at(text, *at, &term.word))
    });
    offsets.min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> [Term; 1] {
        // Terms hold stems, as the store does.
        [Term { word: "needl".to_owned(), files: 1.0, weight: 1.0, selects: true, is_whole: false }]
    }

    fn rendered(piece: &str) -> String {
        let (content, whole) = (piece.as_bytes(), 0..piece.len());
        excerpt(content, &VisibleContent::new(content, None), whole, &terms())
    }

    #[test]
    fn lines_of_usual_length_stay_as_they_are() {
        let piece = format!("a needle\r\n{}\nend", "x".repeat(LINE_BYTES - 1));
        assert_eq!(rendered(&piece), piece);
    }

    #[test]
    fn a_long_line_is_cut_around_the_match_between_characters() {
        let piece = format!("before\n{} needle {}\nafter", "ä".repeat(5_000), "ö".repeat(5_000));
        let rendered = rendered(&piece);
        let lines: Vec<&str> = rendered.split('\n').collect();
        assert_eq!((lines[0], lines[2]), ("before", "after"));
        assert!(lines[1].len() < LINE_BYTES + 10, "{}", lines[1].len());
        assert!(lines[1].starts_with("…ä") && lines[1].contains("ä needle ö") && lines[1].ends_with("ö…"));
    }

    #[test]
    fn a_long_line_without_a_match_keeps_its_start() {
        let rendered = rendered(&"word ".repeat(1_000));
        assert!(rendered.starts_with("word ") && rendered.ends_with('…'), "{rendered}");
    }
}
