//! Deleting a file whose lines the caller states.

use text_edit::Source;
use wap_core::{DeleteFile, Reason, WapError};

/// Checks that a file has the lines that the request to delete it states. Line endings are ignored.
///
/// # Errors
///
/// [`Reason::Conflict`] if the lines differ, with the number of the first that does. The line itself is not quoted.
pub fn check_expected_lines(path: &str, file: &[u8], request: &DeleteFile) -> Result<(), WapError> {
    let Some(expected) = &request.expected_lines else { return Ok(()) };
    let refused = |what: String| {
        let text =
            format!("'{path}' was not deleted: {what}; read it, and delete it without stating its lines");
        Err(WapError::new(Reason::Conflict, text).with("path", path))
    };
    let Ok(source) = Source::parse(file) else {
        return refused("it is not a text, and the diff removes lines".to_owned());
    };
    let total = source.total_lines();
    let is_same = |index: &usize| {
        let line = source.line_text(index + 1);
        line.is_some_and(|line| expected.get(*index).is_some_and(|expected| *line == **expected))
    };
    match (0..total.max(expected.len())).find(|index| !is_same(index)) {
        None => Ok(()),
        Some(index) => refused(format!(
            "it has {total} lines, the diff removes {}, and they differ from line {} on",
            expected.len(),
            index + 1
        )),
    }
}
