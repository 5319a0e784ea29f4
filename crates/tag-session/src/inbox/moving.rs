//! Moving replies out of the inbox: exactly the file that was read, and never over another one.
//!
//! A reply can take long to be executed, and a user may save another one under its name meanwhile. That one is a reply of its
//! own: it stays in the inbox.

use std::path::PathBuf;

use drop_folder::{DroppedFile, move_to_free_name};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

use crate::folders::StateFolders;
use crate::inbox::file::InboxFile;

/// The path to which a file was moved, relative to the state folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside(pub PathBuf);

/// Moves an executed reply to `processed/`, never over another file. One that is missing, or another one by now, stays.
pub(crate) fn move_to_processed(folders: &StateFolders, file: &InboxFile) -> Result<(), FsError> {
    // A missing file is success: moving is repeated after a crash.
    if file.is_still_there(folders)? {
        let is_same = |moved: &DroppedFile| file.is_same(&folders.processed, moved);
        move_if(folders, &file.name, &folders.processed, &is_same)?;
    }
    Ok(())
}

/// Moves a file of the inbox as it was listed, if it is still that file. Returns its new name; `None` if it is not.
pub(crate) fn move_listed(
    folders: &StateFolders,
    file: &DroppedFile,
    to: &FileRoot,
) -> Result<Option<RelPath>, FsError> {
    // Moving changes the time of the last status change, which tells nothing about the content.
    let state = |stamp: &sandbox_fs::FileStamp| {
        (stamp.device, stamp.inode, stamp.size_bytes, stamp.modified_nanoseconds)
    };
    move_if(folders, &file.name, to, &|moved| state(&moved.stamp) == state(&file.stamp))
}

/// Moves a file to `set-aside/`, never over another file.
pub(crate) fn set_aside(folders: &StateFolders, name: &RelPath) -> Result<SetAside, FsError> {
    Ok(path_aside(&move_to_free_name(&folders.inbox, name, &folders.set_aside)?))
}

/// Moves a file that is not a usable reply to `set-aside/`, never over another file; `None` if it is another one by now.
pub(crate) fn set_listed_aside(
    folders: &StateFolders,
    file: &DroppedFile,
) -> Result<Option<SetAside>, FsError> {
    let moved = move_listed(folders, file, &folders.set_aside)?;
    Ok(moved.map(|moved| path_aside(&moved)))
}

fn path_aside(moved: &RelPath) -> SetAside {
    SetAside(PathBuf::from("inbox/set-aside").join(moved.to_string()))
}

/// Moves a file, and returns it to the inbox unless it is the expected one.
fn move_if(
    folders: &StateFolders,
    name: &RelPath,
    to: &FileRoot,
    is_expected: &dyn Fn(&DroppedFile) -> bool,
) -> Result<Option<RelPath>, FsError> {
    let moved = match move_to_free_name(&folders.inbox, name, to) {
        Ok(moved) => moved,
        Err(FsError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    // Looked at after the move: the name in the inbox may have become that of another file at any moment before it.
    let metadata = match to.metadata(&moved) {
        Err(FsError::NotFound { .. }) => return Ok(Some(moved)),
        metadata => metadata?,
    };
    let file = DroppedFile {
        name: moved.clone(),
        kind: metadata.kind,
        stamp: metadata.stamp(),
        mode: metadata.mode,
    };
    if is_expected(&file) {
        return Ok(Some(moved));
    }
    match to.rename_noreplace(&moved, &folders.inbox, name) {
        // A third file has the name by now.
        Err(FsError::AlreadyExists { .. }) => move_to_free_name(to, &moved, &folders.inbox).map(|_| None),
        returned => returned.map(|_| None),
    }
}
