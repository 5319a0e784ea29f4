//! Commits that an undo leaves in a repository that stays: the branches with them, and the commits to which they can be
//! reset without a loss.

use std::collections::BTreeMap;

use change_journal::{ChangeNumber, ChangeState, ContentHash, JournalReader, RecordedChange};
use git_index::REFERENCE_BYTES;
use rel_path::RelPath;
use sandbox_fs::FileRoot;
use serde::{Deserialize, Serialize};

use crate::git::guard::in_git_folder;

/// A repository that stays unchanged, with the effects of the changes to undo on its branches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct KeptCommits {
    /// The folder of the repository.
    pub repository: String,
    /// True if the changes are those of an undo: the removed commits do not come back.
    pub is_of_undo: bool,
    /// The loose branches that the changes moved or made.
    pub branches: Vec<KeptBranch>,
    /// The checkout of another branch or commit by the changes, which stays, as do the tracked files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_checkout: Option<OtherCheckout>,
    /// True if the changes have checked out another branch or commit, and the previous one is back: the files that the
    /// checkouts have changed stay.
    #[serde(default)]
    pub is_back: bool,
}

/// The checkout of a branch or commit other than the previous one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OtherCheckout {
    /// The previous branch, or its commit if the branch no longer exists; `None` if that is not kept.
    pub former: Option<String>,
    /// The working tree; `.` for that of the workspace.
    pub tree: String,
    /// The other working tree that has the branch checked out now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_by: Option<String>,
    /// True if a rebase of the branch is unfinished, so that aborting it returns to the branch.
    #[serde(default)]
    pub is_rebased: bool,
}

/// A branch that changes have moved or made, in a repository that stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct KeptBranch {
    /// The name, without `refs/heads`.
    pub name: String,
    /// The commit at which the changes left it.
    pub commit: String,
    /// The commit to which it can be reset without a loss: the branch is checked out, and only these changes have moved
    /// it.
    pub reset_to: Option<String>,
}

/// Returns the effects of the chosen changes on the branches of a repository that stays.
pub(super) fn kept_commits(
    root: &FileRoot,
    journal: &JournalReader,
    chosen: &BTreeMap<ChangeNumber, RecordedChange>,
    repository: &RelPath,
) -> KeptCommits {
    let mut by_branch: BTreeMap<String, Vec<&RecordedChange>> = BTreeMap::new();
    let mut is_of_undo = false;
    for change in chosen.values().filter(|change| change.state != ChangeState::Conflicted) {
        let Ok(path) = RelPath::from_bytes(&change.path) else { continue };
        if let Some(name) = branch_name(&path, repository) {
            by_branch.entry(name).or_default().push(change);
        }
        is_of_undo |= change.undoes.is_some() && path.starts_with(repository);
    }
    let head = head_of(root, repository);
    let branch = |(name, changes): (String, Vec<&RecordedChange>)| {
        let of_branch = Moves { root, journal, repository, name: &name, changes: &changes };
        let commit = of_branch.commit()?;
        let is_checked_out = head.as_deref() == Some(&name);
        let reset_to = of_branch.before().filter(|_| is_checked_out && of_branch.is_alone(&commit));
        Some(KeptBranch { commit, reset_to, name })
    };
    KeptCommits {
        repository: repository.to_string(),
        is_of_undo,
        branches: by_branch.into_iter().filter_map(branch).collect(),
        other_checkout: None,
        is_back: false,
    }
}

/// The changes of one branch, oldest first.
struct Moves<'a> {
    root: &'a FileRoot,
    journal: &'a JournalReader,
    repository: &'a RelPath,
    name: &'a str,
    changes: &'a [&'a RecordedChange],
}

impl Moves<'_> {
    fn commit(&self) -> Option<String> {
        self.recorded(self.changes.last()?.after?.content?)
    }

    fn before(&self) -> Option<String> {
        self.recorded(self.changes.first()?.before?.content?)
    }

    /// Returns whether the branch is at that commit, and no other program moved it between these changes.
    fn is_alone(&self, commit: &str) -> bool {
        let is_next = |pair: &[&RecordedChange]| {
            let [left, next] =
                [pair[0].after, pair[1].before].map(|side| side.and_then(|entry| entry.content));
            left == next
        };
        let path = RelPath::parse(&format!("refs/heads/{}", self.name));
        let path = path.and_then(|path| self.repository.join(&path));
        let now = path.ok().and_then(|path| read(self.root, &path));
        self.changes.windows(2).all(is_next)
            && now.as_deref().and_then(commit_name).as_deref() == Some(commit)
    }

    fn recorded(&self, content: ContentHash) -> Option<String> {
        commit_name(&self.journal.content(&content).ok().flatten()?)
    }
}

/// Returns the name of a branch of a repository, from its path.
fn branch_name(path: &RelPath, repository: &RelPath) -> Option<String> {
    let part = in_git_folder(path).filter(|part| part.folder == *repository)?;
    let [b"refs", b"heads", names @ ..] = part.names.as_slice() else { return None };
    String::from_utf8(names.join(&b'/')).ok().filter(|name| !name.is_empty())
}

/// Returns the branch that is checked out in the working tree of a repository.
fn head_of(root: &FileRoot, repository: &RelPath) -> Option<String> {
    let text = String::from_utf8(read(root, &repository.child(b"HEAD").ok()?)?).ok()?;
    text.strip_prefix("ref: refs/heads/").map(|name| name.trim_end().to_owned())
}

fn read(root: &FileRoot, path: &RelPath) -> Option<Vec<u8>> {
    root.open_file(path).ok()?.read_to_end(REFERENCE_BYTES).ok()
}

fn commit_name(text: &[u8]) -> Option<String> {
    let name = str::from_utf8(text.trim_ascii()).ok()?;
    let is_name = matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then(|| name.to_owned())
}
