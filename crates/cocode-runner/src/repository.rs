//! The person's repository, from which agents' worktrees are made.

pub(crate) mod closed_folder;
mod foreign_file;
pub(crate) mod git;
pub(crate) mod head_log;
pub(crate) mod left_file;
pub(crate) mod own_branches;
pub(crate) mod own_index;
pub(crate) mod own_repository;
pub(crate) mod worktree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cocode_env::default_branch_of;

use crate::error::RepositoryError;
use crate::repository::git::{Git, GitError, GitLocation};

/// The remote whose default branch counts.
const REMOTE: &str = "origin";

/// What git keeps in the git folder of a work tree while something there is unfinished.
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
    /// All settings that git takes here, by their names in lower case, as they were when it was opened.
    settings: BTreeMap<String, String>,
}

/// Where agents start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    /// What a person calls it, such as `main` or `origin/main`.
    pub(crate) name: String,
    /// The commit's name.
    pub(crate) commit: String,
}

impl Repository {
    /// Opens the repository that `folder` belongs to.
    pub(crate) fn open(git: Git, folder: &Path) -> Result<Repository, RepositoryError> {
        let location = GitLocation::Folder(folder);
        // One call where all is well; only what is wrong takes another.
        let facts = ["rev-parse", "--path-format=absolute", "--git-common-dir", "--show-toplevel"];
        let facts =
            git.run_for_bytes(location, &facts).map_err(|error| why_unusable(&git, location, error))?;
        let facts = String::from_utf8(facts).map_err(|_| RepositoryError::Path)?;
        // Two lines. More of them are lines of a path, which records and git's own files have no way to say.
        let [common_folder, root] = facts.lines().collect::<Vec<_>>()[..] else {
            return Err(RepositoryError::Path);
        };
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

    /// Finds the base branch: `asked`, or the remote's default branch (the local one of that name if there is one),
    /// or `main` or `master`, or whatever is checked out.
    pub(crate) fn base(&self, asked: Option<&str>) -> Result<Base, RepositoryError> {
        if let Some(asked) = asked {
            let found = [asked.to_owned(), format!("{REMOTE}/{asked}")]
                .into_iter()
                .find_map(|name| self.commit(&name).map(|commit| Base { name, commit }));
            return found.ok_or_else(|| RepositoryError::NoBase { name: asked.to_owned() });
        }
        let head = format!("refs/remotes/{REMOTE}/HEAD");
        let head = self.git.ask(self.location(), &["symbolic-ref", "--quiet", &head]).ok().flatten();
        let default = head.as_deref().and_then(|head| default_branch_of(head, REMOTE)).map(str::to_owned);
        let mut names: Vec<String> = Vec::new();
        if let Some(default) = default {
            names.extend([format!("refs/heads/{default}"), format!("refs/remotes/{REMOTE}/{default}")]);
        }
        names.extend(["refs/heads/main", "refs/heads/master", "HEAD"].map(str::to_owned));
        let found = names.into_iter().find_map(|name| self.commit(&name).map(|commit| (name, commit)));
        let (name, commit) = found.ok_or(RepositoryError::NoCommits)?;
        let name = name.trim_start_matches("refs/heads/").trim_start_matches("refs/remotes/").to_owned();
        Ok(Base { name, commit })
    }

    /// Returns the commit that a name stands for.
    pub(crate) fn commit(&self, name: &str) -> Option<String> {
        let name = format!("{name}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
        self.git.ask(self.location(), &arguments).ok().flatten()
    }

    pub(crate) fn has_branch(&self, branch: &str) -> bool {
        self.commit(&format!("refs/heads/{branch}")).is_some()
    }

    /// Whether nothing that git knows has changes that are not committed.
    pub(crate) fn is_clean(&self) -> Result<bool, GitError> {
        let arguments = ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"];
        Ok(self.git.run(self.location(), &arguments)?.is_empty())
    }

    /// What the person has begun here and not finished: a merge, for instance, that waits for its commit.
    pub(crate) fn unfinished(&self) -> Result<Option<&'static str>, GitError> {
        let names = UNFINISHED.map(|(name, _)| name);
        let mut arguments = vec!["rev-parse", "--path-format=absolute"];
        arguments.extend(names.iter().flat_map(|name| ["--git-path", name]));
        let paths = self.git.run(self.location(), &arguments)?;
        let mut found = paths.lines().zip(UNFINISHED);
        Ok(found.find(|(path, _)| Path::new(path).symlink_metadata().is_ok()).map(|(_, (_, what))| what))
    }

    pub(crate) fn is_ancestor(&self, ancestor: &str, commit: &str) -> Result<bool, GitError> {
        Ok(self.git.ask(self.location(), &["merge-base", "--is-ancestor", ancestor, commit])?.is_some())
    }

    /// Whether it lacks objects that a remote has promised to have.
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

    /// Returns the web address of an issue, as the remote's address tells it, or one that leads nowhere.
    pub(crate) fn issue_url(&self, number: u64) -> String {
        let remote = self.setting(&format!("remote.{REMOTE}.url")).unwrap_or_default();
        let path = ["https://", "http://", "ssh://git@", "git@"]
            .into_iter()
            .find_map(|prefix| remote.strip_prefix(prefix))
            .map(|rest| rest.trim_end_matches('/').trim_end_matches(".git").replacen(':', "/", 1));
        match path.as_deref().filter(|path| path.contains('/') && !path.contains(['@', ' ', ':'])) {
            Some(path) => format!("https://{path}/issues/{number}"),
            None => format!("https://issues.invalid/{number}"),
        }
    }
}

/// Says why git does not tell the folders of a work tree.
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
