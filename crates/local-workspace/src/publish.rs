//! Putting one file in its place.

use rel_path::RelPath;
use sandbox_fs::{Expected, FileMode, FileRoot, FsError};

use crate::present::{Present, PresentKind};

/// Puts one file in its place, or removes it, if what is there is `before`, which the change was planned against.
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
    let is_other = before.is_some_and(|present| present.kind == PresentKind::Other);
    if is_other {
        remove_other(root, path, before)?;
    }
    let before = before.filter(|_| !is_other);
    match (before, after) {
        (None, None) => Ok(()),
        (Some(before), None) => root.remove_file(path, Some(&before.fs_hash())).map(drop),
        (Some(before), Some(after)) => {
            let expected = Expected::Content(before.fs_hash());
            root.stage(path, &after.bytes, FileMode::Keep)?.publish(expected).map(drop)
        }
        (None, Some(after)) => {
            let folder = path.parent().filter(|folder| !folder.is_root());
            let made = folder.map_or_else(|| Ok(Vec::new()), |folder| root.create_dirs(&folder))?;
            let published = root
                .stage(path, &after.bytes, FileMode::Keep)
                .and_then(|staged| staged.publish(Expected::Absent));
            if published.is_err() {
                for folder in made.iter().rev() {
                    // A folder that somebody uses by now stays, and so do those above it.
                    let _ = root.remove_empty_folder(folder);
                }
            }
            published.map(drop)
        }
    }
}

/// Removes a link or a special file.
///
/// There is no exchange by which a link could be looked at after it was taken away, so it is looked at right before.
fn remove_other(root: &FileRoot, path: &RelPath, before: Option<&Present>) -> Result<(), FsError> {
    if Present::on_disk(root, path)?.as_ref() != before {
        return Err(FsError::Changed { path: path.clone() });
    }
    root.remove_file(path, None).map(drop)
}
