//! Files in the form in which a message shows them to the model: `--- src/a.rs ---`, numbered lines, `--- end src/a.rs ---`.

use std::collections::HashMap;

use crate::foreign::ReplyLine;
use crate::foreign::file_name::plain_name::between_dashes;

/// The 0-based lines that end such a file, by its path, in ascending order.
pub(super) struct Views<'a>(HashMap<&'a str, Vec<usize>>);

impl<'a> Views<'a> {
    pub(super) fn of(lines: &[ReplyLine<'a>]) -> Views<'a> {
        let mut ends: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, line) in lines.iter().enumerate() {
            if let Some(path) = between_dashes(line.text).and_then(|text| text.strip_prefix("end ")) {
                ends.entry(path.trim()).or_default().push(index);
            }
        }
        Views(ends)
    }

    /// Returns the path and the last line of a file that begins at a line.
    pub(super) fn beginning_at(&self, lines: &[ReplyLine<'a>], index: usize) -> Option<(&'a str, usize)> {
        let title = between_dashes(lines[index].text)?;
        let path = title.split_once(" (").map_or(title, |(path, _)| path).trim();
        let ends = self.0.get(path)?;
        let end = ends.get(ends.partition_point(|end| *end <= index))?;
        Some((path, *end))
    }
}

/// Returns lines without the numbers of a view, if each of them has one: `12|text`.
pub(super) fn without_numbers<'a>(lines: &[ReplyLine<'a>]) -> Vec<&'a str> {
    let unnumbered = |line: &ReplyLine<'a>| {
        let (number, text) = line.text.split_once('|')?;
        number.trim().bytes().all(|byte| byte.is_ascii_digit()).then_some(text)
    };
    let plain = || lines.iter().map(|line| line.text).collect();
    lines.iter().map(unnumbered).collect::<Option<Vec<&str>>>().unwrap_or_else(plain)
}
