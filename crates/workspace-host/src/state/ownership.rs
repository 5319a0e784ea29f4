//! The check that a state folder belongs to this user alone.
//!
//! The contents of a state folder are trusted, and processes that share it carry out each other's calls. So no other user
//! may own it or write into it; that includes an ordinary user's folder that the superuser opens.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The permissions by which users other than the owner may write.
const OTHERS_WRITE: u32 = 0o022;

/// The reason why a state folder is not this user's alone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(super) enum OwnershipError {
    /// Its metadata cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It belongs to another user.
    #[error("it belongs to user {owner}, and agentd runs as user {user}")]
    OwnedByAnother { owner: u32, user: u32 },
    /// Its permissions let others write into it.
    #[error("users other than its owner may write into it (mode {mode:03o})")]
    WritableByOthers { mode: u32 },
}

impl OwnershipError {
    /// Returns the advice for the user.
    pub(super) fn advice(&self) -> &'static str {
        match self {
            OwnershipError::Io(_) => "choose another one with --base DIR",
            OwnershipError::OwnedByAnother { .. } => {
                "run agentd as that user, or choose a state folder of your own with --base DIR"
            }
            OwnershipError::WritableByOthers { .. } => {
                "look at its contents; if they are yours, close it with chmod go-w, else remove it or choose another with --base DIR"
            }
        }
    }
}

/// Refuses a state folder that another user owns or may write into. A missing one passes, and so does an entry that is
/// not a folder: creating the folder reports that.
///
/// # Errors
///
/// Each kind of [`OwnershipError`].
pub(super) fn check(folder: &Path) -> Result<(), OwnershipError> {
    match fs::symlink_metadata(folder) {
        Ok(metadata) if metadata.is_dir() => check_folder(&metadata, rustix::process::geteuid().as_raw()),
        Ok(_) => Ok(()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

fn check_folder(metadata: &Metadata, user: u32) -> Result<(), OwnershipError> {
    if metadata.uid() != user {
        return Err(OwnershipError::OwnedByAnother { owner: metadata.uid(), user });
    }
    if metadata.mode() & OTHERS_WRITE != 0 {
        return Err(OwnershipError::WritableByOthers { mode: metadata.mode() & 0o777 });
    }
    Ok(())
}
