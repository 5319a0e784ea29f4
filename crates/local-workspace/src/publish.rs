//! Putting one file in its place.

use rel_path::RelPath;
use sandbox_fs::{Expected, FileMode, FileRoot, FsError, NewNames, OpenFile};

use crate::present::{Present, PresentKind};

/// The same root for putting back what had its name already, whatever a new file may be called.
pub(crate) fn restoring_root(root: &FileRoot) -> Result<FileRoot, FsError> {
    root.check_alive()?;
    root.subfolder(&RelPath::root(), root.policy().clone().with_new_names(NewNames::Any))
}

/// Puts one file in its place, or removes it, if what is there is `before`, which the change was planned against.
///
/// Links and folders are put back and removed in the same way; a folder only if it is empty.
///
/// # Errors
///
/// Those of the file system; [`FsError::Changed`], [`FsError::AlreadyExists`] and [`FsError::NotFound`] if something
/// else is there. Theirs then stays as it is.
pub(crate) fn publish_file(
    root: &FileRoot,
    path: &RelPath,
    before: Option<&Present>,
    after: Option<&Present>,
) -> Result<(), FsError> {
    publish_and_hold(root, path, before, after).map(drop)
}

/// The same, giving the file that was replaced or removed, which a program may still have open.
///
/// # Errors
///
/// Those of [`publish_file`].
pub(crate) fn publish_and_hold(
    root: &FileRoot,
    path: &RelPath,
    before: Option<&Present>,
    after: Option<&Present>,
) -> Result<Option<OpenFile>, FsError> {
    let before_file = before.filter(|present| present.kind == PresentKind::File);
    let after_file = after.filter(|present| present.kind == PresentKind::File);
    let mode = decided_mode(before_file, after_file);
    if let (Some(before), Some(after)) = (before_file, after_file) {
        let expected = Expected::Content(before.fs_hash());
        return Ok(root.stage(path, &after.bytes, mode)?.publish(expected)?.replaced);
    }
    let mut removed = None;
    match before {
        Some(present) if present.kind == PresentKind::File => {
            removed = root.remove_file(path, Some(&present.fs_hash()))?.content;
        }
        Some(present) if present.kind == PresentKind::Folder => root.remove_empty_folder(path)?,
        Some(present) => remove_other(root, path, present)?,
        None => {}
    }
    let Some(after) = after else { return Ok(removed) };
    let folder = path.parent().filter(|folder| !folder.is_root());
    let made = folder.map_or_else(|| Ok(Vec::new()), |folder| root.create_dirs(&folder))?;
    let published = match after.kind {
        PresentKind::File => {
            root.stage(path, &after.bytes, mode).and_then(|staged| staged.publish(Expected::Absent)).map(drop)
        }
        PresentKind::Folder => root.create_dirs(path).map(drop),
        PresentKind::Other => root.restore_link(path, &after.bytes).map(drop),
    };
    if published.is_err() {
        for folder in made.iter().rev() {
            // A folder that somebody uses by now stays, and so do those above it.
            let _ = root.remove_empty_folder(folder);
        }
    }
    published.map(|()| removed)
}

/// The permission bits of the new version: only a change that has other bits after it than before decides them, so that
/// those which a user sets meanwhile stay.
fn decided_mode(before: Option<&Present>, after: Option<&Present>) -> FileMode {
    let before = before.and_then(|present| present.mode);
    match after.and_then(|present| present.mode) {
        Some(mode) if before != Some(mode) => FileMode::Exact(mode),
        _ => FileMode::Keep,
    }
}

/// Removes a link or a special file.
///
/// There is no exchange by which a link could be looked at after it was taken away, so it is looked at right before.
fn remove_other(root: &FileRoot, path: &RelPath, before: &Present) -> Result<(), FsError> {
    if Present::on_disk(root, path)?.as_ref() != Some(before) {
        return Err(FsError::Changed { path: path.clone() });
    }
    root.remove_file(path, None).map(drop)
}
