//! Whether a state folder belongs to this user alone.
//!
//! What a state folder holds is believed, and processes that share it carry out each other's calls. So another user, an
//! ordinary one in front of the superuser included, must neither own it nor be able to write into it.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The permissions by which others than the owner may write.
const OTHERS_WRITE: u32 = 0o022;

/// Why a state folder is not this user's alone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(super) enum OwnershipError {
    /// It cannot be looked at.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It belongs to another user.
    #[error("it belongs to user {owner}, and agentd runs as user {user}")]
    OwnedByAnother { owner: u32, user: u32 },
    /// Its permissions let others write into it.
    #[error("others than its owner may write into it (mode {mode:03o})")]
    WritableByOthers { mode: u32 },
}

impl OwnershipError {
    /// What to do about it.
    pub(super) fn advice(&self) -> &'static str {
        match self {
            OwnershipError::Io(_) => "choose another one with --base DIR",
            OwnershipError::OwnedByAnother { .. } => {
                "run agentd as that user, or choose a state folder of your own with --base DIR"
            }
            OwnershipError::WritableByOthers { .. } => {
                "look at what is in it; if it is yours, close it with chmod go-w, else remove it or say --base DIR"
            }
        }
    }
}

/// Refuses a state folder that another user owns or may write into. One that does not exist yet, or is not a folder, passes:
/// making it reports what is wrong with it.
///
/// # Errors
///
/// Each kind of [`OwnershipError`].
pub(super) fn check(folder: &Path) -> Result<(), OwnershipError> {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => check_folder(&found, rustix::process::geteuid().as_raw()),
        Ok(_) => Ok(()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

fn check_folder(found: &Metadata, user: u32) -> Result<(), OwnershipError> {
    if found.uid() != user {
        return Err(OwnershipError::OwnedByAnother { owner: found.uid(), user });
    }
    if found.mode() & OTHERS_WRITE != 0 {
        return Err(OwnershipError::WritableByOthers { mode: found.mode() & 0o777 });
    }
    Ok(())
}
