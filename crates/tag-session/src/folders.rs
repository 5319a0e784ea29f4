//! Handles of the session folders within the state folder.

use std::io;
use std::path::{Path, PathBuf};

use sandbox_fs::{FileRoot, FsError, FsPolicy, NewNames, RootError, RootRules};

use crate::inbox::file::{self, InboxFile, Unusable};
use crate::inbox::moving::{self, SetAside};
use crate::projection;

/// The folders that people and sessions share.
#[derive(Debug)]
pub struct StateFolders {
    pub(crate) inbox: FileRoot,
    pub(crate) processed: FileRoot,
    pub(crate) set_aside: FileRoot,
    pub(crate) outbox: FileRoot,
    pub(crate) sessions: FileRoot,
    base: PathBuf,
}

impl StateFolders {
    /// Opens `inbox/` with `processed/` and `set-aside/`, `outbox/` and `sessions/` in the state folder, creating the missing
    /// ones. The state folder itself must exist.
    ///
    /// # Errors
    ///
    /// The operating system's error, or a refusal if one of the folders is a symlink.
    pub fn open(base: &Path) -> Result<StateFolders, RootError> {
        let folder = |path: &Path| {
            match std::fs::create_dir(path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(RootError::Io(error));
                }
                _ => {}
            }
            // Through a symlink, replies and messages would be in a folder chosen by its author.
            if std::fs::symlink_metadata(path)?.file_type().is_symlink() {
                return Err(RootError::NotAFolder);
            }
            let policy = FsPolicy::private().with_new_names(NewNames::Any);
            FileRoot::open(path, &RootRules::none(), policy)
        };
        let inbox = base.join("inbox");
        Ok(StateFolders {
            inbox: folder(&inbox)?,
            processed: folder(&inbox.join("processed"))?,
            set_aside: folder(&inbox.join("set-aside"))?,
            outbox: folder(&base.join("outbox"))?,
            sessions: folder(&base.join("sessions"))?,
            base: base.to_owned(),
        })
    }

    /// Returns the folder for replies.
    #[must_use]
    pub fn inbox_path(&self) -> PathBuf {
        self.base.join("inbox")
    }

    /// Quarantines a reply that was not executed; `None` if another file was saved under its name since it was read. That file is
    /// another reply, and stays in the inbox.
    ///
    /// # Errors
    ///
    /// [`FsError::NotFound`] if no file has its name any longer, and others if it cannot be moved.
    pub fn set_aside(&self, file: &InboxFile) -> Result<Option<SetAside>, FsError> {
        moving::set_aside(self, file)
    }

    /// Writes a reply to the inbox atomically, replacing a file with this name.
    ///
    /// # Errors
    ///
    /// If the name is invalid for a file in the inbox, or the file cannot be written.
    pub fn put_reply(&self, name: &str, text: &str) -> Result<(), FsError> {
        projection::write(&self.inbox, name, text.as_bytes())
    }

    /// Reads a complete file of the inbox; `None` if there is no such file.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be a reply.
    pub fn reply(&self, name: &str) -> Result<Option<InboxFile>, Unusable> {
        let candidates = file::candidates(self).map_err(Unusable::Other)?;
        let candidate = candidates.into_iter().find(|candidate| candidate.name.as_bytes() == name.as_bytes());
        candidate.map_or(Ok(None), |candidate| file::read(&self.inbox, &candidate))
    }

    /// Returns the path of the outbox of this name.
    #[must_use]
    pub fn outbox_path(&self, name: &str) -> PathBuf {
        self.base.join("outbox").join(name)
    }
}
