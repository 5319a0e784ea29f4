//! The objects that an agent makes, in a folder of its own.
//!
//! Whoever may write a file in a folder of objects may also remove and replace what is there, and give a new object a name that
//! its contents have not. A confined agent therefore sees a folder of its own in the place of the repository's objects. Those are
//! to be read elsewhere, where its own folder says that others are.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::RunnerError;
use crate::objects::loose_objects;
use crate::objects::taken_objects::TakenObjects;
use crate::repository::git::GitError;
use crate::repository::worktree::{OWN_FOLDER, Worktree, file_error};
use crate::repository::{Repository, closed_folder};

/// Where a folder of objects says which others there are.
const ALTERNATES: &str = "info/alternates";

/// The folders that one agent sees in the place of the repository's.
#[derive(Clone, Debug)]
pub(crate) struct OwnObjects {
    /// The folder of all that the agent has to itself.
    folder: PathBuf,
    own: PathBuf,
    /// Where the agent finds the repository's.
    shared: PathBuf,
    common: PathBuf,
}

impl OwnObjects {
    /// Names the folders for a worktree. Nothing is made.
    pub(crate) fn of(worktree: &Worktree, common_folder: &Path) -> OwnObjects {
        let folder = worktree.git_folder.join(OWN_FOLDER);
        OwnObjects {
            own: folder.join("objects"),
            shared: folder.join("shared-objects"),
            folder,
            common: common_folder.join("objects"),
        }
    }

    /// The same for a check, with a folder in which nothing is yet: what is false in the agent's is not for it to read, and
    /// all that is right has been brought.
    pub(crate) fn for_check(self) -> OwnObjects {
        OwnObjects { own: self.folder.join("check-objects"), ..self }
    }

    /// The folder of all that the agent has to itself.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The repository's folder of objects.
    pub(crate) fn common(&self) -> &Path {
        &self.common
    }

    /// What was taken of the agent's objects: nothing yet.
    pub(crate) fn taken(&self) -> TakenObjects {
        TakenObjects::new(self.own.clone(), self.folder.join("taken-objects"))
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

    /// Returns each folder with the one in whose place the agent sees it.
    pub(crate) fn replaced(&self) -> Vec<(PathBuf, PathBuf)> {
        let mut replaced =
            vec![(self.own.clone(), self.common.clone()), (self.common.clone(), self.shared.clone())];
        if self.has_others() {
            // What is said there of others may be meant from where the folder really is.
            let info = self.shared.join("info");
            replaced.push((info.clone(), info));
        }
        replaced
    }

    /// What the agent cannot change of what it sees: where other objects are.
    pub(crate) fn read_only(&self) -> PathBuf {
        self.common.join("info")
    }

    /// The folders of other repositories in which this one finds objects, as git tells them.
    pub(crate) fn elsewhere(&self, repository: &Repository) -> Result<Vec<PathBuf>, GitError> {
        if !self.has_others() {
            return Ok(Vec::new());
        }
        let said = repository.git.run(repository.location(), &["count-objects", "-v"])?;
        let folders = said.lines().filter_map(|line| line.strip_prefix("alternate: ")).map(PathBuf::from);
        // One with a name that git has to quote is not found, as is one that is gone. What is none is not shown to an agent.
        let is_one = |folder: &PathBuf| {
            folder.is_absolute() && folder.ends_with("objects") && folder.join("pack").is_dir()
        };
        Ok(folders.filter(is_one).collect())
    }

    /// Gives the owner back the folders that the agent has closed to everybody.
    pub(crate) fn reopen(&self) {
        loose_objects::reopen(&self.own);
    }

    fn has_others(&self) -> bool {
        self.common.join(ALTERNATES).exists()
    }
}
