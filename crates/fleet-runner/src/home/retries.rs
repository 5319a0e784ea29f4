//! Requests to resubmit a task: files next to those of the tasks.
//!
//! A request is renamed when it is begun and removed when the task is submitted, so that it is carried out once,
//! whenever a process is killed.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use cocode_fleet::TaskName;

use super::durable_file;
use super::task_files::TaskFiles;

/// The extension of a request.
pub(super) const REQUESTED: &str = "retry";

/// The extension of a request that is being carried out.
pub(super) const BEGUN: &str = "retrying";

impl TaskFiles {
    /// Requests that a task be resubmitted. The process that has the records open does so with the next reading of the
    /// journal. The request is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// The request cannot be written.
    pub fn request_retry(&self, name: &TaskName) -> io::Result<()> {
        File::create(self.retry_path(name, REQUESTED))?.sync_all()?;
        durable_file::sync(self.folder())
    }

    /// Checks whether a retry of a task is requested, or begun and not ended.
    #[must_use]
    pub fn is_retried(&self, name: &TaskName) -> bool {
        self.retry_path(name, REQUESTED).exists() || self.retry_path(name, BEGUN).exists()
    }

    /// Begins a retry of a task, and returns whether there is one: requested, or begun before and not ended.
    ///
    /// # Errors
    ///
    /// The beginning cannot be written; the request stays.
    pub fn begin_retry(&self, name: &TaskName) -> io::Result<bool> {
        let begun = self.retry_path(name, BEGUN);
        match fs::rename(self.retry_path(name, REQUESTED), &begun) {
            Ok(()) => durable_file::sync(self.folder()).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => begun.try_exists(),
            Err(error) => Err(error),
        }
    }

    /// Ends the retry of a task that was begun, if there is one. A request that came later stays.
    ///
    /// # Errors
    ///
    /// The beginning cannot be removed.
    pub fn end_retry(&self, name: &TaskName) -> io::Result<()> {
        match fs::remove_file(self.retry_path(name, BEGUN)) {
            Ok(()) => durable_file::sync(self.folder()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn retry_path(&self, name: &TaskName, extension: &str) -> PathBuf {
        self.path(name).with_extension(extension)
    }
}
