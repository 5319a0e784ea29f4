//! The location of a client's file after following symbolic links.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use crate::client::McpClient;
use crate::error::ConfigError;
use crate::folder::Folder;

/// The folder and the name of a file that exists or can be created.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// A folder to open by its path: the workspace for a file of the project.
    base: PathBuf,
    /// The path from there to the last existing folder, without links.
    folders: PathBuf,
    /// The missing folders below that one.
    missing: PathBuf,
    /// The name of the file in the last folder.
    pub(crate) name: OsString,
    /// True if the file exists.
    pub(crate) is_there: bool,
}

impl Location {
    /// Finds the location of `file`. A file of the project has to be in `workspace`: tools that work on the project could have
    /// created its links.
    pub(crate) fn find(client: McpClient, workspace: &Path, file: &Path) -> Result<Location, ConfigError> {
        let file = std::path::absolute(file)?;
        let (existing, missing) = split(&file)?;
        let existing = fs::canonicalize(existing).map_err(|error| match error.kind() {
            ErrorKind::NotFound => ConfigError::DanglingLink,
            _ => error.into(),
        })?;
        let is_there = missing.as_os_str().is_empty();
        let (folder, missing, name) = if is_there {
            (parent(&existing), Path::new(""), existing.file_name())
        } else {
            (&*existing, parent(missing), missing.file_name())
        };
        let base = if client.is_of_project() { fs::canonicalize(workspace)? } else { folder.to_owned() };
        let folders = folder.strip_prefix(&base).map_err(|_| ConfigError::LeadsOut)?.to_owned();
        let name = name.ok_or_else(ConfigError::not_a_file)?.to_owned();
        Ok(Location { base, folders, missing: missing.to_owned(), name, is_there })
    }

    /// Opens the last existing folder component by component, so that no folder that has become a link is followed.
    pub(crate) fn open(&self) -> Result<Folder, ConfigError> {
        self.folders.iter().try_fold(Folder::open(&self.base)?, |folder, name| folder.enter(name))
    }

    /// Creates the missing folders in the one that [`Location::open`] returned.
    pub(crate) fn make_missing(&self, folder: Folder) -> Result<Folder, ConfigError> {
        self.missing.iter().try_fold(folder, |folder, name| folder.make(name))
    }
}

/// Splits a path after the last existing component, which may be a dangling link. The second part is empty if all of it exists.
fn split(file: &Path) -> Result<(&Path, &Path), ConfigError> {
    for existing in file.ancestors() {
        match fs::symlink_metadata(existing) {
            Ok(_) => {
                let missing = file.strip_prefix(existing).unwrap_or(file);
                let is_plain = |component| matches!(component, Component::Normal(_));
                if missing.components().all(is_plain) {
                    return Ok((existing, missing));
                }
                // The parent of a missing folder is unknown.
                break;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::from(ErrorKind::NotFound).into())
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}
