//! The tasks that were submitted to a fleet and are not resolved: a file for each, so that they survive their submitter.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cocode_fleet::{Task, TaskLimits, TaskName};

use super::durable_file;
use super::retries::{BEGUN, REQUESTED};
use super::unsent::UNSENT;
use crate::private_folder::make_private_folder;

/// The end of the files' names.
const END: &str = ".json";

/// The folder of the tasks.
#[derive(Clone, Debug)]
pub struct TaskFiles {
    folder: PathBuf,
}

impl TaskFiles {
    /// Opens the folder, creating it if it is missing.
    ///
    /// # Errors
    ///
    /// The folder cannot be made.
    pub fn open(folder: PathBuf) -> io::Result<TaskFiles> {
        make_private_folder(&folder)?;
        Ok(TaskFiles { folder })
    }

    /// Writes a task; it is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// The task is larger than [`TaskLimits`] allow, or its file cannot be written.
    pub fn put(&self, task: &Task) -> io::Result<()> {
        let bytes = task.render(&TaskLimits::default()).map_err(io::Error::other)?;
        durable_file::write(&self.folder, &file_name(&task.name), &bytes)
    }

    /// Reads a task; `None` if there is none of the name.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a task's.
    pub fn get(&self, name: &TaskName) -> io::Result<Option<Task>> {
        match fs::read(self.path(name)) {
            Ok(bytes) => Task::parse(&bytes, &TaskLimits::default()).map(Some).map_err(io::Error::other),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the names of all tasks, in order. Other files do not count.
    ///
    /// # Errors
    ///
    /// The folder cannot be read.
    pub fn names(&self) -> io::Result<Vec<TaskName>> {
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

    /// Removes a task, if it exists.
    ///
    /// # Errors
    ///
    /// The file cannot be removed.
    pub fn remove(&self, name: &TaskName) -> io::Result<()> {
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes leftovers of removed tasks: requests, marks, and half-written files. Other files stay.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read, or a file cannot be removed.
    pub(super) fn remove_leftovers(&self) -> io::Result<()> {
        let names = self.names()?;
        let runs: HashSet<&str> = names.iter().map(|name| name.run.as_str()).collect();
        let tasks: HashSet<String> = names.iter().map(file_name).collect();
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            let is_left = match name.rsplit_once('.') {
                _ if durable_file::is_unfinished(name) => true,
                Some((run, UNSENT)) => !runs.contains(run),
                Some((task, REQUESTED | BEGUN)) => !tasks.contains(&format!("{task}{END}")),
                _ => false,
            };
            if is_left {
                fs::remove_file(self.folder.join(name))?;
            }
        }
        Ok(())
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn path(&self, name: &TaskName) -> PathBuf {
        self.folder.join(file_name(name))
    }
}

fn file_name(name: &TaskName) -> String {
    // Names of runs and agents have no dots.
    format!("{}.{}{END}", name.run, name.agent)
}
