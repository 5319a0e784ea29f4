//! Moves replies out of the inbox: exactly the file that was read, and never over another file.
//!
//! Executing a reply can take long, and the user may save another reply under its name meanwhile. That reply stays in the inbox.

use std::path::PathBuf;

use drop_folder::{DroppedFile, move_to_free_name};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

use crate::folders::StateFolders;
use crate::inbox::file::InboxFile;

/// The path to which a file was moved, relative to the state folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside(pub PathBuf);

/// Moves an executed reply to `processed/`, never over another file. Does nothing if the file is missing or was replaced.
pub(crate) fn move_to_processed(folders: &StateFolders, file: &InboxFile) -> Result<(), FsError> {
    // A missing file is success: moving is repeated after a crash.
    if file.is_still_there(folders)? {
        let is_same = |moved: &DroppedFile| file.is_same(&folders.processed, moved);
        move_if(folders, &file.name, &folders.processed, &is_same)?;
    }
    Ok(())
}

/// Moves a reply that was read to `set-aside/`, never over another file; `None` if another file now has its name, which stays.
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

/// Moves a listed file of the inbox and returns its new name; `None` if it is no longer the same file.
pub(crate) fn move_listed(
    folders: &StateFolders,
    file: &DroppedFile,
    to: &FileRoot,
) -> Result<Option<RelPath>, FsError> {
    // Moving changes the time of the last status change, which is independent of the content.
    let state = |stamp: &sandbox_fs::FileStamp| {
        (stamp.device, stamp.inode, stamp.size_bytes, stamp.modified_nanoseconds)
    };
    match move_if(folders, &file.name, to, &|moved| state(&moved.stamp) == state(&file.stamp))? {
        Moved::To(name) => Ok(Some(name)),
        Moved::Another | Moved::Missing => Ok(None),
    }
}

/// Moves a file that is not a usable reply to `set-aside/`, never over another file; `None` if it is no longer the same file.
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

/// The outcome of an attempt to move a file.
enum Moved {
    /// The file has this name in the other folder.
    To(RelPath),
    /// Another file had its name, and was returned to the inbox.
    Another,
    /// No file had its name.
    Missing,
}

/// Moves a file, and moves it back to the inbox unless it is the expected file.
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
    // Checked after the move: before it, another file may take the name in the inbox at any moment.
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
        // A third file has taken the name.
        Err(FsError::AlreadyExists { .. }) => move_to_free_name(to, &moved, &folders.inbox)?,
        returned => returned?,
    };
    Ok(Moved::Another)
}
