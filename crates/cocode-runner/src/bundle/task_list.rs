//! The task repositories that read a base repository's objects, so that the objects stay as long as they are needed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use change_journal::ContentHash;

/// A list of repositories, each with the base that it needs: a folder with one file for each.
#[derive(Debug)]
pub(super) struct TaskList {
    folder: PathBuf,
}

impl TaskList {
    /// Makes the folder if it is missing.
    pub(super) fn open(folder: PathBuf) -> io::Result<TaskList> {
        fs::create_dir_all(&folder)?;
        Ok(TaskList { folder })
    }

    /// Adds the repository `task`, or changes its base.
    pub(super) fn add(&self, task: &Path, commit: &str) -> io::Result<()> {
        let path = task.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
        let name = ContentHash::of(path.as_bytes()).to_string();
        fs::write(self.folder.join(name), format!("{commit}\n{path}"))
    }

    /// Returns the bases of all repositories that still exist, and forgets the others.
    pub(super) fn bases(&self) -> io::Result<Vec<String>> {
        let mut bases = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let file = entry?.path();
            let text = fs::read_to_string(&file)?;
            match text.split_once('\n') {
                Some((commit, path)) if Path::new(path).is_dir() => bases.push(commit.to_owned()),
                _ => fs::remove_file(&file)?,
            }
        }
        Ok(bases)
    }
}
