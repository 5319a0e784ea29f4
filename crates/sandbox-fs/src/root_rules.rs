//! The rules for choosing a root folder.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rel_path::{ProtectedNames, RelPath};

/// The folders that are refused as a root, in addition to `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootRules {
    /// The user's home folder, refused together with the folders above it.
    pub home: Option<PathBuf>,
    /// Names of state folders. A folder with such a name is refused, and every folder below it.
    pub state_folders: ProtectedNames,
}

/// Refuses `.agentd` as a state folder, and no home folder.
impl Default for RootRules {
    fn default() -> RootRules {
        RootRules { home: None, state_folders: ProtectedNames::new([".agentd"]) }
    }
}

impl RootRules {
    /// Returns rules that refuse `/` only; for folders that belong to the program.
    pub fn none() -> RootRules {
        RootRules { home: None, state_folders: ProtectedNames::none() }
    }

    /// Checks a folder; `canonical` has no links.
    pub(crate) fn check(&self, canonical: &Path) -> Result<(), RootError> {
        if canonical.parent().is_none() {
            return Err(RootError::FileSystemRoot);
        }
        if let Some(home) = &self.home {
            // A home that is a link is compared by its target; one that does not exist, by its text.
            let home = std::fs::canonicalize(home).unwrap_or_else(|_| home.clone());
            if home == canonical {
                return Err(RootError::Home);
            }
            if home.starts_with(canonical) {
                return Err(RootError::AboveHome);
            }
        }
        let in_state_folder = canonical.iter().any(|part| {
            let name = RelPath::root().child(part.as_bytes());
            name.is_ok_and(|name| self.state_folders.protects(&name))
        });
        if in_state_folder { Err(RootError::StateFolder) } else { Ok(()) }
    }
}

/// The reason for which a folder cannot be a root.
///
/// For the user who chose the folder, never for a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootError {
    /// The folder is `/`.
    #[error("the root of the file system cannot be a workspace")]
    FileSystemRoot,
    /// The folder is the user's home.
    #[error("the home folder cannot be a workspace")]
    Home,
    /// The folder contains the user's home.
    #[error("a folder that contains the home folder cannot be a workspace")]
    AboveHome,
    /// The folder is a state folder, or in one.
    #[error("a folder in a state folder cannot be a workspace")]
    StateFolder,
    /// The path is a file.
    #[error("not a folder")]
    NotAFolder,
    /// The folder cannot be opened.
    #[error("cannot open the folder")]
    Io(#[from] std::io::Error),
}
