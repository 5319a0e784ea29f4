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

/// Moves a reply that was read to `set-aside/`, never over another file; `None` if its name is that of another file by now, which
/// stays.
pub(crate) fn set_aside(folders: &StateFolders, file: &InboxFile) -> Result<Option<SetAside>, FsError> {
    if !file.is_still_there(folders)? {
        return folders.inbox.metadata(&file.name).map(|_| None);
    }
    let is_same = |moved: &DroppedFile| file.is_same(&folders.set_aside, moved);
    match move_if(folders, &file.name, &folders.set_aside, &is_same)? {
        Moved::To(name) => Ok(Some(path_aside(&name))),
        Moved::Another => Ok(None),
        Moved::Missing => Err(FsError::NotFound { path: file.name.clone() }),
    }
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
    match move_if(folders, &file.name, to, &|moved| state(&moved.stamp) == state(&file.stamp))? {
        Moved::To(name) => Ok(Some(name)),
        Moved::Another | Moved::Missing => Ok(None),
    }
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

/// The end of an attempt to move a file.
enum Moved {
    /// It has this name in the other folder.
    To(RelPath),
    /// Another file had its name, and was returned to the inbox.
    Another,
    /// No file had its name.
    Missing,
}

/// Moves a file, and returns it to the inbox unless it is the expected one.
fn move_if(
    folders: &StateFolders,
    name: &RelPath,
    to: &FileRoot,
    is_expected: &dyn Fn(&DroppedFile) -> bool,
) -> Result<Moved, FsError> {
    let moved = match move_to_free_name(&folders.inbox, name, to) {
        Ok(moved) => moved,
        Err(FsError::NotFound { .. }) => return Ok(Moved::Missing),
        Err(error) => return Err(error),
    };
    // Looked at after the move: the name in the inbox may have become that of another file at any moment before it.
    let metadata = match to.metadata(&moved) {
        Err(FsError::NotFound { .. }) => return Ok(Moved::To(moved)),
        metadata => metadata?,
    };
    let file = DroppedFile {
        name: moved.clone(),
        kind: metadata.kind,
        stamp: metadata.stamp(),
        mode: metadata.mode,
    };
    if is_expected(&file) {
        return Ok(Moved::To(moved));
    }
    match to.rename_noreplace(&moved, &folders.inbox, name) {
        // A third file has the name by now.
        Err(FsError::AlreadyExists { .. }) => move_to_free_name(to, &moved, &folders.inbox)?,
        returned => returned?,
    };
    Ok(Moved::Another)
}
