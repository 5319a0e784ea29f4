//! Whole files and ranges of their lines, and the versions of files.

use text_edit::{Encoding, ExcerptLimits, Source, excerpt};
use wap_core::{FileState, FileStates, Limits, Moment, ReadFile, ReadFileResponse, Reason, WapError};

use crate::listing::metadata;
use crate::tree::{Access, Tree, parse_text, version_of};

/// Lines shown on both sides of a range that does not exist.
const CONTEXT_LINES: usize = 3;

/// Answers a request to read a file.
pub(crate) fn read(tree: &Tree, limits: &Limits, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
    let path = tree.file_path(&request.path, Access::Read)?;
    let bytes = tree.content(&path)?;
    let source = parse_text(&path, bytes)?;
    let total = source.total_lines();
    let ranged = request.start_line.is_some() || request.end_line.is_some();
    let most = usize::try_from(limits.max_file_size).unwrap_or(usize::MAX);
    if !ranged && bytes.len() > most {
        let text = format!("'{path}' has {} bytes, more than {most}; read a range of its lines", bytes.len());
        let error = WapError::new(Reason::FileTooLarge, text);
        return Err(error.with("size", bytes.len()).with("totalLines", total));
    }
    let (first, last) = if ranged { range(&path, &source, request)? } else { (1, total) };
    let mut content = String::new();
    let format = source.format();
    if first == 1 && format.byte_order_mark && format.encoding == Encoding::Utf8 {
        // As on disk, the mark is part of the content, so that a text can be written back byte for byte.
        content.push('\u{feff}');
    }
    let mut returned = 0;
    for number in first..=last {
        let line = source.lines_text(number..=number).unwrap_or_default();
        // Whole lines only, so that the answer can name the line at which to continue.
        if content.len() + line.len() > most {
            break;
        }
        content.push_str(&line);
        returned += 1;
    }
    let is_truncated = first + returned <= last;
    if returned == 0 && is_truncated {
        // The first line alone is too long: truncate it at a character boundary.
        let line = source.lines_text(first..=first).unwrap_or_default();
        line[..line.floor_char_boundary(most)].clone_into(&mut content);
        returned = 1;
    }
    let lossy = "the file is not UTF-8; undecodable bytes are shown as U+FFFD".to_owned();
    Ok(ReadFileResponse {
        content,
        metadata: metadata(tree, &path),
        is_truncated,
        total_lines: total as u64,
        returned_lines: returned as u64,
        version: Some(version_of(bytes)),
        warnings: if source.is_lossy() { vec![lossy] } else { Vec::new() },
    }
    .with_line_numbers(request))
}

/// Checks the range that a request names; 1-based and inclusive.
fn range(path: &str, source: &Source<'_>, request: &ReadFile) -> Result<(usize, usize), WapError> {
    let total = source.total_lines();
    let start = request.start_line.unwrap_or(1);
    let end = request.end_line.unwrap_or_else(|| i64::try_from(total).unwrap_or(i64::MAX));
    let first = usize::try_from(start).ok().filter(|first| (1..=total).contains(first));
    if let Some(first) = first.filter(|_| end >= start) {
        return Ok((first, usize::try_from(end).map_or(total, |last| last.min(total))));
    }
    let text = format!("invalid line range {start}-{end} for '{path}' with {total} lines");
    let line = usize::try_from(start).unwrap_or(1).clamp(1, total.max(1));
    let near = excerpt(source, line..=line, CONTEXT_LINES, &ExcerptLimits::default());
    Err(WapError::new(Reason::InvalidRange, text)
        .with("currentText", near.to_string())
        .with("currentVersion", version_of(source.bytes()).0)
        .with("totalLines", total))
}

/// Returns the version of each file. Files stored after `since` count as changed.
pub(crate) fn file_states(tree: &Tree, paths: &[String], since: Option<&Moment>) -> FileStates {
    let state = |path: &String| {
        let path = tree.file_path(path, Access::Read).ok()?;
        let version = version_of(tree.files().get(&path)?);
        let has_changed = since.is_some_and(|since| tree.changed_at(&path) > since.change);
        Some(FileState { path, version: Some(version), has_changed })
    };
    let moment = Moment { clock_nanoseconds: 0, change: tree.changes() };
    FileStates { moment, files: paths.iter().map(state).collect() }
}
