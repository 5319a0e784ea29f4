//! Files: `file.read` and `docdex.open`.

use wap_core::{ReadFile, ReadFileResponse, ReadSnippet, Reason};

use super::failure::Failure;
use super::fit;
use super::guidance;
use super::index::DEFAULT_WINDOW;
use super::need_call::{Answer, NeedCall, refused};
use crate::{FileReadResult, NeedResult, OpenNeed, OpenResult, WarningCode};

pub(super) fn read(path: &str, frame: &mut NeedCall<'_>) -> Answer {
    let part = lines(path, Range::default(), WarningCode::FileReadFailed, frame)?;
    Ok(NeedResult::FileRead(FileReadResult {
        path: path.to_owned(),
        truncated: part.is_cut,
        total_lines: part.is_cut.then_some(part.total),
        content: part.content,
    }))
}

pub(super) fn open(need: &OpenNeed, frame: &mut NeedCall<'_>) -> Answer {
    let (path, range) = match (&need.path, &need.doc_id) {
        (Some(path), _) => (path.clone(), range(need)?),
        (None, Some(doc_id)) => lines_of_document(doc_id, need, frame)?,
        (None, None) => {
            return Err(Failure::about(WarningCode::InvalidNeed, "docdex.open has no path and no doc_id"));
        }
    };
    let part = lines(&path, range, WarningCode::DocdexOpenFailed, frame)?;
    let is_part = part.is_cut || range.start.is_some();
    Ok(NeedResult::Open(OpenResult {
        path,
        // The path wins, so the document was not used.
        doc_id: need.doc_id.clone().filter(|_| need.path.is_none()),
        line_start: is_part.then_some(part.first),
        line_end: is_part.then_some((part.first + part.count).saturating_sub(1)),
        total_lines: is_part.then_some(part.total),
        truncated: part.is_cut,
        content: part.content,
    }))
}

/// A range of lines, 1-based and inclusive; the whole file without a start.
#[derive(Clone, Copy, Default)]
struct Range {
    start: Option<u64>,
    end: Option<u64>,
    /// True if the need names its last line, so that a warning reports a shorter file.
    names_end: bool,
}

/// Returns the lines of a need: a range, a window from its start on, or the top of the file.
fn range(need: &OpenNeed) -> Result<Range, Failure> {
    let window = need.window.map(u64::from);
    let start = need.start_line.or(need.end_line.map(|_| 1));
    if let Some(start) = start {
        let end = need.end_line.or_else(|| window.map(|lines| start.saturating_add(lines - 1)));
        if let Some(end) = end.filter(|end| *end < start) {
            let detail = format!("start_line {start} is after end_line {end}");
            return Err(Failure::about(WarningCode::InvalidField, &detail));
        }
        return Ok(Range { start: Some(start), end, names_end: need.end_line.is_some() });
    }
    let top = |lines| Range { start: Some(1), end: Some(lines), names_end: false };
    Ok(need.head.or(window).map_or(Range::default(), top))
}

/// Returns the file of a document, and the lines around it unless the need has a range.
fn lines_of_document(
    doc_id: &str,
    need: &OpenNeed,
    frame: &mut NeedCall<'_>,
) -> Result<(String, Range), Failure> {
    let request =
        ReadSnippet { doc_id: doc_id.to_owned(), window_lines: need.window.unwrap_or(DEFAULT_WINDOW) };
    let response = frame.ask(WarningCode::DocdexOpenFailed, |index, call| index.snippet(call, &request))?;
    frame.note(&response.freshness);
    let has_range = need.start_line.is_some() || need.end_line.is_some() || need.head.is_some();
    let range = if has_range {
        range(need)?
    } else {
        // An index may not know the lines of the document; the window then starts at the top.
        let start = response.line_start.unwrap_or(1).max(1);
        let window = u64::from(request.window_lines);
        let end = response.line_end.unwrap_or(start.saturating_add(window).saturating_sub(1)).max(1);
        Range { start: Some(start), end: Some(end), names_end: false }
    };
    Ok((response.path, range))
}

/// Lines of a file, truncated to fit the response.
struct FileLines {
    content: String,
    first: u64,
    count: u64,
    /// Lines in the whole file.
    total: u64,
    /// True if requested lines are missing.
    is_cut: bool,
}

fn lines(
    path: &str,
    range: Range,
    otherwise: WarningCode,
    frame: &mut NeedCall<'_>,
) -> Result<FileLines, Failure> {
    if let Some(text) = guidance::text(path) {
        return Ok(guidance_lines(text, range));
    }
    let response = find(path, range, frame).map_err(refused(path, otherwise))?;
    if let Some(end) = range.end.filter(|end| range.names_end && *end > response.total_lines) {
        frame.warn(WarningCode::Clamped, format!("end_line {end} to {}", response.total_lines));
    }
    let first = range.start.unwrap_or(1);
    let lines = fit::lines(response.content, frame.room);
    let is_cut = response.is_truncated || lines.kept < lines.total;
    let part =
        FileLines { content: lines.text, first, count: lines.kept, total: response.total_lines, is_cut };
    if is_cut {
        frame.warn_cut(path, part.count, part.total);
    }
    Ok(part)
}

/// Returns lines of the built-in text as if it were a file.
fn guidance_lines(text: &str, range: Range) -> FileLines {
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let index = |line: u64| usize::try_from(line).unwrap_or(usize::MAX).min(all.len());
    let first = range.start.unwrap_or(1);
    let end = range.end.map_or(all.len(), index);
    let part = all.get(index(first).saturating_sub(1)..end).unwrap_or_default();
    FileLines {
        content: part.concat(),
        first,
        count: part.len() as u64,
        total: all.len() as u64,
        is_cut: false,
    }
}

fn find(path: &str, range: Range, frame: &NeedCall<'_>) -> Result<ReadFileResponse, wap_core::WapError> {
    let number = |line: u64| i64::try_from(line).unwrap_or(i64::MAX);
    let request = ReadFile {
        path: path.to_owned(),
        start_line: range.start.map(number),
        end_line: range.end.map(number),
        ..ReadFile::default()
    };
    let whole = || ReadFile { path: path.to_owned(), ..ReadFile::default() };
    match frame.sources.workspace.read_file(frame.call, &request) {
        // A file that is too large as a whole is read up to the workspace's limit.
        Err(error) if error.reason() == Reason::FileTooLarge && range.start.is_none() => {
            frame.sources.workspace.read_file(frame.call, &ReadFile { start_line: Some(1), ..whole() })
        }
        // An empty file has no line 1, but its content is empty rather than an error.
        Err(error) if error.reason() == Reason::InvalidRange && range.start == Some(1) => {
            frame.sources.workspace.read_file(frame.call, &whole())
        }
        other => other,
    }
}
