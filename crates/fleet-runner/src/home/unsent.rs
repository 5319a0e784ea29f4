//! Runs without tasks on a server: a file for each, next to those of the tasks.
//!
//! The file exists before the first task of the run, and is removed before a server can receive one of them. So a run
//! without it may be on a server, and so may one of an earlier version, which wrote no such file.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use cocode_fleet::RunName;

use super::durable_file;
use super::task_files::TaskFiles;

/// The extension of the file.
pub(super) const UNSENT: &str = "unsent";

impl TaskFiles {
    /// Records that no server has a task of a run; called before its first task. It is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn mark_unsent(&self, run: &RunName) -> io::Result<()> {
        File::create(self.unsent_path(run))?.sync_all()?;
        durable_file::sync(self.folder())
    }

    /// Checks whether it is certain that no server has a task of a run.
    #[must_use]
    pub fn is_unsent(&self, run: &RunName) -> bool {
        self.unsent_path(run).exists()
    }

    /// Records that a server may receive tasks of a run from here on. It is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// If the file cannot be removed; then no server may receive a task of the run.
    pub fn mark_sent(&self, run: &RunName) -> io::Result<()> {
        match fs::remove_file(self.unsent_path(run)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            // A killed process may have removed the name without syncing that.
            _ => durable_file::sync(self.folder()),
        }
    }

    fn unsent_path(&self, run: &RunName) -> PathBuf {
        self.folder().join(format!("{run}.{UNSENT}"))
    }
}
