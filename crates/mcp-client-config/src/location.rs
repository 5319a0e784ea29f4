//! The location of a client's file once symbolic links are followed.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use crate::client::McpClient;
use crate::error::ConfigError;
use crate::folder::Folder;

/// The folder and the name of a file that is there or can be made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// A folder that is opened by its path: the workspace for a file of the project.
    base: PathBuf,
    /// The way from there to the last folder that exists, without links.
    folders: PathBuf,
    /// The folders below that one, which do not exist.
    missing: PathBuf,
    /// The name of the file in the last folder.
    pub(crate) name: OsString,
    /// True if the file exists.
    pub(crate) is_there: bool,
}

impl Location {
    /// Finds the location of `file`. That of a file of the project lies in `workspace`: what works on the project could have made
    /// its links.
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

    /// Opens the last folder that exists, one after the other, so that none that is a link by now is followed.
    pub(crate) fn open(&self) -> Result<Folder, ConfigError> {
        self.folders.iter().try_fold(Folder::open(&self.base)?, |folder, name| folder.enter(name))
    }

    /// Makes the missing folders in the one that [`Location::open`] has returned.
    pub(crate) fn make_missing(&self, folder: Folder) -> Result<Folder, ConfigError> {
        self.missing.iter().try_fold(folder, |folder, name| folder.make(name))
    }
}

/// Splits a path behind the last name that exists, be it a link to nothing. The second part is empty if all of it exists.
fn split(file: &Path) -> Result<(&Path, &Path), ConfigError> {
    for existing in file.ancestors() {
        match fs::symlink_metadata(existing) {
            Ok(_) => {
                let missing = file.strip_prefix(existing).unwrap_or(file);
                let is_plain = |component| matches!(component, Component::Normal(_));
                if missing.components().all(is_plain) {
                    return Ok((existing, missing));
                }
                // The folder above one that is missing is not known.
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
