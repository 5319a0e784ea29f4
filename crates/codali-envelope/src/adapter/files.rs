//! Files: `file.read` and `docdex.open`.

use wap_core::{ReadFile, ReadFileResponse, ReadSnippet, Reason};

use super::failure::Failure;
use super::fit;
use super::guidance;
use super::index::DEFAULT_WINDOW;
use super::need_call::{Answer, NeedCall, refused};
use crate::{FileReadResult, NeedResult, OpenNeed, OpenResult, WarningCode};

pub(super) fn read(path: &str, frame: &mut NeedCall<'_>) -> Answer {
    let shown = lines(path, Range::default(), WarningCode::FileReadFailed, frame)?;
    Ok(NeedResult::FileRead(FileReadResult {
        path: path.to_owned(),
        truncated: shown.is_cut,
        total_lines: shown.is_cut.then_some(shown.total),
        content: shown.content,
    }))
}

pub(super) fn open(need: &OpenNeed, frame: &mut NeedCall<'_>) -> Answer {
    let (path, range) = match (&need.path, &need.doc_id) {
        (Some(path), _) => (path.clone(), range(need)?),
        (None, Some(doc_id)) => place_of(doc_id, need, frame)?,
        (None, None) => {
            return Err(Failure::about(WarningCode::InvalidNeed, "docdex.open has no path and no doc_id"));
        }
    };
    let shown = lines(&path, range, WarningCode::DocdexOpenFailed, frame)?;
    let is_part = shown.is_cut || range.start.is_some();
    Ok(NeedResult::Open(OpenResult {
        path,
        doc_id: need.doc_id.clone().filter(|_| need.path.is_none()),
        line_start: is_part.then_some(shown.first),
        line_end: is_part.then_some((shown.first + shown.count).saturating_sub(1)),
        total_lines: is_part.then_some(shown.total),
        truncated: shown.is_cut,
        content: shown.content,
    }))
}

/// Which lines; both 1-based and inclusive. Without a start it is the whole file.
#[derive(Clone, Copy, Default)]
struct Range {
    start: Option<u64>,
    end: Option<u64>,
    /// Whether the need names its last line, so that it wants to know if there is none such.
    names_end: bool,
}

/// The lines that a need asks for: a range, a window from its start on, or the top of the file.
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

/// The file of a document, and the lines around it unless the need says which.
fn place_of(doc_id: &str, need: &OpenNeed, frame: &mut NeedCall<'_>) -> Result<(String, Range), Failure> {
    let request =
        ReadSnippet { doc_id: doc_id.to_owned(), window_lines: need.window.unwrap_or(DEFAULT_WINDOW) };
    let found = frame.ask(WarningCode::DocdexOpenFailed, |index, call| index.snippet(call, &request))?;
    frame.note(&found.freshness);
    let has_range = need.start_line.is_some() || need.end_line.is_some() || need.head.is_some();
    let range = if has_range {
        range(need)?
    } else {
        let start = found.line_start.unwrap_or(1).max(1);
        let window = u64::from(request.window_lines);
        let end = found.line_end.unwrap_or(start.saturating_add(window).saturating_sub(1)).max(1);
        Range { start: Some(start), end: Some(end), names_end: false }
    };
    Ok((found.path, range))
}

/// Lines of a file as far as they have room.
struct Shown {
    content: String,
    first: u64,
    count: u64,
    /// Lines in the whole file.
    total: u64,
    /// Whether lines that were asked for are missing.
    is_cut: bool,
}

fn lines(
    path: &str,
    range: Range,
    otherwise: WarningCode,
    frame: &mut NeedCall<'_>,
) -> Result<Shown, Failure> {
    if let Some(text) = guidance::text(path) {
        return Ok(guidance_lines(text, range));
    }
    let found = find(path, range, frame).map_err(refused(path, otherwise))?;
    if let Some(end) = range.end.filter(|end| range.names_end && *end > found.total_lines) {
        frame.warn(WarningCode::Clamped, format!("end_line {end} to {}", found.total_lines));
    }
    let first = range.start.unwrap_or(1);
    let lines = fit::lines(found.content, frame.room);
    let is_cut = found.is_truncated || lines.shown < lines.total;
    let shown = Shown { content: lines.text, first, count: lines.shown, total: found.total_lines, is_cut };
    if is_cut {
        frame.warn_cut(path, shown.count, shown.total);
    }
    Ok(shown)
}

/// The built-in text as if it were a file.
fn guidance_lines(text: &str, range: Range) -> Shown {
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let index = |line: u64| usize::try_from(line).unwrap_or(usize::MAX).min(all.len());
    let first = range.start.unwrap_or(1);
    let end = range.end.map_or(all.len(), index);
    let shown = all.get(index(first).saturating_sub(1)..end).unwrap_or_default();
    Shown {
        content: shown.concat(),
        first,
        count: shown.len() as u64,
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
    };
    let whole = || ReadFile { path: path.to_owned(), ..ReadFile::default() };
    match frame.sources.workspace.read_file(frame.call, &request) {
        // A file that is too large as a whole is read as far as the workspace goes.
        Err(error) if error.reason() == Reason::FileTooLarge && range.start.is_none() => {
            frame.sources.workspace.read_file(frame.call, &ReadFile { start_line: Some(1), ..whole() })
        }
        // The first lines of an empty file are none.
        Err(error) if error.reason() == Reason::InvalidRange && range.start == Some(1) => {
            frame.sources.workspace.read_file(frame.call, &whole())
        }
        other => other,
    }
}
