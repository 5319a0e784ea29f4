//! Numbers of a view in front of new lines, which are not part of the file.

use text_edit::Source;
use wap_core::{ModifyOperation, Reason, WapError, numbered_line, unnumbered};

use crate::file_edit::FileEdit;

impl FileEdit<'_> {
    /// Refuses new lines that all have the numbers in front that a view of the file gives the lines which they replace. A file that has
    /// such numbers around there itself may get more of them.
    pub(crate) fn check_view_numbers(&self) -> Result<(), WapError> {
        for (index, operation) in self.request.operations.iter().enumerate() {
            let (first, last, content) = match operation {
                ModifyOperation::Replace { start_line, end_line, new_content, .. } => {
                    (*start_line, *end_line, new_content)
                }
                ModifyOperation::Insert { after_line, new_content, .. } => {
                    (after_line.saturating_add(1), *after_line, new_content)
                }
                _ => continue,
            };
            let is_numbered = !content.is_empty()
                && unnumbered(content).is_some_and(|(number, _)| i64::try_from(number) == Ok(first));
            if is_numbered && !has_numbers(self.current, first.saturating_sub(1), last.saturating_add(1)) {
                let operation = if self.request.operations.len() > 1 {
                    format!("operation {}: ", index + 1)
                } else {
                    String::new()
                };
                let text = format!(
                    "{operation}newContent begins its lines with the numbers of the view ('{first}|'), which are not part of the \
                     file: send the lines without them"
                );
                return Err(WapError::new(Reason::InvalidField, text)
                    .with("field", "newContent")
                    .with("path", self.path));
            }
        }
        Ok(())
    }
}

/// Checks whether one of some lines of the file has a number and a bar in front.
fn has_numbers(source: &Source<'_>, first: i64, last: i64) -> bool {
    let bounded = |line: i64| usize::try_from(line.max(1)).unwrap_or(usize::MAX).min(source.total_lines());
    (bounded(first)..=bounded(last))
        .any(|line| source.line_text(line).is_some_and(|text| numbered_line(&text).is_some()))
}
