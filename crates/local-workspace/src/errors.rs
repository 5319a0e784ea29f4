//! The one table from core errors to codes and reasons.

use change_journal::JournalError;
use rel_path::{PathError, RelPath};
use sandbox_fs::FsError;
use serde_json::Value;
use text_edit::{EditError, EditErrorKind, ExcerptLimits, Source, excerpt};
use wap_core::{FileVersion, Reason, WapError};

/// Lines shown on both sides of those that a refusal is about.
pub(crate) const CONTEXT_LINES: usize = 3;

/// Turns a failure of a file operation into an answer. `asked` is the path as the request spelled it.
///
/// A `hint` is for callers of the tools. What an adapter of another protocol words in its own way is data beside it.
pub(crate) fn fs_error(error: &FsError, asked: &str) -> WapError {
    let (reason, hint) = match error {
        FsError::Path(path) => (path_reason(path), None),
        FsError::NotFound { .. } => (Reason::FileNotFound, None),
        FsError::ParentMissing { .. } => (Reason::DirectoryNotFound, Some("create the folder first")),
        FsError::Escape { .. } => (Reason::PathEscapeAttempt, None),
        FsError::LinkLoop { .. } => (Reason::IsSymlink, None),
        FsError::Protected { .. } => (Reason::Protected, None),
        FsError::ReadOnly { .. } => (Reason::ReadOnly, None),
        FsError::OsPermission { .. } => (Reason::OsPermission, None),
        FsError::AttributeNotKept { .. } | FsError::TooManyAttributes { .. } => (
            Reason::OsPermission,
            Some("the user has to change this file, with a program that writes it in place"),
        ),
        FsError::NotAFile { .. } => (Reason::NotAFile, None),
        FsError::NotAFolder { .. } => (Reason::NotADirectory, None),
        FsError::IsLink { .. } => (Reason::IsSymlink, None),
        FsError::HardLinked { .. } => (Reason::OsPermission, None),
        FsError::AlreadyExists { .. } => (Reason::FileExists, None),
        FsError::InvalidName { .. } => (Reason::InvalidName, None),
        FsError::TooLarge { .. } => (Reason::FileTooLarge, Some("read a range of lines")),
        FsError::NoSpace { .. } => (Reason::NoSpace, Some("free some space and try again")),
        FsError::Busy { .. } => (Reason::Busy, Some("try again")),
        FsError::Changed { .. } | FsError::LeftBehind { .. } => {
            (Reason::Conflict, Some("somebody saved the file meanwhile: read it again"))
        }
        FsError::FolderNotEmpty { .. } => (Reason::NotAFile, None),
        FsError::CrossDevice { .. } => (Reason::WriteError, None),
        FsError::RootGone { .. } => {
            (Reason::PathNotFound, Some("the user has to start again in the new folder"))
        }
        FsError::Io { .. } => (Reason::WriteError, None),
    };
    let mut wap = WapError::new(reason, error.to_string()).with("path", asked);
    if let FsError::IsLink { target: Some(target), .. } = error {
        wap = wap.with("target", target.to_string());
    }
    if matches!(error, FsError::RootGone { .. }) {
        wap = wap.with("rootGone", true);
    }
    if let FsError::Protected { reason, .. } = error {
        wap = wap.with("why", reason.as_str());
    }
    match hint {
        Some(hint) => wap.with("hint", hint),
        None => wap,
    }
}

/// The same for an operation that only reads.
pub(crate) fn fs_read_error(error: &FsError, asked: &str) -> WapError {
    let wap = fs_error(error, asked);
    if wap.reason() == Reason::WriteError {
        return WapError::new(Reason::ReadError, error.to_string()).with("path", asked);
    }
    wap
}

/// Turns a text that is no path beneath the root into an answer.
pub(crate) fn path_error(error: &PathError, asked: &str) -> WapError {
    WapError::new(path_reason(error), error.to_string()).with("path", asked)
}

fn path_reason(error: &PathError) -> Reason {
    match error {
        PathError::Escape | PathError::Absolute | PathError::Nul => Reason::PathEscapeAttempt,
        _ => Reason::InvalidName,
    }
}

/// Turns a refused edit into an answer that shows the text in question. `shown` is the text that the request's line
/// numbers mean, `current` the file as it is.
pub(crate) fn edit_error(
    error: &EditError,
    path: &RelPath,
    shown: &Source<'_>,
    current: &Source<'_>,
    current_version: FileVersion,
) -> WapError {
    use EditErrorKind as Kind;
    let reason = match &error.kind {
        Kind::NoOperations => Reason::InvalidField,
        Kind::Binary(_) | Kind::Undecodable { .. } => Reason::BinaryFile,
        Kind::InvalidRange { .. } | Kind::InvalidPosition { .. } => Reason::InvalidRange,
        Kind::Conflict(_) | Kind::Stale(_) => Reason::Conflict,
        Kind::Unencodable { .. } => Reason::InvalidField,
        Kind::BadFlag { .. }
        | Kind::InvalidRegex { .. }
        | Kind::UnsupportedRegex { .. }
        | Kind::PatternTooLong { .. }
        | Kind::RegexTooLarge { .. }
        | Kind::BadGroup { .. } => Reason::InvalidRegex,
        Kind::TooManyReferences { .. } => Reason::InvalidRegex,
        Kind::TooMuchWork { .. } | Kind::TooManyStretches { .. } => Reason::InvalidField,
        Kind::Cancelled => Reason::Cancelled,
        Kind::ResultTooLarge { .. } => Reason::RequestTooLarge,
    };
    let mut wap = WapError::new(reason, error.to_string())
        .with("path", path.to_string())
        .with("currentVersion", current_version.0);
    if let Kind::InvalidRange { total_lines, .. } | Kind::InvalidPosition { total_lines, .. } = &error.kind {
        wap = wap.with("totalLines", *total_lines as u64);
    } else {
        wap = wap.with("totalLines", current.total_lines() as u64);
    }
    if let Some(lines) = error.kind.lines_in_question() {
        // A stale edit is about the current text already; the others are about the text that the numbers mean.
        let around = if matches!(error.kind, Kind::Stale(_)) { current } else { shown };
        let first = lines.start().saturating_sub(CONTEXT_LINES).max(1);
        let last = (lines.end() + CONTEXT_LINES).min(around.total_lines());
        let text = excerpt(around, lines, CONTEXT_LINES, &ExcerptLimits::default());
        wap = wap.with("currentText", text.to_string());
        if std::ptr::eq(around, current) || around.bytes() == current.bytes() {
            wap = wap.with("currentFirstLine", first as u64).with("currentLastLine", last as u64);
        }
    }
    if let Kind::Stale(stale) = &error.kind {
        wap = wap.with("expectedText", stale.expected.clone()).with("alreadyApplied", stale.already_applied);
        if let Some(moved) = &stale.moved_to {
            let hint = format!("the same lines now stand at {}-{}", moved.start(), moved.end());
            let lines = vec![Value::from(*moved.start()), Value::from(*moved.end())];
            wap = wap.with("hint", hint).with("movedTo", lines);
        }
    }
    wap
}

/// Turns a failure of the journal into an answer.
#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
pub(crate) fn journal_error(error: JournalError) -> WapError {
    let reason = match &error {
        JournalError::NoSpace => Reason::NoSpace,
        JournalError::ReadOnly => Reason::ReadOnly,
        JournalError::TooLarge { .. } => Reason::RequestTooLarge,
        JournalError::StepRecorded { .. } | JournalError::StepNotOpen { .. } => Reason::Conflict,
        _ => Reason::WriteError,
    };
    WapError::new(reason, format!("nothing was done, because it could not be recorded: {error}"))
}
