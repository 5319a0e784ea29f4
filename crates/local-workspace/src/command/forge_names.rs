//! Files that a forge obeys only at the root of a repository.

use std::collections::BTreeSet;

use rel_path::{ProtectedName, RelPath};
use sandbox_fs::FileRoot;

use crate::command::effect::Effect;
use crate::git::guard::in_git_folder;

/// The names that forges read only at the root of a repository. Names that a pipeline can include, or a forge's
/// settings can refer to, in any folder are excluded.
const AT_ROOT: [&str; 6] = [
    ".github",
    ".github/workflows",
    ".gitea/workflows",
    ".forgejo/workflows",
    ".travis.yml",
    "bitbucket-pipelines.yml",
];

/// The end of the reasons of names that forges obey; a name that the user has listed has another.
const WHEN_PUSHED: &str = "when pushed";

/// The folders that may be pushed to a forge as repositories.
pub(crate) struct PushedFolders<'a> {
    root: &'a FileRoot,
    /// Folders whose repository the effects change or create.
    changed: BTreeSet<RelPath>,
}

impl<'a> PushedFolders<'a> {
    /// The workspace itself, every folder with a `.git`, and those that receive one by effects.
    pub(crate) fn of<'e>(
        root: &'a FileRoot,
        effects: impl IntoIterator<Item = &'e Effect>,
    ) -> PushedFolders<'a> {
        let repository = |effect: &Effect| in_git_folder(&effect.path)?.folder.parent();
        PushedFolders { root, changed: effects.into_iter().filter_map(repository).collect() }
    }

    /// Returns whether forges ignore a path with this entry, because it is not at the root of a repository.
    pub(crate) fn lack(&self, entry: &ProtectedName, path: &RelPath) -> bool {
        if !AT_ROOT.contains(&entry.pattern()) || !entry.reason().ends_with(WHEN_PUSHED) {
            return false;
        }
        let names: Vec<_> = path.components().collect();
        let wanted: Vec<_> = entry.pattern().split('/').collect();
        let stands_at = |start: &usize| {
            let here = &names[*start..*start + wanted.len()];
            here.iter().zip(&wanted).all(|(name, one)| name.eq_ignore_ascii_case(one.as_bytes()))
        };
        let starts: Vec<_> = (0..=names.len().saturating_sub(wanted.len())).filter(stands_at).collect();
        let is_pushed = |start: &usize| {
            let folder = RelPath::from_bytes(&names[..*start].join(&b'/')).unwrap_or_default();
            *start == 0 || self.is_repository(&folder)
        };
        // A path in another spelling is not found here, and counts.
        !starts.is_empty() && !starts.iter().any(is_pushed)
    }

    fn is_repository(&self, folder: &RelPath) -> bool {
        self.changed.contains(folder)
            || folder.child(b".git").is_ok_and(|git| self.root.metadata(&git).is_ok())
    }
}
