//! The excerpt of a hit.

use memchr::memmem;

use crate::search::query::Term;
use crate::words;

/// The longest line in bytes; a longer one is cut around its first match. Such lines are usually generated, and
/// one of them could fill the whole answer.
const LINE_BYTES: usize = 400;
/// The number of bytes that a cut line keeps before the match.
const BYTES_BEFORE: usize = 100;

/// Renders lines with their endings; `…` marks a cut.
pub(crate) fn excerpt(piece: &[u8], terms: &[Term]) -> String {
    let render = |line: &[u8]| match line.len() > LINE_BYTES {
        true => cut(line, terms),
        false => String::from_utf8_lossy(line).into_owned(),
    };
    piece.split_inclusive(|byte| *byte == b'\n').map(render).collect()
}

fn cut(line: &[u8], terms: &[Term]) -> String {
    let text = String::from_utf8_lossy(line);
    let (text, ending) = match text.strip_suffix('\n') {
        Some(text) => (text, "\n"),
        None => (&*text, ""),
    };
    let start = text.floor_char_boundary(first_match(text, terms).saturating_sub(BYTES_BEFORE));
    let end = text.floor_char_boundary(start + LINE_BYTES);
    let mark = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{}{}{ending}", mark(start > 0), &text[start..end], mark(end < text.len()))
}

/// Returns the offset of the first match of any term, or 0.
fn first_match(text: &str, terms: &[Term]) -> usize {
    let folded = text.to_ascii_lowercase();
    let offsets = terms.iter().filter_map(|term| {
        let mut candidates = memmem::find_iter(folded.as_bytes(), term.needle());
        candidates.find(|at| words::stands_at(text.as_bytes(), *at, &term.word))
    });
    offsets.min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{LINE_BYTES, excerpt};
    use crate::search::query::Term;

    fn terms() -> [Term; 1] {
        // Terms hold stems, as the store does.
        [Term { word: "needl".to_owned(), files: 1.0, weight: 1.0, selects: true, is_whole: false }]
    }

    #[test]
    fn lines_of_usual_length_stay_as_they_are() {
        let piece = format!("a needle\r\n{}\nend", "x".repeat(LINE_BYTES - 1));
        assert_eq!(excerpt(piece.as_bytes(), &terms()), piece);
    }

    #[test]
    fn a_long_line_is_cut_around_the_match_between_characters() {
        let piece = format!("before\n{} needle {}\nafter", "ä".repeat(5_000), "ö".repeat(5_000));
        let rendered = excerpt(piece.as_bytes(), &terms());
        let lines: Vec<&str> = rendered.split('\n').collect();
        assert_eq!((lines[0], lines[2]), ("before", "after"));
        assert!(lines[1].len() < LINE_BYTES + 10, "{}", lines[1].len());
        assert!(lines[1].starts_with("…ä") && lines[1].contains("ä needle ö") && lines[1].ends_with("ö…"));
    }

    #[test]
    fn a_long_line_without_a_match_keeps_its_start() {
        let rendered = excerpt("word ".repeat(1_000).as_bytes(), &terms());
        assert!(rendered.starts_with("word ") && rendered.ends_with('…'), "{rendered}");
    }
}
