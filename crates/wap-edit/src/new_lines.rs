//! New lines of operations by line numbers that do not look like the file.

use text_edit::{Lines, NewLine, Operation, OtherIndentation};
use wap_core::{LineNumbers, Reason, WapError};

use crate::file_edit::FileEdit;

impl FileEdit<'_> {
    /// Returns a warning about lines that are indented with tabs in a file of spaces, or the other way round, if there are any.
    ///
    /// Operations in turn come from programs that have the whole text, and may restore lines: they are not checked.
    ///
    /// # Errors
    ///
    /// [`Reason::InvalidField`] for new lines that begin with no-break spaces in a file where no line does. Unlike tabs they are
    /// hardly ever intended: they come from a chat or a rendered page.
    pub(crate) fn check_new_lines(&self, operations: &[Operation]) -> Result<Option<String>, WapError> {
        if self.request.line_numbers == Some(LineNumbers::InTurn) {
            return Ok(None);
        }
        // All at once: the file is read once, however many operations there are.
        let (indexes, contents): (Vec<usize>, Vec<&Lines>) =
            operations.iter().enumerate().filter_map(|(index, one)| Some((index, content(one)?))).unzip();
        let label = |line: NewLine| match operations.len() {
            1 => String::new(),
            _ => format!("operation {}: ", indexes[line.content_index] + 1),
        };
        if let Some(line) = NewLine::with_no_break_spaces(self.current, &contents) {
            let text = format!(
                "{}line {} of the new lines begins with no-break spaces and no line of the file does: write plain spaces",
                label(line),
                line.line_number
            );
            return Err(WapError::new(Reason::InvalidField, text)
                .with("field", "newContent")
                .with("path", self.path));
        }
        Ok(OtherIndentation::of(self.current, &contents).map(|OtherIndentation { line, given, usual }| {
            format!(
                "{}line {} of the new lines is indented with {given}, and the file with {usual}",
                label(line),
                line.line_number
            )
        }))
    }
}

/// Returns the new lines of an operation by line numbers.
fn content(operation: &Operation) -> Option<&Lines> {
    match operation {
        Operation::Replace { content, .. } | Operation::Insert { content, .. } => Some(content),
        Operation::Delete { .. } | Operation::ReplaceText { .. } | Operation::RegexReplace { .. } => None,
    }
}
