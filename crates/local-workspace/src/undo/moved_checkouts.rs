//! Working trees in which undone changes have checked out another branch or commit, which stays because their
//! repository stays.
//!
//! A checkout changes tracked files by the difference of two commits. If they were reverted without the checkout, files
//! of one branch would be in the working tree of another, and committing them would revert unrelated work.

use std::collections::{BTreeMap, BTreeSet};

use change_journal::{ChangeNumber, ChangeState, Entry, RecordedChange};
use git_index::{ObjectFormat, REFERENCE_BYTES};
use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::git::guard::{INDEX_BYTES, in_git_folder};
use crate::git::linked_contents::SETTINGS_BYTES;
use crate::git::linked_folders::{submodule_tree, working_tree};
use crate::undo::error::{ObstacleKind, UndoError, UndoObstacle};
use crate::undo::kept_commits::OtherCheckout;
use crate::undo::left_branch::{CHECKOUT, branch, is_commit, is_there, relative_to, tree_with};
use crate::undo::path::obstacle;
use crate::undo::plan::UndoContext;

/// The words with which git records the new name of a branch in the log of `HEAD`.
const RENAMED: &str = "\tBranch: renamed refs/heads/";

/// Working trees that stay at another branch or commit than before the undone changes.
#[derive(Debug, Default)]
pub(super) struct MovedCheckouts(Vec<MovedCheckout>);

#[derive(Debug)]
struct MovedCheckout {
    head: RelPath,
    /// True if the former branch or commit is checked out again, to which the previous files belong.
    is_back: bool,
    repository: RelPath,
    other: OtherCheckout,
    tree: RelPath,
    /// The tracked files below the tree, and the folders with them; those of them that the checkout can have changed, if
    /// the former one is back. `None` if an index cannot be read.
    tracked: Option<BTreeSet<Vec<u8>>>,
}

impl MovedCheckouts {
    /// Finds them among the working trees of repositories that stay, by their `HEAD` files.
    pub(super) fn of(
        context: &UndoContext<'_>,
        chosen: &BTreeSet<ChangeNumber>,
        heads: &[RelPath],
        stays: impl Fn(&RelPath) -> bool,
    ) -> Result<MovedCheckouts, UndoError> {
        let mut moved = Vec::new();
        for head in heads.iter().filter(|head| stays(head)) {
            moved.extend(MovedCheckout::of(context, chosen, head)?);
        }
        Ok(MovedCheckouts(moved))
    }

    /// Returns whether a path is a tracked file in one of the trees, or a folder with such files. After a return to the
    /// former branch, git has restored the files of the checkout, and later differences are the user's, such as a merge.
    pub(super) fn track(&self, path: &RelPath) -> bool {
        self.0.iter().any(|checkout| {
            relative_to(&checkout.tree, path)
                .is_some_and(|path| checkout.tracked.as_ref().is_none_or(|tracked| tracked.contains(path)))
        })
    }

    /// Returns whether the changes have checked out another branch or commit in the tree of a `HEAD`, which may be back by now.
    pub(super) fn include(&self, head: &RelPath) -> bool {
        self.0.iter().any(|checkout| checkout.head == *head)
    }

    /// Returns whether there are such trees, and the former branch or commit is checked out again in each.
    pub(super) fn are_back(&self) -> bool {
        !self.0.is_empty() && self.staying().next().is_none()
    }

    /// Returns whether the tree of a repository is one of them, and its former branch or commit is checked out again.
    pub(super) fn is_back(&self, repository: &RelPath) -> bool {
        let mut of_repository =
            self.0.iter().filter(|checkout| checkout.repository == *repository).peekable();
        of_repository.peek().is_some() && of_repository.all(|checkout| checkout.is_back)
    }

    fn staying(&self) -> impl DoubleEndedIterator<Item = &MovedCheckout> {
        self.0.iter().filter(|checkout| !checkout.is_back)
    }

    /// Returns an obstacle for each of the trees: their files stay because the repository stays.
    pub(super) fn obstacles(&self) -> impl Iterator<Item = UndoObstacle> {
        self.staying().map(|checkout| {
            obstacle(&checkout.head, ObstacleKind::OtherCheckout(Box::new(checkout.other.clone())))
        })
    }

    /// Returns the repositories, with the working tree that has another branch or commit checked out.
    pub(super) fn by_repository(&self) -> BTreeMap<RelPath, OtherCheckout> {
        // The main working tree of a repository, which comes before linked ones, decides.
        self.staying().rev().map(|checkout| (checkout.repository.clone(), checkout.other.clone())).collect()
    }
}

impl MovedCheckout {
    fn of(
        context: &UndoContext<'_>,
        chosen: &BTreeSet<ChangeNumber>,
        head: &RelPath,
    ) -> Result<Option<MovedCheckout>, UndoError> {
        let Some((repository, tree)) = tree_of(context, head) else { return Ok(None) };
        let sibling =
            |name: &[u8]| head.parent().and_then(|folder| folder.join(&RelPath::from_bytes(name).ok()?).ok());
        let [before, after] = ends(context, chosen, Some(head))?;
        let (Some(before), Some(after)) = (before, after) else { return Ok(None) };
        let [former, left] = [before, after].map(|side| text(context, Some(side)));
        let log = ends(context, chosen, sibling(b"logs/HEAD").as_ref())?.map(|side| text(context, side));
        if before.content == after.content
            || !is_other_checkout([former.as_deref(), left.as_deref()], log.each_ref().map(Option::as_deref))
        {
            return Ok(None);
        }
        let present =
            context.root.open_file(head).ok().and_then(|file| file.read_to_end(REFERENCE_BYTES).ok());
        let is_back = present.is_some() && present == former;
        let former = former.as_deref().and_then(checked_out);
        let is_of_submodule = HeadKind::of(context.root, head) == Some(HeadKind::OfSubmodule);
        let own = head.parent().filter(|_| is_of_submodule);
        let store = own.as_ref().unwrap_or(&repository);
        let is_there = |former: &&str| is_there(context.root, store, former);
        let commit = || log.first()?.as_deref().and_then(last_commit);
        let other = OtherCheckout {
            former: former.filter(is_there).or_else(commit).map(str::to_owned),
            tree: tree.to_string(),
            taken_by: former.and_then(|former| tree_with(context, store, head, former)),
            is_rebased: former.is_some_and(|former| is_rebased(context, head, former)),
        };
        let index = sibling(b"index");
        let recorded = ends(context, chosen, index.as_ref())?;
        let now = index.and_then(|index| context.root.open_file(&index).ok()?.read_to_end(INDEX_BYTES).ok());
        let read = |side: Option<Entry>| match side {
            None => Some(BTreeSet::new()),
            Some(side) => entries(&text(context, Some(side))?),
        };
        let kept = recorded.map(read);
        let now = now.map(|index| entries(&index));
        let tracked = match (kept, is_back) {
            ([Some(before), Some(after)], true) => {
                Some(with_folders(before.symmetric_difference(&after).map(|(path, _)| &path[..])))
            }
            (kept, _) => {
                let all = kept.into_iter().chain(now).collect::<Option<Vec<_>>>();
                all.map(|all| with_folders(all.iter().flatten().map(|(path, _)| &path[..])))
            }
        };
        Ok(Some(MovedCheckout { head: head.clone(), is_back, repository, other, tree, tracked }))
    }
}

/// Returns the repository and the working tree of a `HEAD` file.
pub(super) fn tree_of(context: &UndoContext<'_>, head: &RelPath) -> Option<(RelPath, RelPath)> {
    let part = in_git_folder(head)?;
    let folder = head.parent()?;
    let read = |name: &[u8], limit| {
        let path = folder.child(name).ok()?;
        let text = context.root.open_file(&path).ok()?.read_to_end(limit).ok()?;
        Some((path, text))
    };
    let tree = match HeadKind::of(context.root, head)? {
        HeadKind::Own => part.folder.parent()?,
        HeadKind::OfSubmodule => submodule_tree(&folder, &read(b"config", SETTINGS_BYTES)?.1)?,
        HeadKind::Linked => {
            let (link, target) = read(b"gitdir", REFERENCE_BYTES)?;
            working_tree(&link, &target, context.workspace)?
        }
    };
    Some((part.folder, tree))
}

/// Returns whether a path is the `HEAD` of a repository's working tree, of one linked to it, or of a submodule.
pub(super) fn is_head(root: &FileRoot, path: &RelPath) -> bool {
    HeadKind::of(root, path).is_some()
}

/// The kind of working tree that a `HEAD` belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HeadKind {
    Own,
    OfSubmodule,
    Linked,
}

impl HeadKind {
    /// Returns the kind by the names under the repository's folder; `None` for other files.
    fn of(root: &FileRoot, path: &RelPath) -> Option<HeadKind> {
        match in_git_folder(path)?.names.as_slice() {
            [b"HEAD"] => Some(HeadKind::Own),
            [b"worktrees", _, b"HEAD"] | [b"modules", .., b"worktrees", _, b"HEAD"] => Some(HeadKind::Linked),
            [b"modules", name @ .., b"HEAD"] => {
                // A submodule may have the name of the folder of logs or references, which have none of a repository's files.
                let is_log = || name.iter().any(|name| matches!(*name, b"logs" | b"refs"));
                let is_of_submodule = !name.is_empty() && (!is_log() || has_objects(root, &path.parent()?));
                is_of_submodule.then_some(HeadKind::OfSubmodule)
            }
            _ => None,
        }
    }
}

/// Returns whether a folder has the objects of a repository.
pub(super) fn has_objects(root: &FileRoot, folder: &RelPath) -> bool {
    folder.child(b"objects").is_ok_and(|objects| root.metadata(&objects).is_ok())
}

/// Returns the states of a path before the first chosen change and after the last one.
fn ends(
    context: &UndoContext<'_>,
    chosen: &BTreeSet<ChangeNumber>,
    path: Option<&RelPath>,
) -> Result<[Option<Entry>; 2], UndoError> {
    let Some(path) = path else { return Ok([None, None]) };
    let mut changes = context.journal.changes_of_path(path.as_bytes(), u32::MAX)?;
    changes.retain(|change: &RecordedChange| {
        chosen.contains(&change.number) && change.state != ChangeState::Conflicted
    });
    let (oldest, newest) = (changes.last(), changes.first());
    Ok([oldest.and_then(|change| change.before), newest.and_then(|change| change.after)])
}

fn text(context: &UndoContext<'_>, side: Option<Entry>) -> Option<Vec<u8>> {
    context.journal.content(&side?.content?).ok().flatten()
}

/// Returns whether another commit was checked out, from both sides of a `HEAD` and of its log. A branch made for the
/// checked-out commit does not change files, and a commit without a branch is work on top of the former one.
fn is_other_checkout(heads: [Option<&[u8]>; 2], log: [Option<&[u8]>; 2]) -> bool {
    let lines = match log {
        // An undo removes its log lines again.
        [Some(before), Some(after)] => after.strip_prefix(before).or_else(|| before.strip_prefix(after)),
        [None, after] => after,
        [Some(_), None] => None,
    };
    let lines = lines.unwrap_or_default();
    let lines: Vec<_> = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let is_checkout = |line: &&&[u8]| line.windows(CHECKOUT.len()).any(|words| words == CHECKOUT.as_bytes());
    let has_same_commit = |line: &[u8]| {
        let mut words = line.split(|byte| *byte == b' ');
        words.next() == words.next()
    };
    let mut checkouts = lines.iter().filter(is_checkout).peekable();
    if checkouts.peek().is_some() {
        return !checkouts.all(|line| has_same_commit(line));
    }
    let [former, left] = heads.map(|head| head.and_then(branch));
    if former.zip(left).is_some_and(|(former, left)| is_renamed(former, left, &lines)) {
        return false;
    }
    lines.is_empty() || heads.iter().any(|head| head.is_none_or(|head| branch(head).is_some()))
}

/// Returns the commit to which the last line of a log leads.
fn last_commit(log: &[u8]) -> Option<&str> {
    let line = str::from_utf8(log).ok()?.lines().next_back()?;
    line.split(' ').nth(1).filter(|commit| is_commit(commit))
}

/// Returns whether a rebase of a branch is unfinished in the working tree of a `HEAD`.
fn is_rebased(context: &UndoContext<'_>, head: &RelPath, name: &str) -> bool {
    [b"rebase-merge/head-name".as_slice(), b"rebase-apply/head-name"].into_iter().any(|file| {
        let file = head.parent().and_then(|folder| folder.join(&RelPath::from_bytes(file).ok()?).ok());
        let read = |file| context.root.open_file(&file).ok()?.read_to_end(REFERENCE_BYTES).ok();
        let text = file.and_then(read).and_then(|text| String::from_utf8(text).ok());
        text.is_some_and(|text| text.trim_end().strip_prefix("refs/heads/") == Some(name))
    })
}

/// Returns whether lines of a log rename one of two branches to the other, in any number of steps.
fn is_renamed(former: &str, left: &str, lines: &[&[u8]]) -> bool {
    let renames = || {
        let text = lines.iter().filter_map(|line| str::from_utf8(line).ok());
        text.filter_map(|line| line.split_once(RENAMED)?.1.split_once(" to refs/heads/"))
    };
    // An undo removes the lines, and reverts the renames.
    [(former, left), (left, former)]
        .into_iter()
        .any(|(from, to)| renames().fold(from, |at, (old, new)| if at == old { new } else { at }) == to)
}

/// Returns the branch or the commit that a `HEAD` names.
fn checked_out(head: &[u8]) -> Option<&str> {
    branch(head).or_else(|| str::from_utf8(head).ok().map(str::trim_end).filter(|name| is_commit(name)))
}

/// Returns the paths of an index, with the names of their objects; `None` if it cannot be read.
pub(super) fn entries(index: &[u8]) -> Option<BTreeSet<(Vec<u8>, Vec<u8>)>> {
    [ObjectFormat::Sha1, ObjectFormat::Sha256].into_iter().find_map(|format| {
        let mut entries = BTreeSet::new();
        let mut add = |entry: git_index::Entry<'_>| {
            entries.insert((entry.path.to_vec(), entry.object.to_vec()));
        };
        git_index::check(index, format, &mut add).ok()?;
        Some(entries)
    })
}

/// Returns paths with the folders around them.
fn with_folders<'a>(paths: impl Iterator<Item = &'a [u8]>) -> BTreeSet<Vec<u8>> {
    let all = paths.flat_map(|path| {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        ends.chain([path.len()]).map(|end| path[..end].to_vec())
    });
    all.collect()
}
