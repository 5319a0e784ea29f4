//! Publishing one file.

use std::time::{Duration, SystemTime};

use change_journal::{Entry, EntryKind, RecordedChange};
use rel_path::{ProtectedNames, RelPath};
use sandbox_fs::{
    Expected, FileKind, FileMode, FileRoot, FsError, HardLinks, NewNames, OpenFile, Staged, WriteBits,
};

use crate::change::folder_modes::OWNER_BITS;
use crate::change::present::{CONTENT_LIMIT_BYTES, Present, PresentKind, recorded_attributes};
use crate::git::guard::{in_git_folder, is_main_index};
use crate::git::version_control;

/// The name under which the successor of an entry of another kind is staged next to it; no entry ever gets it.
const REHEARSAL: &[u8] = b".agentd-rehearsal";

/// The same root for restoring entries under their old names, which may be forbidden for new files.
pub(crate) fn restoring_root(root: &FileRoot) -> Result<FileRoot, FsError> {
    root.check_alive()?;
    root.subfolder(&RelPath::root(), root.policy().clone().with_new_names(NewNames::Any))
}

/// The same root for carrying out or reverting a command's changes: forbidden ones were sorted out before, and
/// everything that the command was allowed to do is done.
pub(crate) fn open_root(root: &FileRoot) -> Result<FileRoot, FsError> {
    root.check_alive()?;
    let policy = root.policy().clone();
    let policy = policy
        .with_new_names(NewNames::Any)
        .with_protected(ProtectedNames::none())
        .with_write_bits(WriteBits::Ignore)
        .with_hard_links(HardLinks::Replace);
    root.subfolder(&RelPath::root(), policy)
}

/// Checks whether only an [`open_root`] can change a path again: only commands change repositories, and they may leave
/// files without write bits.
pub(crate) fn needs_open_root(path: &RelPath, changes: &[RecordedChange]) -> bool {
    let is_closed =
        |entry: &Entry| entry.kind == EntryKind::File && entry.mode.is_some_and(|mode| mode & 0o222 == 0);
    in_git_folder(path).is_some()
        || version_control::is_in_folder(path)
        || changes
            .iter()
            .flat_map(|change| [change.before, change.after])
            .flatten()
            .any(|side| is_closed(&side))
}

/// Publishes one file, or removes it, if the current entry is `before`, which the change was planned against.
///
/// Symlinks and folders are restored and removed in the same way; a folder only if it is empty. A folder with
/// permission bits stays writable for its owner until [`FolderModes`](crate::change::folder_modes::FolderModes) sets
/// the final bits.
///
/// # Errors
///
/// Those of the file system; [`FsError::Changed`], [`FsError::AlreadyExists`] and [`FsError::NotFound`] if something
/// else is there, which then stays unchanged.
pub(crate) fn publish_file(
    root: &FileRoot,
    path: &RelPath,
    before: Option<&Present>,
    after: Option<&Present>,
) -> Result<(), FsError> {
    publish_and_hold(root, path, before, after).map(drop)
}

/// The same, returning the file that was replaced or removed, which a program may still have open.
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
    if let (Some(before), Some(after)) = (before_file, after_file) {
        let staged = stage(root, path, Some(before), after)?;
        return Ok(staged.publish(Expected::Content(before.hash))?.replaced);
    }
    if let (Some(PresentKind::Folder), Some(PresentKind::Folder)) =
        (before.map(|side| side.kind), after.map(|side| side.kind))
    {
        return after.map_or(Ok(()), |after| give_mode(root, path, after)).map(|()| None);
    }
    match (before, after) {
        (Some(before), Some(after)) => change_kind(root, path, before, after),
        (Some(before), None) => remove(root, path, before),
        (None, Some(after)) => {
            let folder = path.parent().filter(|folder| !folder.is_root());
            let made = folder.map_or_else(|| Ok(Vec::new()), |folder| root.create_dirs(&folder))?;
            let created = create(root, path, after);
            if created.is_err() {
                for folder in made.iter().rev() {
                    // A folder that now has entries stays, and so do those above it.
                    let _ = root.remove_empty_folder(folder);
                }
            }
            created.map(|()| None)
        }
        (None, None) => Ok(None),
    }
}

/// Returns true if replacing an entry of one kind with one of the other leaves nothing at the path for a moment.
pub(crate) fn has_moment_without_entry(before: EntryKind, after: EntryKind) -> bool {
    !matches!((before, after), (EntryKind::File, EntryKind::File) | (EntryKind::Folder, EntryKind::Folder))
}

/// Replaces an entry with one of another kind: two steps, because only files are exchanged. If the second fails, the
/// old entry is restored.
fn change_kind(
    root: &FileRoot,
    path: &RelPath,
    before: &Present,
    after: &Present,
) -> Result<Option<OpenFile>, FsError> {
    let rehearsal = rehearse(root, path, after)?;
    let removed = remove(root, path, before)?;
    // Frees its space and inode for the new entry.
    drop(rehearsal);
    let Err(error) = create(root, path, after) else { return Ok(removed) };
    if after.kind == PresentKind::Folder {
        let _ = root.remove_empty_folder(path);
    }
    // A plan may know only the hash of what was there, so the removed file is read. Its space is free only when it is closed.
    let old = match removed {
        Some(file) => file
            .read_to_end(CONTENT_LIMIT_BYTES)
            .map(|bytes| Present { bytes: bytes.into(), ..before.clone() }),
        None => Ok(before.clone()),
    };
    // If this fails as well, the path is empty, which the caller can detect.
    let _ = old.and_then(|old| create(root, path, &old));
    Err(error)
}

/// Detects problems with a new entry, such as a full disk, before the old one is removed: a removed symlink or special
/// file cannot be held open, as a file can.
fn rehearse<'root>(
    root: &'root FileRoot,
    path: &RelPath,
    after: &Present,
) -> Result<Option<Staged<'root>>, FsError> {
    check_new_name(root, path)?;
    match after.kind {
        PresentKind::File => {
            let sibling = path.parent().unwrap_or_default().child(REHEARSAL)?;
            stage(root, &sibling, None, after).map(Some).map_err(|error| named(error, path))
        }
        // A special file has no target, and cannot be recreated.
        PresentKind::Other if after.bytes.is_empty() => {
            Err(FsError::NotAFile { path: path.clone(), kind: FileKind::Unknown })
        }
        PresentKind::Other | PresentKind::Folder => Ok(None),
    }
}

/// Converts a staging error to one about this path.
fn named(error: FsError, path: &RelPath) -> FsError {
    let path = path.clone();
    match error {
        FsError::NoSpace { .. } => FsError::NoSpace { path },
        FsError::OsPermission { .. } => FsError::OsPermission { path },
        FsError::AttributeNotKept { name, .. } => FsError::AttributeNotKept { path, name },
        FsError::Busy { .. } => FsError::Busy { path },
        FsError::InUse { .. } => FsError::InUse { path },
        FsError::Io { errno, .. } => FsError::Io { path, errno },
        other => other,
    }
}

/// Checks whether a root allows a new entry to have the name of a path.
pub(crate) fn check_new_name(root: &FileRoot, path: &RelPath) -> Result<(), FsError> {
    match (root.policy().new_names, path.file_name()) {
        (NewNames::Checked, Some(name)) => rel_path::check_new_name(name)
            .map_err(|reason| FsError::InvalidName { path: path.clone(), reason }),
        _ => Ok(()),
    }
}

/// Removes an entry if it is `before`. Returns the file, if it is one.
fn remove(root: &FileRoot, path: &RelPath, before: &Present) -> Result<Option<OpenFile>, FsError> {
    match before.kind {
        PresentKind::File => root.remove_file(path, Some(&before.hash)).map(|removed| removed.content),
        PresentKind::Folder => root.remove_empty_folder(path).map(|()| None),
        PresentKind::Other => remove_other(root, path, before).map(|()| None),
    }
}

/// Creates an entry at a free name in an existing folder.
fn create(root: &FileRoot, path: &RelPath, after: &Present) -> Result<(), FsError> {
    match after.kind {
        PresentKind::File => stage(root, path, None, after)?.publish(Expected::Absent).map(drop),
        PresentKind::Folder => root.create_dirs(path).and_then(|_| give_mode(root, path, after)),
        PresentKind::Other => root.restore_link(path, &after.bytes).map(drop),
    }
}

/// Stages a version with its final rights, and git's index with a time that makes git distrust it.
fn stage<'root>(
    root: &'root FileRoot,
    path: &RelPath,
    before: Option<&Present>,
    after: &Present,
) -> Result<Staged<'root>, FsError> {
    let mut staged = stage_with_rights(root, path, before, after)?;
    if is_main_index(path) {
        // Git compares file times in seconds, and reads a file if its time is that of the index or later. An index
        // restored with the current time would hide changes within the second in which it was first written.
        staged.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1))?;
    }
    Ok(staged)
}

/// Stages a version with its final rights: those of the file that it replaces, or the recorded ones.
fn stage_with_rights<'root>(
    root: &'root FileRoot,
    path: &RelPath,
    before: Option<&Present>,
    after: &Present,
) -> Result<Staged<'root>, FsError> {
    let mode = decided_mode(before, Some(after));
    let recorded = recorded_attributes(after.attributes.as_deref());
    match (before, recorded) {
        // As with the bits: only a change that alters the attributes sets them.
        (Some(before), Some(recorded)) if is_changed(before, after) => {
            root.stage_recorded(path, &after.bytes, mode, &recorded)
        }
        (Some(_), _) => root.stage(path, &after.bytes, mode),
        (None, Some(recorded)) if after.mode.is_some() => {
            root.stage_recorded(path, &after.bytes, mode, &recorded)
        }
        (None, None) => {
            let mode = after.mode.map_or(mode, |bits| FileMode::Exact(without_mask(bits)));
            root.stage(path, &after.bytes, mode)
        }
        // A new file: its rights are determined by the folder.
        (None, Some(_)) => root.stage(path, &after.bytes, mode),
    }
}

fn is_changed(before: &Present, after: &Present) -> bool {
    before.attributes.is_some() && before.attributes != after.attributes
}

/// Returns the permission bits of a file or folder whose access list, if any, is not recorded. The group bits may be
/// the list's mask, so the group gets only the bits that all users have.
pub(crate) fn without_mask(mode: u32) -> u32 {
    mode & !0o070 | mode & (mode & 0o007) << 3
}

/// Sets the final permission bits of a folder, plus those that let its owner fill it.
fn give_mode(root: &FileRoot, path: &RelPath, folder: &Present) -> Result<(), FsError> {
    let Some(mode) = folder.mode else { return Ok(()) };
    if let Some(attributes) = recorded_attributes(folder.attributes.as_deref()) {
        root.set_folder_attributes(path, &attributes)?;
    }
    root.set_folder_mode(path, mode | OWNER_BITS).map(drop)
}

/// The permission bits of the new version: only a change that alters the bits sets them, so that bits set by the user
/// in the meantime stay.
fn decided_mode(before: Option<&Present>, after: Option<&Present>) -> FileMode {
    let before = before.and_then(|present| present.mode);
    match after.and_then(|present| present.mode) {
        Some(mode) if before != Some(mode) => FileMode::Exact(mode),
        _ => FileMode::Keep,
    }
}

/// Removes a symlink or a special file.
fn remove_other(root: &FileRoot, path: &RelPath, before: &Present) -> Result<(), FsError> {
    if !before.bytes.is_empty() {
        return root.remove_link(path, &before.bytes).map(drop);
    }
    // A special file has no target, and its kind is not recorded.
    if Present::on_disk(root, path)?.as_ref() != Some(before) {
        return Err(FsError::Changed { path: path.clone() });
    }
    root.remove_file(path, None).map(drop)
}

#[cfg(test)]
mod tests {
    use super::without_mask;

    #[test]
    fn bits_of_a_group_that_may_be_a_mask_are_cut_to_what_everybody_has() {
        let cases =
            [(0o740, 0o700), (0o644, 0o644), (0o664, 0o644), (0o755, 0o755), (0o771, 0o711), (0o604, 0o604)];
        for (mode, narrowed) in cases {
            assert_eq!(without_mask(mode), narrowed, "{mode:o}");
        }
    }
}
