//! A part of a text that fits into an answer, and the name for reading the rest.

use crate::PageLimit;
use crate::page::{head, line_count};

use super::ResourceName;

/// Lines of a resource.
pub(crate) struct TextPage<'a> {
    pub(crate) name: &'a ResourceName,
    /// The lines from `first` on, all or as many as are available.
    pub(crate) content: &'a str,
    /// The number of the first line, 1-based.
    pub(crate) first: u64,
    /// The number of lines of the whole resource.
    pub(crate) total_lines: u64,
}

impl TextPage<'_> {
    /// Returns the lines that fit, with a last line about the ones left out.
    pub(crate) fn render(&self, limit: PageLimit) -> String {
        let TextPage { name, content, first, total_lines } = self;
        let (page, lines) = head(content, limit.characters());
        let mut text = page.to_owned();
        let shown_to = (first + lines).saturating_sub(1);
        let is_cut_line = page.len() < content.len() && !page.ends_with('\n');
        if is_cut_line || shown_to < *total_lines {
            if !text.ends_with('\n') && !text.is_empty() {
                text.push('\n');
            }
            if is_cut_line {
                text.push_str(&format!("[line {shown_to} is longer than an answer may be; it is cut]\n"));
            }
            if shown_to < *total_lines {
                let next = shown_to + 1;
                text.push_str(&format!(
                    "[lines {next}-{total_lines} are left out; go on with {name}?line={next}]\n"
                ));
            }
        }
        text
    }
}

/// Returns the text from a line on and its number of lines; `None` if it has no such line.
pub(crate) fn from_line(text: &str, first: u64) -> Option<(&str, u64)> {
    let total_lines = line_count(text);
    if first > total_lines.max(1) {
        return None;
    }
    let before = usize::try_from(first - 1).ok()?;
    let start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
    Some((&text[start..], total_lines))
}
