//! The objects that an agent makes, in a separate folder.
//!
//! A process that may write to a folder of objects may also remove and replace existing ones, and give a new object a name
//! that does not match its contents. A confined agent therefore sees its own folder instead of the repository's objects.
//! It reads those at another path, which its own folder lists as an alternate.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::RunnerError;
use crate::objects::loose_objects;
use crate::objects::object_snapshot::ObjectSnapshot;
use crate::repository::git::GitError;
use crate::repository::worktree::{OWN_FOLDER, Worktree, file_error};
use crate::repository::{Repository, closed_folder};

/// The file in which a folder of objects lists other such folders.
const ALTERNATES: &str = "info/alternates";

/// The folders that one agent sees instead of the repository's.
#[derive(Clone, Debug)]
pub(crate) struct OwnObjects {
    /// The folder of the agent's own view.
    folder: PathBuf,
    own: PathBuf,
    /// The path at which the agent reads the repository's objects.
    shared: PathBuf,
    common: PathBuf,
}

impl OwnObjects {
    /// Returns the paths for a worktree. Nothing is made.
    pub(crate) fn of(worktree: &Worktree, common_folder: &Path) -> OwnObjects {
        let folder = worktree.git_folder.join(OWN_FOLDER);
        OwnObjects {
            own: folder.join("objects"),
            shared: folder.join("shared-objects"),
            folder,
            common: common_folder.join("objects"),
        }
    }

    /// Returns the paths for objects that were received from another machine into `folder`. No agent reads them there.
    pub(crate) fn received(folder: &Path, common_folder: &Path) -> OwnObjects {
        OwnObjects {
            own: folder.join("objects"),
            shared: folder.join("shared-objects"),
            folder: folder.to_owned(),
            common: common_folder.join("objects"),
        }
    }

    /// Returns the paths for a check, with a new and empty folder of objects: all valid objects of the agent have been
    /// imported, and the check must not read forged ones.
    pub(crate) fn for_check(self) -> OwnObjects {
        OwnObjects { own: self.folder.join("check-objects"), ..self }
    }

    /// Returns the folder of the agent's own view.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the folder of the new objects.
    pub(crate) fn own(&self) -> &Path {
        &self.own
    }

    /// Returns the repository's folder of objects.
    pub(crate) fn common(&self) -> &Path {
        &self.common
    }

    /// Returns an empty snapshot of the agent's objects.
    pub(crate) fn snapshot(&self) -> ObjectSnapshot {
        ObjectSnapshot::new(self.own.clone(), self.folder.join("taken-objects"))
    }

    /// Makes the folders.
    pub(crate) fn make(&self, repository: &Repository) -> Result<(), RunnerError> {
        for folder in [self.own.join("info"), self.own.join("pack"), self.shared.join("info")] {
            closed_folder::make(&folder).map_err(file_error("make", &folder))?;
        }
        let mut text = String::new();
        for folder in std::iter::once(self.shared.clone()).chain(self.elsewhere(repository)?) {
            text.extend([&folder.to_string_lossy(), "\n"]);
        }
        let file = self.own.join(ALTERNATES);
        fs::write(&file, text).map_err(file_error("write", &file))
    }

    /// Returns pairs of a folder and the folder that it replaces in the agent's view.
    pub(crate) fn replaced(&self) -> Vec<(PathBuf, PathBuf)> {
        let mut replaced =
            vec![(self.own.clone(), self.common.clone()), (self.common.clone(), self.shared.clone())];
        if self.has_others() {
            // The alternates in there may be relative to the real path of the folder.
            let info = self.shared.join("info");
            replaced.push((info.clone(), info));
        }
        replaced
    }

    /// Returns the part of its view that the agent cannot change: the folder with the list of alternates.
    pub(crate) fn read_only(&self) -> PathBuf {
        self.common.join("info")
    }

    /// Returns the folders of other repositories in which this one finds objects, as git prints them.
    pub(crate) fn elsewhere(&self, repository: &Repository) -> Result<Vec<PathBuf>, GitError> {
        if !self.has_others() {
            return Ok(Vec::new());
        }
        let counts = repository.git.run(repository.location(), &["count-objects", "-v"])?;
        let folders = counts.lines().filter_map(|line| line.strip_prefix("alternate: ")).map(PathBuf::from);
        // Deleted folders, and names that git prints in quotes, are left out. The check of the folder's shape keeps an arbitrary
        // entry from making another folder visible to an agent.
        let is_one = |folder: &PathBuf| {
            folder.is_absolute() && folder.ends_with("objects") && folder.join("pack").is_dir()
        };
        Ok(folders.filter(is_one).collect())
    }

    /// Restores the owner's permissions on the agent's folders of objects.
    pub(crate) fn reopen(&self) {
        loose_objects::reopen(&self.own);
    }

    fn has_others(&self) -> bool {
        self.common.join(ALTERNATES).exists()
    }
}
