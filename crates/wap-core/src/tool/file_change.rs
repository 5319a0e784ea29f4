//! Changes of files in batches.

use serde::{Deserialize, Serialize};

use crate::{DeleteFile, DeleteFileResponse, ModifyFile, ModifyFileResponse, WriteFile, WriteFileResponse};

/// One item of a batch for [`Workspace::change_files`](crate::Workspace::change_files).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileChange {
    /// Write a whole file.
    Write(WriteFile),
    /// Change lines of a file.
    Modify(ModifyFile),
    /// Delete a file.
    Delete(DeleteFile),
}

impl FileChange {
    /// Returns the path as the request spelled it.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            FileChange::Write(write) => &write.path,
            FileChange::Modify(modify) => &modify.path,
            FileChange::Delete(delete) => &delete.path,
        }
    }
}

/// The result of one item of a batch; the variant is the one of its [`FileChange`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileChanged {
    /// A whole file was written.
    Written(WriteFileResponse),
    /// Lines were changed.
    Modified(ModifyFileResponse),
    /// A file was deleted.
    Deleted(DeleteFileResponse),
}

impl FileChanged {
    /// Returns the canonical path of the file.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            FileChanged::Written(written) => &written.path,
            FileChanged::Modified(modified) => &modified.path,
            FileChanged::Deleted(deleted) => &deleted.path,
        }
    }
}
