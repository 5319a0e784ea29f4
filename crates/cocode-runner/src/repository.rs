//! The user's repository, from which agents' worktrees are made.

pub(crate) mod closed_folder;
pub(crate) mod foreign_file;
pub(crate) mod git;
mod git_error;
pub(crate) mod head_log;
pub(crate) mod left_file;
pub(crate) mod nested;
pub(crate) mod own_branches;
pub(crate) mod own_comparison;
pub(crate) mod own_git_folder;
pub(crate) mod own_index;
pub(crate) mod own_repository;
pub(crate) mod planted_links;
mod snapshot;
pub(crate) mod tree_changes;
pub(crate) mod unfinished_work;
pub(crate) mod used_branches;
pub(crate) mod worktree;
pub(crate) mod worktree_links;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cocode_env::default_branch_of;

use crate::error::RepositoryError;
use crate::repository::git::{Git, GitError, GitLocation};

/// The remote whose default branch is the default base.
const REMOTE: &str = "origin";

/// The files that git keeps in a git folder during an unfinished operation, with the name of the operation.
const UNFINISHED: [(&str, &str); 5] = [
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
];

/// A repository with a work tree and at least one commit.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    pub(crate) root: PathBuf,
    pub(crate) common_folder: PathBuf,
    pub(crate) git: Git,
    /// All git settings in force here when the repository was opened, by their names in lower case.
    settings: BTreeMap<String, String>,
}

/// The branch and commit from which agents start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    /// Its short name, such as `main` or `origin/main`.
    pub(crate) name: String,
    /// The commit's name.
    pub(crate) commit: String,
}

impl Repository {
    /// Opens the repository that `folder` belongs to.
    pub(crate) fn open(git: Git, folder: &Path) -> Result<Repository, RepositoryError> {
        let location = GitLocation::Folder(folder);
        // One call in the normal case; only an error takes another call to explain.
        let facts = ["rev-parse", "--path-format=absolute", "--git-common-dir", "--show-toplevel"];
        let facts =
            git.run_for_bytes(location, &facts).map_err(|error| why_unusable(&git, location, error))?;
        let facts = String::from_utf8(facts).map_err(|_| RepositoryError::Path)?;
        // Two lines. More of them belong to a path with a line break, which records and git's own files cannot hold.
        let [common_folder, root] = facts.lines().collect::<Vec<_>>()[..] else {
            return Err(RepositoryError::Path);
        };
        // Filters of the repository would run on the agents' files, outside of any confinement.
        let settings = git.settings(folder)?;
        let git = git.without_filters(settings.keys());
        let repository = Repository {
            root: PathBuf::from(root),
            common_folder: PathBuf::from(common_folder),
            git,
            settings,
        };
        if repository.common_folder.join("reftable").is_dir() {
            return Err(RepositoryError::Reftable);
        }
        Ok(repository)
    }

    pub(crate) fn location(&self) -> GitLocation<'_> {
        GitLocation::Folder(&self.root)
    }

    /// Returns a copy whose calls of git have a time and memory limit, for reading untrusted data.
    pub(crate) fn within(&self, limit: std::time::Duration) -> Repository {
        Repository { git: self.git.within(limit), ..self.clone() }
    }

    /// Returns the base branch: `requested`, or the remote's default branch (the local one of that name if there is one),
    /// or `main` or `master`, or the checked-out commit.
    pub(crate) fn base(&self, requested: Option<&str>) -> Result<Base, RepositoryError> {
        if let Some(requested) = requested {
            let base = [requested.to_owned(), format!("{REMOTE}/{requested}")]
                .into_iter()
                .find_map(|name| self.commit(&name).map(|commit| Base { name, commit }));
            return base.ok_or_else(|| RepositoryError::NoBase { name: requested.to_owned() });
        }
        let head = format!("refs/remotes/{REMOTE}/HEAD");
        let head = self.git.ask(self.location(), &["symbolic-ref", "--quiet", &head]).ok().flatten();
        let default = head.as_deref().and_then(|head| default_branch_of(head, REMOTE)).map(str::to_owned);
        // Full names of references: a tag `main` must not win over the branch.
        let mut names: Vec<String> = Vec::new();
        if let Some(default) = default {
            names.extend([format!("refs/heads/{default}"), format!("refs/remotes/{REMOTE}/{default}")]);
        }
        names.extend(["refs/heads/main", "refs/heads/master", "HEAD"].map(str::to_owned));
        let base = names.into_iter().find_map(|name| self.commit(&name).map(|commit| (name, commit)));
        let (name, commit) = base.ok_or(RepositoryError::NoCommits)?;
        let name = name.trim_start_matches("refs/heads/").trim_start_matches("refs/remotes/").to_owned();
        Ok(Base { name, commit })
    }

    /// Resolves a name to a commit.
    pub(crate) fn commit(&self, name: &str) -> Option<String> {
        let name = format!("{name}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
        self.git.ask(self.location(), &arguments).ok().flatten()
    }

    pub(crate) fn has_branch(&self, branch: &str) -> bool {
        self.commit(&format!("refs/heads/{branch}")).is_some()
    }

    /// Returns whether no tracked file has uncommitted changes.
    pub(crate) fn is_clean(&self) -> Result<bool, GitError> {
        let arguments = ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"];
        Ok(self.git.run(self.location(), &arguments)?.is_empty())
    }

    /// Returns the user's unfinished operation here, such as a merge that waits for its commit.
    pub(crate) fn unfinished(&self) -> Result<Option<&'static str>, GitError> {
        let names = UNFINISHED.map(|(name, _)| name);
        let mut arguments = vec!["rev-parse", "--path-format=absolute"];
        arguments.extend(names.iter().flat_map(|name| ["--git-path", name]));
        let paths = self.git.run(self.location(), &arguments)?;
        let mut marks = paths.lines().zip(UNFINISHED);
        Ok(marks.find(|(path, _)| Path::new(path).symlink_metadata().is_ok()).map(|(_, (_, what))| what))
    }

    pub(crate) fn is_ancestor(&self, ancestor: &str, commit: &str) -> Result<bool, GitError> {
        Ok(self.git.ask(self.location(), &["merge-base", "--is-ancestor", ancestor, commit])?.is_some())
    }

    /// Returns whether this is a partial clone, which lacks objects that a remote has promised.
    pub(crate) fn is_partial(&self) -> bool {
        let is_promise = |name: &String| {
            name == "extensions.partialclone" || (name.starts_with("remote.") && name.ends_with(".promisor"))
        };
        self.settings.keys().any(is_promise)
    }

    /// Returns a setting, by its name in lower case.
    pub(crate) fn setting(&self, name: &str) -> Option<String> {
        self.settings.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// Returns the web address of an issue, derived from the remote's address, or a placeholder that leads nowhere.
    pub(crate) fn issue_url(&self, number: u64) -> String {
        let remote = self.setting(&format!("remote.{REMOTE}.url")).unwrap_or_default();
        let path = ["https://", "http://", "ssh://git@", "git@"]
            .into_iter()
            .find_map(|prefix| remote.strip_prefix(prefix))
            .map(|rest| rest.trim_end_matches('/').trim_end_matches(".git").replacen(':', "/", 1));
        // An address with credentials or a port does not become a web address.
        match path.as_deref().filter(|path| path.contains('/') && !path.contains(['@', ' ', ':'])) {
            Some(path) => format!("https://{path}/issues/{number}"),
            None => format!("https://issues.invalid/{number}"),
        }
    }
}

/// Finds the reason that git does not print the folders of a work tree.
fn why_unusable(git: &Git, location: GitLocation<'_>, error: GitError) -> RepositoryError {
    match &error {
        GitError::Failed { reason, .. } if reason.contains("not a git repository") => RepositoryError::None,
        GitError::Failed { .. }
            if git
                .run(location, &["rev-parse", "--is-bare-repository"])
                .is_ok_and(|answer| answer == "true") =>
        {
            RepositoryError::Bare
        }
        _ => error.into(),
    }
}
