//! The lines of a text, with their endings.

/// How many lines an excerpt shows before and after what it is about.
const EXCERPT_MARGIN: usize = 3;
/// How many lines an excerpt shows at most.
const EXCERPT_LINES: usize = 40;

/// Splits at LF; every line keeps its ending. An empty text has no lines.
pub(super) fn split(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Returns a line without its LF or CR LF.
pub(super) fn without_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns the ending that most lines have, LF if there is none.
pub(super) fn dominant_ending(lines: &[&[u8]]) -> &'static [u8] {
    let ended = lines.iter().filter(|line| line.ends_with(b"\n")).count();
    let with_return = lines.iter().filter(|line| line.ends_with(b"\r\n")).count();
    if with_return * 2 > ended { b"\r\n" } else { b"\n" }
}

/// Splits the content of an operation: one trailing newline adds no extra line, and an empty content is a blank line.
pub(super) fn content_lines(content: &str) -> Vec<&str> {
    let content = content.strip_suffix('\n').unwrap_or(content);
    content.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect()
}

/// Some lines with their numbers, for error details.
#[derive(Debug)]
pub(super) struct Excerpt {
    /// The lines, each as `  12| text`.
    pub(super) text: String,
    /// First line shown, 1-based.
    pub(super) first: usize,
    /// Last line shown, 1-based and inclusive; before `first` for an empty text.
    pub(super) last: usize,
}

impl Excerpt {
    /// Shows exactly the lines `first..=last` (1-based), cut to what exists and to the bound.
    pub(super) fn of(lines: &[&[u8]], first: usize, last: usize) -> Excerpt {
        let last = last.min(lines.len()).min(first + EXCERPT_LINES - 1);
        let text = (first..=last)
            .map(|number| {
                let line = without_ending(lines[number - 1]);
                format!("{number:>4}| {}", String::from_utf8_lossy(line))
            })
            .collect::<Vec<_>>()
            .join("\n");
        Excerpt { text, first, last }
    }

    /// Shows the lines `first..=last` and a few around them.
    pub(super) fn around(lines: &[&[u8]], first: usize, last: usize) -> Excerpt {
        let first = first.clamp(1, lines.len().max(1));
        let last = last.clamp(first, lines.len().max(first));
        Excerpt::of(lines, first.saturating_sub(EXCERPT_MARGIN).max(1), last + EXCERPT_MARGIN)
    }
}
