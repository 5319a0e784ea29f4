//! Hunks: texts to find in a file, each with its replacement.

use std::ops::RangeInclusive;

use crate::repair::omitted;

/// The possible lengths of the marks of a hunk, usually seven. All marks of one hunk have the same length, so a file with such a
/// line can be edited.
const MARK_LENGTHS: RangeInclusive<usize> = 5..=9;

/// Whole lines to find in a file, and the lines that replace them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextHunk {
    /// The lines to find, each with its LF; empty if there are none.
    pub search: String,
    /// The lines that replace them, each with its LF; empty if there are none.
    pub replacement: String,
    /// The line of the reply at which the hunk begins, 1-based.
    pub line_number: u32,
    /// Lines that precede the lines to find, in their order. Only hunks of patches have them, to select one of several equal
    /// passages; they are not rendered.
    pub anchors: Vec<String>,
    /// True if the only line to find is an anchor, given without its indentation, after which lines are added.
    pub adds_after_anchor: bool,
    /// True if no line before the hunk names its file, which is that of the hunk or heading above it.
    pub has_assumed_file: bool,
}

/// A fault of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HunkFault {
    /// The dividing or the last mark is missing.
    #[error("is not whole: it needs a line ======= and then a line >>>>>>> REPLACE")]
    NotWhole,
    /// The last mark has text after it.
    #[error("has text after its last mark: write >>>>>>> REPLACE alone on its line")]
    TextAfterMark,
    /// There are two dividing marks.
    #[error(
        "has two lines =======, so that the end of its search text is not certain: leave one out, or write all three marks \
         with eight characters if the file has such a line"
    )]
    DividedTwice,
    /// A line outside of the marks.
    #[error("has text outside of its marks")]
    TextOutside,
}

/// One part between two marks.
type Part<'a> = Vec<&'a str>;

/// Reads the lines from an opening mark to the closing mark; returns the two parts and the number of lines read.
pub(crate) fn parts<'a>(
    lines: impl Iterator<Item = &'a str>,
    mark_length: usize,
) -> Result<(Part<'a>, Part<'a>, usize), HunkFault> {
    let (mut search, mut replacement) = (Vec::new(), Vec::new());
    let mut is_divided = false;
    let mut not_whole = HunkFault::NotWhole;
    for (index, line) in lines.enumerate() {
        if is_mark(line, '>', mark_length) {
            return match is_divided {
                true => Ok((search, replacement, index + 1)),
                false => Err(not_whole),
            };
        }
        if is_divided && is_last_mark_and_text(line, mark_length) {
            not_whole = HunkFault::TextAfterMark;
        }
        if is_mark(line, '=', mark_length) {
            if is_divided {
                return Err(HunkFault::DividedTwice);
            }
            is_divided = true;
        } else if is_mark(line, '<', mark_length) {
            return Err(not_whole);
        } else if is_divided {
            replacement.push(line);
        } else {
            search.push(line);
        }
    }
    Err(not_whole)
}

/// Returns the number of lines after an opening mark, up to the closing mark; `None` if another hunk begins before it.
pub(crate) fn length<'a>(mut lines: impl Iterator<Item = &'a str>, mark_length: usize) -> Option<usize> {
    let is_edge = |line: &str| is_mark(line, '>', mark_length) || is_mark(line, '<', mark_length);
    let mut length = 0;
    let edge = lines.find(|line| {
        length += 1;
        is_edge(line)
    })?;
    is_mark(edge, '>', mark_length).then_some(length)
}

/// Returns the length of the mark if a line opens a hunk.
pub(crate) fn opening(line: &str) -> Option<usize> {
    MARK_LENGTHS.into_iter().find(|mark_length| is_mark(line, '<', *mark_length))
}

/// Checks whether a line opens (`<`), divides (`=`) or ends (`>`) a hunk with marks of a length.
fn is_mark(line: &str, mark: char, mark_length: usize) -> bool {
    let line = line.trim_end();
    let word = line.trim_start_matches(mark);
    line.len() - word.len() == mark_length
        && match mark {
            '<' => word == " SEARCH",
            '>' => word == " REPLACE",
            _ => word.is_empty(),
        }
}

/// Checks for the last mark of a hunk with other text after it.
fn is_last_mark_and_text(line: &str, mark_length: usize) -> bool {
    let word = line.trim_start_matches('>');
    line.len() - word.len() == mark_length && word.starts_with(" REPLACE")
}

/// Checks whether a line is a mark of any kind and length.
pub(crate) fn is_any_mark(line: &str) -> bool {
    MARK_LENGTHS
        .into_iter()
        .any(|mark_length| ['<', '=', '>'].into_iter().any(|mark| is_mark(line, mark, mark_length)))
}

/// Checks whether the first line that is not blank opens a hunk.
pub(crate) fn begin(lines: &[&str]) -> bool {
    lines.iter().find(|line| !line.trim().is_empty()).is_some_and(|line| opening(line).is_some())
}

/// Reads a body of nothing but hunks and blank lines. `None` if its first line that is not blank does not open a hunk.
pub(crate) fn hunks<'a>(
    body: impl Iterator<Item = &'a str>,
    first_line: usize,
) -> Option<Result<Vec<TextHunk>, (HunkFault, u32)>> {
    let lines: Vec<&str> = body.collect();
    if !begin(&lines) {
        return None;
    }
    let mut hunks = Vec::new();
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        let line_number = crate::span::line_number(first_line + index);
        index += 1;
        if line.trim().is_empty() {
            continue;
        }
        let Some(mark_length) = opening(line) else {
            return Some(Err((HunkFault::TextOutside, line_number)));
        };
        match parts(lines[index..].iter().copied(), mark_length) {
            Ok((search, replacement, read)) => {
                hunks.push(TextHunk::of(&search, &replacement, line_number));
                index += read;
            }
            Err(fault) => return Some(Err((fault, line_number))),
        }
    }
    Some(Ok(hunks))
}

impl TextHunk {
    /// Returns a length for marks that no line of the hunk equals, preferably the usual one.
    pub(crate) fn mark_length(&self) -> Option<usize> {
        let lines = || self.search.lines().chain(self.replacement.lines());
        let is_free = |mark_length: &usize| {
            lines().all(|line| ['<', '=', '>'].iter().all(|mark| !is_mark(line, *mark, *mark_length)))
        };
        std::iter::once(7).chain(MARK_LENGTHS).find(is_free)
    }

    /// Returns the first replacement line that stands for omitted code.
    pub(crate) fn omitted(&self, path: &str) -> Option<&str> {
        let lines = |text| -> Vec<&str> { str::lines(text).collect() };
        omitted(path, &lines(&self.search), &lines(&self.replacement))
    }

    /// Creates a hunk from lines without their ends.
    pub(crate) fn of(search: &[&str], replacement: &[&str], line_number: u32) -> TextHunk {
        let replacement = replacement.iter().flat_map(|line| [line, "\n"]).collect();
        // A search text of one blank line differs from an empty one by its line feed.
        let search = if search.is_empty() { String::new() } else { format!("{}\n", search.join("\n")) };
        TextHunk {
            search,
            replacement,
            line_number,
            anchors: Vec::new(),
            adds_after_anchor: false,
            has_assumed_file: false,
        }
    }
}
