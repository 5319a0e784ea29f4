//! A few numbered lines of a text, for people and models to look at.

use std::fmt;
use std::ops::RangeInclusive;

use crate::Source;
use crate::source::push_cut;

/// Bounds on an excerpt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExcerptLimits {
    /// The most lines.
    pub line_limit: usize,
    /// The most characters of one line.
    pub line_limit_chars: usize,
}

impl Default for ExcerptLimits {
    /// 40 lines of 400 characters.
    fn default() -> Self {
        Self { line_limit: 40, line_limit_chars: 400 }
    }
}

/// Lines of a text with their numbers. Displayed as `number|line`, one per line, as in numbered views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The lines, in order and without gaps.
    pub lines: Vec<ExcerptLine>,
    /// The number of lines after the last one that the limit leaves out.
    pub omitted_lines: usize,
    /// The number of lines of the whole text.
    pub total_lines: usize,
}

/// One line of an excerpt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcerptLine {
    /// The 1-based number of the line.
    pub line_number: usize,
    /// The line without its ending; with an ellipsis at the end if it was cut.
    pub text: String,
    /// True if the line was cut.
    pub is_cut: bool,
}

/// Returns the lines `around` and up to `context` lines on both sides of them.
///
/// Line numbers outside the text are clamped to it, so the excerpt for a range past the end shows the end.
pub fn excerpt(
    source: &Source<'_>,
    around: RangeInclusive<usize>,
    context: usize,
    limits: &ExcerptLimits,
) -> Excerpt {
    let total_lines = source.total_lines();
    if total_lines == 0 {
        return Excerpt { lines: Vec::new(), omitted_lines: 0, total_lines };
    }
    let (one, other) = ((*around.start()).clamp(1, total_lines), (*around.end()).clamp(1, total_lines));
    let first = one.min(other).saturating_sub(context).max(1);
    let last = one.max(other).saturating_add(context).min(total_lines);
    let kept_lines = (last - first + 1).min(limits.line_limit);
    let lines = (first..first + kept_lines).filter_map(|line_number| {
        let line = source.line_text(line_number)?;
        let mut text = String::new();
        let mut left = limits.line_limit_chars;
        let is_cut = !push_cut(&mut text, &line, &mut left);
        Some(ExcerptLine { line_number, text, is_cut })
    });
    Excerpt { lines: lines.collect(), omitted_lines: last - first + 1 - kept_lines, total_lines }
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.lines.last().map_or(1, |line| line.line_number.to_string().len());
        for line in &self.lines {
            writeln!(f, "{:>width$}|{}", line.line_number, line.text)?;
        }
        Ok(())
    }
}
