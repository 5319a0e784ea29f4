//! The search for the workspace from a folder within it, for a command line that names none.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::confinement;
use crate::state::{STATE_FOLDER, ownership};

/// The permission by which every user may write.
const ALL_WRITE: u32 = 0o002;

/// A workspace above the current folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundWorkspace {
    /// The folder.
    pub folder: PathBuf,
    /// The reason why it was chosen.
    pub because: Because,
}

/// The reason why a folder above the current one is the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// It is the nearest with a state folder.
    StateFolder,
    /// It is the root of the repository.
    Repository,
}

impl FoundWorkspace {
    /// Returns the line that reports the chosen folder.
    pub fn line(&self) -> String {
        let because = match self.because {
            Because::StateFolder => "it has a state folder",
            Because::Repository => "it is the root of the repository",
        };
        format!("workspace: {} ({because}; --workspace . takes this folder)", self.folder.display())
    }
}

/// Returns the nearest folder upwards from `here` that has a state folder, else the root of the repository; `None` if
/// that is `here` itself or there is neither.
///
/// The search ends at a folder that belongs to another user or that every user may write into, since what it holds was
/// not chosen by this one, and at the home folder, which is not a workspace.
pub fn search(here: &Path) -> Option<FoundWorkspace> {
    let user = rustix::process::geteuid().as_raw();
    let home = confinement::home().and_then(|home| fs::canonicalize(home).ok());
    let is_own = |folder: &Path| {
        // Not followed: a symlink could lead into a folder of another user.
        let metadata = fs::symlink_metadata(folder);
        metadata.is_ok_and(|it| it.is_dir() && it.uid() == user && it.mode() & ALL_WRITE == 0)
    };
    let is_home = |folder: &Path| home.as_deref().is_some_and(|home| home.starts_with(folder));
    let here = fs::canonicalize(here).ok()?;
    let candidates: Vec<&Path> = here
        .ancestors()
        .take_while(|folder| is_own(folder) && !is_home(folder) && folder.parent().is_some())
        .collect();
    // Within a state folder, the workspace of that folder is not the intended one.
    let has_state = |folder: &Path| {
        let state = folder.join(STATE_FOLDER);
        is_own(&state) && ownership::check(&state).is_ok() && !here.starts_with(&state)
    };
    let is_repository = |folder: &Path| {
        fs::symlink_metadata(folder.join(".git"))
            .is_ok_and(|metadata| metadata.uid() == user && (metadata.is_dir() || metadata.is_file()))
    };
    let nearest = |is_meant: &dyn Fn(&Path) -> bool| candidates.iter().find(|folder| is_meant(folder));
    let (folder, because) = match nearest(&has_state) {
        Some(folder) => (folder, Because::StateFolder),
        None => (nearest(&is_repository)?, Because::Repository),
    };
    (*folder != here).then(|| FoundWorkspace { folder: (*folder).to_owned(), because })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A folder `a/b/c` in a temporary folder, whose canonical path is returned with it.
    fn folders() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        (folder, root)
    }

    fn make_state(folder: &Path) {
        fs::create_dir(folder.join(STATE_FOLDER)).unwrap();
        fs::set_permissions(folder.join(STATE_FOLDER), fs::Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn the_nearest_state_folder_has_precedence_over_the_repository() {
        let (_folder, root) = folders();
        let here = root.join("a/b/c");
        assert_eq!(search(&here), None);
        fs::create_dir(root.join("a/.git")).unwrap();
        let workspace = |folder: &str, because| Some(FoundWorkspace { folder: root.join(folder), because });
        assert_eq!(search(&here), workspace("a", Because::Repository));
        make_state(&root);
        assert_eq!(
            search(&here),
            Some(FoundWorkspace { folder: root.clone(), because: Because::StateFolder })
        );
        make_state(&root.join("a/b"));
        assert_eq!(search(&here), workspace("a/b", Because::StateFolder));
        assert_eq!(search(&root.join("a/b")), None, "the folder itself needs no report");
        // Within a state folder: the repository around it, and not that folder's workspace.
        assert_eq!(
            search(&root.join("a/b/.agentd")),
            Some(FoundWorkspace { folder: root.clone(), because: Because::StateFolder })
        );
    }

    #[test]
    fn folders_that_another_user_may_have_made_are_not_chosen() {
        let (_folder, root) = folders();
        let here = root.join("a/b/c");
        make_state(&root.join("a"));
        let workspace = search(&here).unwrap();
        assert_eq!(workspace.folder, root.join("a"));
        // A folder into which every user may write, on the way or at the end.
        for open in ["a", "a/b"] {
            fs::set_permissions(root.join(open), fs::Permissions::from_mode(0o777)).unwrap();
            assert_eq!(search(&here), None, "{open}");
            fs::set_permissions(root.join(open), fs::Permissions::from_mode(0o755)).unwrap();
        }
        // A state folder that others may change.
        let state = root.join("a/.agentd");
        fs::set_permissions(&state, fs::Permissions::from_mode(0o770)).unwrap();
        assert_eq!(search(&here), None);
        fs::remove_dir(&state).unwrap();
        std::os::unix::fs::symlink("/", &state).unwrap();
        assert_eq!(search(&here), None);
        if rustix::process::geteuid().is_root() {
            fs::remove_file(&state).unwrap();
            make_state(&root.join("a"));
            assert!(search(&here).is_some());
            for other in ["a/.agentd", "a", "a/b"] {
                std::os::unix::fs::chown(root.join(other), Some(1_000), None).unwrap();
                assert_eq!(search(&here), None, "{other}");
                std::os::unix::fs::chown(root.join(other), Some(0), None).unwrap();
            }
        }
    }
}
