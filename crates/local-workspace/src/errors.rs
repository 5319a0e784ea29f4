//! The one table from core errors to codes and reasons.

use change_journal::JournalError;
use rel_path::{PathError, RelPath};
use sandbox_fs::FsError;
use wap_core::{Reason, WapError};

/// Turns a failure of a file operation into an answer. `requested` is the path as the request spelled it.
///
/// A `hint` is for callers of the tools. Details that adapters of other protocols word differently are separate data.
pub(crate) fn fs_error(error: &FsError, requested: &str) -> WapError {
    let (reason, hint) = match error {
        FsError::Path(path) => (path_reason(path), None),
        FsError::NotFound { .. } => (Reason::FileNotFound, None),
        FsError::ParentMissing { .. } => (Reason::DirectoryNotFound, Some("set `createDirectories` to true")),
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
        FsError::InUse { .. } => (Reason::Busy, None),
        FsError::Changed { .. } | FsError::LeftBehind { .. } => {
            (Reason::Conflict, Some("another program saved the file meanwhile: read it again"))
        }
        FsError::FolderNotEmpty { .. } => (Reason::NotAFile, None),
        FsError::CrossDevice { .. } => (Reason::WriteError, None),
        FsError::RootGone { .. } => {
            (Reason::PathNotFound, Some("the user has to start again in the new folder"))
        }
        FsError::Io { .. } => (Reason::WriteError, None),
    };
    let mut wap = match leads_to(error, requested) {
        Some((link, target)) => {
            let text = format!("`{link}` leads to `{target}`, which does not exist");
            WapError::new(reason, text).with("target", target.to_string())
        }
        None => WapError::new(reason, error.to_string()),
    };
    wap = wap.with("path", requested);
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

/// Returns a requested symlink and its target, if that does not exist. A symlink to an entry of the same name is not
/// recognised.
fn leads_to<'e>(error: &'e FsError, requested: &str) -> Option<(RelPath, &'e RelPath)> {
    let FsError::NotFound { path } = error else { return None };
    let requested = RelPath::parse(requested).ok()?;
    (requested.file_name() != path.file_name()).then_some((requested, path))
}

/// The same for an operation that only reads.
pub(crate) fn fs_read_error(error: &FsError, requested: &str) -> WapError {
    let wap = fs_error(error, requested);
    if wap.reason() == Reason::WriteError {
        return WapError::new(Reason::ReadError, error.to_string()).with("path", requested);
    }
    wap
}

/// Turns a text that is not a path below the root into an answer.
pub(crate) fn path_error(error: &PathError, requested: &str) -> WapError {
    WapError::new(path_reason(error), error.to_string()).with("path", requested)
}

fn path_reason(error: &PathError) -> Reason {
    match error {
        PathError::Escape | PathError::Absolute | PathError::Nul => Reason::PathEscapeAttempt,
        _ => Reason::InvalidName,
    }
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
