//! Hunks: texts to find in a file, each with the text to put there.

use std::ops::RangeInclusive;

use crate::repair::omitted;

/// The numbers of signs that the marks of a hunk may have, usually seven. All marks of one hunk have the same number, so
/// that a file with such a line itself can be edited.
const SIGNS: RangeInclusive<usize> = 5..=9;

/// Whole lines to find in a file, and the lines to put there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextHunk {
    /// The lines to find, each with its LF; empty if there are none.
    pub search: String,
    /// The lines to put there, each with its LF; empty if there are none.
    pub replacement: String,
    /// The line of the reply at which the hunk begins, 1-based.
    pub line_number: u32,
    /// Lines behind which the lines to find stand, in their order. Only hunks of patches have some, and they are not rendered: they
    /// tell one of several equal passages from the others.
    pub behind: Vec<String>,
    /// True if the only line to find is named apart from its indentation, and others are added behind it.
    pub adds_behind: bool,
}

/// A fault of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HunkFault {
    /// The dividing or the last mark is missing.
    #[error("is not whole: it needs a line ======= and then a line >>>>>>> REPLACE")]
    NotWhole,
    /// There are two dividing marks.
    #[error(
        "has two lines =======, so that the end of its search text is not certain: leave one out, or write all three marks \
         with eight signs if the file has such a line"
    )]
    DividedTwice,
    /// A line outside of the marks.
    #[error("has text outside of its marks")]
    TextOutside,
}

/// One part between two marks.
type Part<'a> = Vec<&'a str>;

/// Reads the lines behind an opening mark up to the closing one; returns the two parts and the number of lines read.
pub(crate) fn parts<'a>(
    lines: impl Iterator<Item = &'a str>,
    signs: usize,
) -> Result<(Part<'a>, Part<'a>, usize), HunkFault> {
    let (mut search, mut replacement) = (Vec::new(), Vec::new());
    let mut is_divided = false;
    for (index, line) in lines.enumerate() {
        if is_mark(line, '>', signs) {
            return match is_divided {
                true => Ok((search, replacement, index + 1)),
                false => Err(HunkFault::NotWhole),
            };
        }
        if is_mark(line, '=', signs) {
            if is_divided {
                return Err(HunkFault::DividedTwice);
            }
            is_divided = true;
        } else if is_mark(line, '<', signs) {
            return Err(HunkFault::NotWhole);
        } else if is_divided {
            replacement.push(line);
        } else {
            search.push(line);
        }
    }
    Err(HunkFault::NotWhole)
}

/// Returns the number of lines, of those behind an opening mark, up to the closing one; `None` if another hunk begins before it.
pub(crate) fn length<'a>(mut lines: impl Iterator<Item = &'a str>, signs: usize) -> Option<usize> {
    let is_edge = |line: &str| is_mark(line, '>', signs) || is_mark(line, '<', signs);
    let mut length = 0;
    let edge = lines.find(|line| {
        length += 1;
        is_edge(line)
    })?;
    is_mark(edge, '>', signs).then_some(length)
}

/// Returns the number of signs of a line that opens a hunk.
pub(crate) fn opening(line: &str) -> Option<usize> {
    SIGNS.into_iter().find(|signs| is_mark(line, '<', *signs))
}

/// Checks whether a line opens (`<`), divides (`=`) or ends (`>`) a hunk that has so many signs in its marks.
fn is_mark(line: &str, sign: char, signs: usize) -> bool {
    let line = line.trim_end();
    let word = line.trim_start_matches(sign);
    line.len() - word.len() == signs
        && match sign {
            '<' => word == " SEARCH",
            '>' => word == " REPLACE",
            _ => word.is_empty(),
        }
}

/// Checks whether a line is a mark of any kind and length.
pub(crate) fn is_any_mark(line: &str) -> bool {
    SIGNS.into_iter().any(|signs| ['<', '=', '>'].into_iter().any(|sign| is_mark(line, sign, signs)))
}

/// Checks whether the first line that is not blank opens a hunk.
pub(crate) fn begin(lines: &[&str]) -> bool {
    lines.iter().find(|line| !line.trim().is_empty()).is_some_and(|line| opening(line).is_some())
}

/// Reads a body of nothing but hunks and blank lines. `None` if its first line that is not blank does not open one.
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
        let Some(signs) = opening(line) else { return Some(Err((HunkFault::TextOutside, line_number))) };
        match parts(lines[index..].iter().copied(), signs) {
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
    /// Returns a number of signs for marks that no line of the hunk is; the usual one if it will do.
    pub(crate) fn signs(&self) -> Option<usize> {
        let lines = || self.search.lines().chain(self.replacement.lines());
        let is_free = |signs: &usize| {
            lines().all(|line| ['<', '=', '>'].iter().all(|sign| !is_mark(line, *sign, *signs)))
        };
        std::iter::once(7).chain(SIGNS).find(is_free)
    }

    /// Returns the first line to put there that stands for omitted code.
    pub(crate) fn omitted(&self, path: &str) -> Option<&str> {
        let lines = |text| -> Vec<&str> { str::lines(text).collect() };
        omitted(path, &lines(&self.search), &lines(&self.replacement))
    }

    /// Makes a hunk of lines without their ends.
    pub(crate) fn of(search: &[&str], replacement: &[&str], line_number: u32) -> TextHunk {
        let replacement = replacement.iter().flat_map(|line| [line, "\n"]).collect();
        // A search text of one blank line differs from an empty one by its line feed.
        let search = if search.is_empty() { String::new() } else { format!("{}\n", search.join("\n")) };
        TextHunk { search, replacement, line_number, behind: Vec::new(), adds_behind: false }
    }
}
