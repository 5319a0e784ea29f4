//! Files that are written from documents, and moving replies out of the inbox.

use std::path::PathBuf;

use drop_folder::{move_to_free_name, rename_beside};
use rel_path::RelPath;
use sandbox_fs::{Expected, FileMode, FileRoot, FsError};
use tagproto::Session;

use crate::folders::StateFolders;

/// The path to which a file was moved, relative to the state folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside(pub PathBuf);

/// Writes a projection as a whole: to a temporary file, which is then renamed.
///
/// It is not synced. The journal has synced the same bytes, and a file that a power loss has damaged is written again from
/// there.
pub(crate) fn write(folder: &FileRoot, name: &str, bytes: &[u8]) -> Result<(), FsError> {
    let path = RelPath::parse(name)?;
    folder.stage(&path, bytes, FileMode::Keep)?.publish(Expected::Anything).map(drop)
}

/// Writes the parts of the pending outbox of a session, and removes those of an earlier text of it.
pub(crate) fn write_parts(folder: &FileRoot, session: &Session, outbox: &str) -> Result<(), FsError> {
    if session.paste_characters.is_none() {
        return Ok(());
    }
    let parts = session.outbox_parts(outbox);
    let prefix = session.outbox_part_prefix();
    for entry in folder.list(&RelPath::root())? {
        let name = entry.path.to_string();
        if name.starts_with(&prefix) && parts.iter().all(|(part, _)| *part != name) {
            folder.remove_file(&entry.path, None)?;
        }
    }
    parts.iter().try_for_each(|(name, text)| write(folder, name, text.as_bytes()))
}

/// Removes the temporary files of a process that was killed in [`write`].
pub(crate) fn clear_leftovers(folder: &FileRoot) {
    // Projections are never exchanged with files of other programs, so every file with such a name is one of these. The
    // next start tries again to remove the rest.
    let _ = folder.sweep_leftovers(&RelPath::root(), |_| true);
}

/// Reads a projection; `None` if it is missing.
pub(crate) fn read(folder: &FileRoot, name: &str, limit_bytes: u64) -> Result<Option<Vec<u8>>, FsError> {
    match folder.open_file(&RelPath::parse(name)?).and_then(|file| file.read_to_end(limit_bytes)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(FsError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Moves an executed reply to `processed/`, never over another file. A missing one was moved before.
pub(crate) fn move_to_processed(folders: &StateFolders, name: &RelPath) -> Result<(), FsError> {
    // A missing file is success: moving is repeated after a crash.
    match move_to_free_name(&folders.inbox, name, &folders.processed) {
        Ok(_) | Err(FsError::NotFound { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Moves a file that is not a usable reply to `set-aside/`, never over another file.
pub(crate) fn set_aside(folders: &StateFolders, name: &RelPath) -> Result<SetAside, FsError> {
    let moved = move_to_free_name(&folders.inbox, name, &folders.set_aside)?;
    Ok(SetAside(PathBuf::from("inbox/set-aside").join(moved.to_string())))
}

/// Renames a projection within its folder, to a name with `word` in it.
pub(crate) fn keep_beside(folder: &FileRoot, name: &str, word: &str) -> Result<RelPath, FsError> {
    rename_beside(folder, &RelPath::parse(name)?, word)
}
