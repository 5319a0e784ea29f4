//! Reads a whole file, the start of a file that is too large, or some lines.

use wap_core::{Call, LineSpan, ReadFile, ReadFileResponse, Reason, WapError, Workspace};

/// Reads a file; a file that is too large to be returned whole is read from line 1 to `end_line`.
pub(crate) fn read_start<W: Workspace + ?Sized>(
    workspace: &W,
    call: &Call<'_>,
    path: &str,
    end_line: i64,
) -> Result<ReadFileResponse, WapError> {
    let whole = ReadFile { path: path.to_owned(), start_line: None, end_line: None, ..ReadFile::default() };
    match workspace.read_file(call, &whole) {
        Err(error) if error.reason() == Reason::FileTooLarge => {
            workspace.read_file(call, &ReadFile { start_line: Some(1), end_line: Some(end_line), ..whole })
        }
        answer => answer,
    }
}

/// Reads some lines of a file; lines beyond its end are left out.
pub(crate) fn read_lines<W: Workspace + ?Sized>(
    workspace: &W,
    call: &Call<'_>,
    path: &str,
    lines: LineSpan,
) -> Result<ReadFileResponse, WapError> {
    let line = |line: u64| Some(i64::try_from(line).unwrap_or(i64::MAX));
    let end_line = if lines.last == u64::MAX { None } else { line(lines.last) };
    workspace.read_file(
        call,
        &ReadFile { path: path.to_owned(), start_line: line(lines.first), end_line, ..ReadFile::default() },
    )
}
