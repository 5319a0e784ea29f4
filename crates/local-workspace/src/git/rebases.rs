//! The branches that unfinished work, such as a rebase, moves when the user continues or aborts it, and git's stash for
//! it.
//!
//! Git then moves a branch without checking its value: aborting a rebase with a modified `head-name` resets an
//! unrelated branch.

pub(crate) mod branches_in_use;
pub(crate) mod left_work;

use std::collections::BTreeSet;
use std::rc::Rc;

use git_index::{
    ObjectFormat, UnfinishedWorkError, branches_in_steps, moved_references, references_in_table,
};
use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::command::effect::Effect;
use crate::git::guard::InRepository;
use crate::git::linked_contents::Remembered;
use crate::git::rebases::branches_in_use::branches_in_use;
use crate::git::refusal::Refusal;
use crate::git::repository_context::RepositoryContext;
use crate::git::stored_names::NamesAfter;

/// Returns the future content of a file according to the decisions so far.
type Content<'a> = dyn Fn(&RelPath) -> Option<Vec<u8>> + 'a;

/// The folders of an unfinished rebase, or of patches.
const FOLDERS: [&[u8]; 2] = [b"rebase-merge", b"rebase-apply"];

/// Returns whether a file, by its name and that of its folder, lists the branches that unfinished work moves when it is
/// continued or aborted.
pub(crate) fn names_moved_branches(path: &RelPath) -> bool {
    const FILES: [&[u8]; 5] = [b"head-name", b"orig-head", b"head", b"update-refs", b"abort-safety"];
    let folder = path.parent().and_then(|folder| folder.file_name().map(<[u8]>::to_vec)).unwrap_or_default();
    path.file_name().is_some_and(|name| {
        name.eq_ignore_ascii_case(b"ORIG_HEAD")
            || is_one_of(&folder, &FOLDERS) && is_one_of(name, &FILES)
            || folder.eq_ignore_ascii_case(b"sequencer") && name.eq_ignore_ascii_case(b"head")
    })
}

/// Returns whether a file names the commit of uncommitted work that git has stashed for a rebase or a merge.
pub(crate) fn is_autostash(path: &RelPath) -> bool {
    let folder = path.parent().and_then(|folder| folder.file_name().map(<[u8]>::to_vec)).unwrap_or_default();
    path.file_name().is_some_and(|name| {
        name.eq_ignore_ascii_case(b"MERGE_AUTOSTASH")
            || name.eq_ignore_ascii_case(b"autostash") && is_one_of(&folder, &FOLDERS)
    })
}

fn is_one_of(name: &[u8], list: &[&[u8]]) -> bool {
    list.iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// The resulting state of a command by which files of unfinished work are judged.
pub(crate) struct WorkContext<'a, 'names> {
    pub(crate) context: &'a RepositoryContext<'a>,
    pub(crate) content: &'a Content<'a>,
    pub(crate) after: &'a NamesAfter<'names>,
    pub(crate) before: &'a NamesAfter<'names>,
    pub(crate) root: &'a FileRoot,
    /// The branches of the user's unfinished work, by the folder of the repository.
    pub(crate) in_use: Remembered<RelPath, Rc<BTreeSet<RelPath>>>,
}

impl WorkContext<'_, '_> {
    /// Returns the branches of unfinished work that the command leaves unchanged.
    fn branches_of_user(&self, repository: &RelPath) -> Rc<BTreeSet<RelPath>> {
        self.in_use.get_or_read(repository.clone(), || {
            let trees = repository.child(b"worktrees").ok().and_then(|all| self.root.list(&all).ok());
            let trees = trees.unwrap_or_default().into_iter().map(|entry| entry.path);
            let folders = std::iter::once(repository.clone()).chain(trees);
            let branches = folders.flat_map(|folder| branches_in_use(&folder, self.content));
            let of_user = branches.filter(|branch| !self.after.changes(&branch.file));
            Rc::new(of_user.map(|branch| branch.name).collect())
        })
    }
}

/// Returns the full name of a branch, if it is the file of one.
fn branch_of(part: &InRepository<'_>, context: &RepositoryContext<'_>) -> Option<RelPath> {
    let inner = part.inner(context);
    let is_branch = matches!(inner.names.as_slice(), [b"refs", b"heads", _, ..]);
    RelPath::from_bytes(&inner.names.join(&b'/')).ok().filter(|_| is_branch)
}

/// Returns the reason why a file of unfinished work is refused: an abort would change a branch, the end of the work
/// would remove or move a branch, or uncommitted work of the user would be lost.
pub(crate) fn unfinished_refusal(
    part: &InRepository<'_>,
    effect: &Effect,
    work: &WorkContext<'_, '_>,
) -> Option<Refusal> {
    if let Some(name) = branch_of(part, work.context) {
        let repository = part.folder_with_objects(work.context)?;
        let is_same = effect.text_before().is_some() && effect.text_before() == effect.text_after();
        let is_in_use = !is_same && work.branches_of_user(&repository).contains(&name);
        return is_in_use.then_some(Refusal::BranchInUse);
    }
    let is_about_branches = names_moved_branches(&effect.path);
    if !is_about_branches && !is_autostash(&effect.path) {
        return None;
    }
    let inner = part.inner(work.context);
    let repository = part.folder_with_objects(work.context)?;
    let state = State { effect, folder: &inner.folder, repository: &repository, work };
    // The user's own work continues as it began.
    if effect.text_before().is_some() && effect.text_before() == effect.text_after() {
        return None;
    }
    let is = |name: &[u8], wanted: &[u8]| name.eq_ignore_ascii_case(wanted);
    let is_sound = match inner.names.as_slice() {
        [name] if is(name, b"MERGE_AUTOSTASH") => {
            return (!state.keeps_stashed(b"MERGE_HEAD")).then_some(Refusal::Autostash);
        }
        [folder, name] if is(name, b"autostash") => {
            let is_kept = state.keeps_stashed(&[folder, &b"/head-name"[..]].concat());
            return (!is_kept).then_some(Refusal::Autostash);
        }
        [name] if is(name, b"ORIG_HEAD") => {
            state.read_below(b"rebase-apply/abort-safety").is_none() || state.returns_to(effect.text_after()?)
        }
        [folder, _] if is(folder, b"sequencer") => state.reaches(effect.text_after()?),
        [_, name] if is(name, b"abort-safety") => state.is_sound_safety(effect.text_after()?),
        [_, name] if is(name, b"update-refs") => state.are_sound_moves(effect.text_after()?)?,
        [_, name] => state.is_sound_rebase(name, effect.text_after()?),
        _ => true,
    };
    (!is_sound).then_some(Refusal::UnfinishedWork(UnfinishedWorkError::References))
}

/// Unfinished work of a working tree.
struct State<'a, 'context, 'names> {
    effect: &'a Effect,
    /// The folder that has the `HEAD` of the working tree.
    folder: &'a RelPath,
    /// The folder that has its branches.
    repository: &'a RelPath,
    work: &'a WorkContext<'context, 'names>,
}

impl State<'_, '_, '_> {
    fn read_below(&self, name: &[u8]) -> Option<Vec<u8>> {
        let path = RelPath::from_bytes(name).and_then(|name| self.folder.join(&name)).ok()?;
        (self.work.content)(&path)
    }

    fn read_sibling(&self, name: &[u8]) -> Option<Vec<u8>> {
        self.effect.path.parent()?.child(name).ok().and_then(|path| (self.work.content)(&path))
    }

    fn value(&self, name: &[u8]) -> Option<Vec<u8>> {
        value(self.repository, name, self.work.content)
    }

    fn is_value(&self, name: &[u8], object: &[u8]) -> bool {
        self.value(name).is_some_and(|value| value.eq_ignore_ascii_case(object))
    }

    /// Returns the checked-out branch. If references are in tables, so is this one, and it is not searched for.
    fn branch(&self) -> Option<Vec<u8>> {
        const IN_TABLES: &[u8] = b"refs/heads/.invalid";
        let name = self.read_below(b"HEAD")?.strip_prefix(b"ref:")?.trim_ascii().to_vec();
        (name != IN_TABLES).then_some(name)
    }

    /// Returns whether resetting `HEAD` to a commit drops only commits that the command has made.
    fn reaches(&self, object: &[u8]) -> bool {
        const MOST_COMMITS: usize = 4096;
        let commit = match self.branch() {
            Some(branch) => self.value(&branch),
            None => self.read_below(b"HEAD").filter(|text| !text.starts_with(b"ref:")),
        };
        let commit = commit.map(|text| text.trim_ascii().to_vec());
        // A branch without commits has none to lose.
        let Some(mut commit) = commit else { return true };
        for _ in 0..MOST_COMMITS {
            if commit.eq_ignore_ascii_case(object.trim_ascii()) {
                return true;
            }
            let parents = self
                .work
                .after
                .parents_of_new(self.repository, &commit.to_ascii_lowercase())
                .unwrap_or_default();
            let Some(parent) = parents.first() else { return false };
            commit = parent.digits();
        }
        false
    }

    /// The same for an abort of patches on a branch only: during a rebase, no branch is checked out.
    fn returns_to(&self, object: &[u8]) -> bool {
        self.branch().is_none() || self.reaches(object)
    }

    /// Returns whether an abort of patches may return to their starting commit. Without it, an abort removes the
    /// branch, as if it had no commits.
    fn is_sound_safety(&self, after: &[u8]) -> bool {
        let beginning = value(self.folder, b"ORIG_HEAD", self.work.content);
        let Some(beginning) = beginning else { return after.trim_ascii().is_empty() };
        // The user's own patches keep their starting commit.
        self.effect.before.is_some() || self.returns_to(&beginning)
    }

    /// Returns whether the branches that a rebase moves when it ends match its steps, with new values. Each is looked
    /// up among all of the repository, so more than a few are refused.
    fn are_sound_moves(&self, after: &[u8]) -> Option<bool> {
        const MOST_MOVED: usize = 64;
        let moves = moved_references(after)?;
        if moves.len() > MOST_MOVED {
            return Some(false);
        }
        let steps = self.read_sibling(b"git-rebase-todo").unwrap_or_default();
        let open: BTreeSet<&[u8]> = branches_in_steps(&steps).collect();
        let former = moved_references(self.effect.text_before().unwrap_or_default()).unwrap_or_default();
        let is_zeros = |object: &[u8]| object.iter().all(|digit| *digit == b'0');
        Some(moves.iter().all(|moved| {
            // A branch that the rebase creates did not exist.
            let is_new = || is_zeros(moved.before) && self.value(moved.name).is_none();
            let is_decided = || {
                moved.after.eq_ignore_ascii_case(moved.before)
                    || former.contains(moved)
                    || self.work.before.lacks(self.repository, moved.after)
            };
            (self.is_value(moved.name, moved.before) || is_new())
                && if is_zeros(moved.after) { open.contains(moved.name) } else { is_decided() }
        }))
    }

    /// Returns whether an abort leaves the branch unchanged, by the pair of files that name it and its commit.
    fn is_sound_rebase(&self, name: &[u8], after: &[u8]) -> bool {
        let own = |wanted: &[u8]| {
            let is_own = name.eq_ignore_ascii_case(wanted);
            if is_own { Some(after.to_vec()) } else { self.read_sibling(wanted) }
        };
        // Git falls back from one to the other.
        let object = own(b"orig-head").or_else(|| own(b"head"));
        // Without both, git does not abort.
        let Some((branch, object)) = own(b"head-name").zip(object) else { return true };
        let branch = branch.trim_ascii();
        // Without a branch, git moves whatever is checked out.
        let checked_out = if branch.starts_with(b"refs/") { Some(branch.to_vec()) } else { self.branch() };
        checked_out.is_none_or(|branch| self.is_value(&branch, object.trim_ascii()))
    }

    /// Returns whether uncommitted work that git has stashed still exists: in the stash, or restored at the end of the
    /// work, until which the file `marker` exists.
    fn keeps_stashed(&self, marker: &[u8]) -> bool {
        let Some(stashed) = self.effect.text_before() else { return true };
        let has_new_index = || self.folder.child(b"index").is_ok_and(|index| self.work.after.changes(&index));
        let is_put_back = || match self.effect.text_after() {
            None => self.read_below(marker).is_none() && has_new_index(),
            // The work was aborted, and restarted with the current uncommitted changes.
            Some(new) => self.work.before.lacks(self.repository, new.trim_ascii()),
        };
        self.is_value(b"refs/stash", stashed.trim_ascii()) || is_put_back()
    }
}

impl InRepository<'_> {
    /// Returns whether it is the commit to which an abort returns: of an unfinished `git am`, or of a rebase that stays.
    pub(super) fn is_beginning_of_work(&self, context: &RepositoryContext<'_>) -> bool {
        let inner = self.inner(context);
        let is_there = |name: &[u8]| {
            let path = RelPath::from_bytes(name).and_then(|name| inner.folder.join(&name));
            path.is_ok_and(|path| (context.is_there)(&path))
        };
        match inner.names.as_slice() {
            [name] if name.eq_ignore_ascii_case(b"ORIG_HEAD") => is_there(b"rebase-apply/abort-safety"),
            [folder, name] if name.eq_ignore_ascii_case(b"orig-head") => {
                is_one_of(folder, &FOLDERS) && is_there(&[folder, &b"/head-name"[..]].concat())
            }
            _ => false,
        }
    }
}

/// Returns the object that a reference of a repository names, in hexadecimal digits.
fn value(repository: &RelPath, name: &[u8], content: &Content<'_>) -> Option<Vec<u8>> {
    let read = |name: &[u8]| {
        let path = RelPath::from_bytes(name).and_then(|name| repository.join(&name)).ok()?;
        content(&path)
    };
    if let Some(list) = read(b"reftable/tables.list") {
        return value_in_tables(&list, name, &read);
    }
    if let Some(text) = read(name) {
        return Some(text.trim_ascii().to_vec());
    }
    let list = read(b"packed-refs")?;
    let mut lines = list.split(|byte| *byte == b'\n');
    lines.find_map(|line| Some(line.strip_suffix(name)?.strip_suffix(b" ")?.to_vec()))
}

/// The last table that has the reference counts.
fn value_in_tables(list: &[u8], name: &[u8], read: &dyn Fn(&[u8]) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let tables: Vec<&[u8]> = list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    tables.into_iter().rev().find_map(|table| {
        let table = read(&[b"reftable/", table].concat())?;
        let formats = [ObjectFormat::Sha1, ObjectFormat::Sha256];
        let references = formats.into_iter().find_map(|format| references_in_table(&table, format))?;
        let reference = references.into_iter().find(|reference| reference.name == name)?;
        let object = reference.objects.into_iter().next()?;
        Some(object.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into_bytes())
    })
}
