//! Code blocks that quote a file as it is.

use wap_core::{Call, Workspace};

use super::read_start;
use crate::{ParseError, ParseErrorKind};

/// Returns the path of a file if the error is about a code block that names this file, and the file has the lines of the code
/// block, apart from whitespace at the ends of lines: then the reply quotes it.
pub(super) fn quoted_file<'e, W: Workspace + ?Sized>(
    error: &'e ParseError,
    workspace: &W,
    call: &Call<'_>,
) -> Option<&'e str> {
    let ParseErrorKind::Foreign(fault) = &error.kind else { return None };
    let (path, passages) = fault.quotation()?;
    // Of a file that is too large, this is its first line.
    let content = comparable(&read_start(workspace, call, path, 1).ok()?.content);
    let has =
        |passage: &String| memchr::memmem::find(content.as_bytes(), comparable(passage).as_bytes()).is_some();
    passages.iter().all(has).then_some(path)
}

/// Returns the lines of a text, each between two line endings, without whitespace at their ends and without blank lines around
/// them.
fn comparable(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    format!("\n{}\n", lines.join("\n").trim_matches('\n'))
}
