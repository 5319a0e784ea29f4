//! Code blocks that quote a file as it is.

use wap_core::{Call, Workspace};

use super::read_start;
use crate::{ForeignFault, ParseError, ParseErrorKind};

/// Returns the path of a file if the error is about a code block that names this file, and the file has the lines of the code
/// block, apart from whitespace at the ends of lines: then the reply quotes it.
pub(super) fn quoted_file<'e, W: Workspace + ?Sized>(
    error: &'e ParseError,
    workspace: &W,
    call: &Call<'_>,
) -> Option<&'e str> {
    let ParseErrorKind::Foreign(ForeignFault::NamedCode { path, code, .. }) = &error.kind else {
        return None;
    };
    // Of a file that is too large, this is its first line.
    let content = read_start(workspace, call, path, 1).ok()?.content;
    let (content, code) = (comparable(&content), comparable(code));
    memchr::memmem::find(content.as_bytes(), code.as_bytes()).map(|_| path.as_str())
}

/// Returns the lines of a text, each between two line endings, without whitespace at their ends and without blank lines around
/// them.
fn comparable(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    format!("\n{}\n", lines.join("\n").trim_matches('\n'))
}
