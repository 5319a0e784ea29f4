//! Which folders may be a root.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rel_path::{ProtectedNames, RelPath};

/// Which folders are refused as a root, beside `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootRules {
    /// The user's home folder. It and the folders above it are refused.
    pub home: Option<PathBuf>,
    /// Names of state folders. A folder with such a name, and all beneath it, is refused.
    pub state_folders: ProtectedNames,
}

/// No home folder, and `.agentd` as the state folder.
impl Default for RootRules {
    fn default() -> RootRules {
        RootRules { home: None, state_folders: ProtectedNames::new([".agentd"]) }
    }
}

impl RootRules {
    /// No rules but the one about `/`; for folders of the program's own.
    pub fn none() -> RootRules {
        RootRules { home: None, state_folders: ProtectedNames::none() }
    }

    /// `canonical` has no links.
    pub(crate) fn check(&self, canonical: &Path) -> Result<(), RootError> {
        if canonical.parent().is_none() {
            return Err(RootError::FileSystemRoot);
        }
        if let Some(home) = &self.home {
            // A home that does not exist cannot be asked for; one that is a link is compared by what it means.
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

/// Why a folder cannot be a root.
///
/// For the person who chose it, never for a model.
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
    /// There is a file where the folder should be.
    #[error("not a folder")]
    NotAFolder,
    /// The folder cannot be opened.
    #[error("cannot open the folder")]
    Io(#[from] std::io::Error),
}
