//! Commits that an undo leaves in a repository that stays: the branches with them, and the commits to which they can be
//! reset without a loss.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeNumber, ChangeState, ContentHash, Entry, JournalReader, RecordedChange};
use git_index::REFERENCE_BYTES;
use rel_path::RelPath;
use sandbox_fs::FileRoot;
use serde::{Deserialize, Serialize};

use crate::git::guard::in_git_folder;
use crate::undo::checked_out::is_written_since;
use crate::undo::left_branch::{relative_to, tracked_files};
use crate::undo::moved_checkouts::entries;
use crate::undo::path::UndoPath;
use crate::undo::plan::UndoContext;

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
    /// True if files that it tracks, or tracked before the changes, are restored.
    #[serde(default)]
    pub restores_tracked: bool,
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
    /// The commit to which it can be reset without a loss: the branch was checked out all the time since the changes, and
    /// only they have moved it.
    pub reset_to: Option<String>,
    /// The commit at which it was before the changes, if they may have removed that from its history, as a reset does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
}

/// Returns the effects of the chosen changes on the branches of a repository that stays, next to restored paths.
pub(super) fn kept_commits(
    context: &UndoContext<'_>,
    chosen: &BTreeMap<ChangeNumber, RecordedChange>,
    repository: &RelPath,
    restored: &[UndoPath],
) -> KeptCommits {
    let mut by_path: BTreeMap<RelPath, Vec<&RecordedChange>> = BTreeMap::new();
    let mut is_of_undo = false;
    for change in chosen.values().filter(|change| change.state != ChangeState::Conflicted) {
        let Ok(path) = RelPath::from_bytes(&change.path) else { continue };
        is_of_undo |= change.undoes.is_some() && path.starts_with(repository);
        by_path.entry(path).or_default().push(change);
    }
    let head = repository.child(b"HEAD").ok();
    // A branch that was checked out later may have other files.
    let stayed = |head: &RelPath| {
        chosen.keys().next_back().is_some_and(|newest| !is_written_since(context, head, *newest))
    };
    let checked_out = head.filter(stayed).and_then(|head| head_of(context.root, &head));
    let branch = |(path, changes): (&RelPath, &Vec<&RecordedChange>)| {
        let name = branch_name(path, repository)?;
        let of_branch = Moves { context, path, changes };
        let commit = of_branch.commit()?;
        let is_checked_out = checked_out.as_deref() == Some(&name);
        let reset_to = of_branch.before().filter(|_| is_checked_out && of_branch.is_alone(&commit));
        let log = repository.join(&RelPath::parse(&format!("logs/refs/heads/{name}")).ok()?).ok()?;
        let is_left = by_path.get(&log).is_some_and(|log| leaves_commits(context.journal, log));
        let left = of_branch.before().filter(|before| is_left && *before != commit);
        Some(KeptBranch { commit, reset_to, left, name })
    };
    let tracked = tracked_around(context, repository, &by_path);
    let is_tracked = |path: &UndoPath| {
        let is_of = |(tree, tracked): &(RelPath, BTreeSet<Vec<u8>>)| {
            relative_to(tree, &path.path).is_some_and(|path| tracked.contains(path))
        };
        tracked.iter().any(is_of)
    };
    KeptCommits {
        repository: repository.to_string(),
        is_of_undo,
        branches: by_path.iter().filter_map(branch).collect(),
        other_checkout: None,
        is_back: false,
        restores_tracked: restored.iter().any(is_tracked),
    }
}

/// Returns the working trees of a repository, with the files that they track, or tracked before the chosen changes.
fn tracked_around(
    context: &UndoContext<'_>,
    repository: &RelPath,
    chosen: &BTreeMap<RelPath, Vec<&RecordedChange>>,
) -> Vec<(RelPath, BTreeSet<Vec<u8>>)> {
    let linked = repository.child(b"worktrees").ok().and_then(|folder| context.root.list(&folder).ok());
    let folders = linked.into_iter().flatten().map(|entry| entry.path).chain([repository.clone()]);
    let tracked = |folder: RelPath| {
        let (tree, now) = tracked_files(context, &folder.child(b"HEAD").ok()?)?;
        let mut tracked = now.unwrap_or_default();
        let index = chosen.get(&folder.child(b"index").ok()?);
        let before = index.and_then(|changes| changes.first()?.before?.content);
        let before = before.and_then(|content| entries(&context.journal.content(&content).ok()??));
        tracked.extend(before.into_iter().flatten().map(|(path, _)| path));
        Some((tree, tracked))
    };
    folders.filter_map(tracked).collect()
}

/// The words with which git records in a branch's log that a commit was added to its history.
const ADDED: [&str; 10] = [
    "commit: ",
    "commit (initial): ",
    "commit (merge): ",
    "commit (cherry-pick): ",
    "cherry-pick: ",
    "merge ",
    "pull: ",
    "revert: ",
    "am: ",
    "branch: Created from ",
];

/// Returns whether changes of a branch's log record more than added commits, such as a reset or an amended commit.
fn leaves_commits(journal: &JournalReader, changes: &[&RecordedChange]) -> bool {
    let text = |side: Option<Entry>| journal.content(&side?.content?).ok().flatten();
    let before = changes.first().and_then(|change| text(change.before)).unwrap_or_default();
    let after = changes.last().and_then(|change| text(change.after)).unwrap_or_default();
    let Some(lines) = after.strip_prefix(&before[..]) else { return true };
    let lines = String::from_utf8_lossy(lines);
    let mut messages = lines.lines().filter_map(|line| Some(line.split_once('\t')?.1));
    messages.any(|message| !ADDED.iter().any(|words| message.starts_with(words)))
}

/// The changes of one branch, oldest first.
struct Moves<'a> {
    context: &'a UndoContext<'a>,
    path: &'a RelPath,
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
        let now = read(self.context.root, self.path);
        self.changes.windows(2).all(is_next)
            && now.as_deref().and_then(commit_name).as_deref() == Some(commit)
    }

    fn recorded(&self, content: ContentHash) -> Option<String> {
        commit_name(&self.context.journal.content(&content).ok().flatten()?)
    }
}

/// Returns the name of a branch of a repository, from its path.
fn branch_name(path: &RelPath, repository: &RelPath) -> Option<String> {
    let part = in_git_folder(path).filter(|part| part.folder == *repository)?;
    let [b"refs", b"heads", names @ ..] = part.names.as_slice() else { return None };
    String::from_utf8(names.join(&b'/')).ok().filter(|name| !name.is_empty())
}

/// Returns the branch that a `HEAD` names.
fn head_of(root: &FileRoot, head: &RelPath) -> Option<String> {
    let text = String::from_utf8(read(root, head)?).ok()?;
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
