//! The tasks that were submitted to a fleet and are not resolved: a file for each, so that they survive their submitter.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cocode_fleet::{Task, TaskLimits, TaskName};

/// The end of the files' names.
const END: &str = ".json";

/// The extension of a file that requests a retry.
const RETRY: &str = "retry";

/// The folder of the tasks.
#[derive(Clone, Debug)]
pub(crate) struct TaskFiles {
    folder: PathBuf,
}

impl TaskFiles {
    /// Opens the folder, and makes it if it is missing.
    pub(crate) fn open(folder: PathBuf) -> io::Result<TaskFiles> {
        make_private_folder(&folder)?;
        Ok(TaskFiles { folder })
    }

    /// Writes a task; it is on the disk when this returns.
    pub(crate) fn put(&self, task: &Task) -> io::Result<()> {
        let bytes = task.render(&TaskLimits::default()).map_err(io::Error::other)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&bytes)?;
        file.as_file().sync_all()?;
        file.persist(self.path(&task.name)).map_err(|error| error.error)?;
        File::open(&self.folder)?.sync_all()
    }

    /// Reads a task; `None` if there is none of the name.
    pub(crate) fn get(&self, name: &TaskName) -> io::Result<Option<Task>> {
        match fs::read(self.path(name)) {
            Ok(bytes) => Task::parse(&bytes, &TaskLimits::default()).map(Some).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the names of all tasks.
    pub(crate) fn names(&self) -> io::Result<Vec<TaskName>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            let task = name.to_str().and_then(|name| name.strip_suffix(END)?.split_once('.'));
            if let Some((run, agent)) = task
                && let (Ok(run), Ok(agent)) = (run.parse(), agent.parse())
            {
                names.push(TaskName::new(run, agent));
            }
        }
        names.sort();
        Ok(names)
    }

    /// Removes a task, if it is there.
    pub(crate) fn remove(&self, name: &TaskName) -> io::Result<()> {
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Requests that a task be given out again. The process that has the records open does so with the next look at the journal.
    pub(crate) fn request_retry(&self, name: &TaskName) -> io::Result<()> {
        File::create(self.path(name).with_extension(RETRY))?.sync_all()
    }

    /// Checks whether that was requested.
    pub(crate) fn is_retried(&self, name: &TaskName) -> bool {
        self.path(name).with_extension(RETRY).exists()
    }

    /// Checks whether that was requested, and forgets the request.
    pub(crate) fn take_retry(&self, name: &TaskName) -> bool {
        fs::remove_file(self.path(name).with_extension(RETRY)).is_ok()
    }

    fn path(&self, name: &TaskName) -> PathBuf {
        // Names of runs and agents have no dots.
        self.folder.join(format!("{}.{}{END}", name.run, name.agent))
    }
}

/// Makes a folder with its parents, closed to other users.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).recursive(true).create(folder)
}
