//! The branches that an unfinished rebase moves when the user continues or aborts it.
//!
//! Git moves a branch then without looking at what it names: an abort of a rebase with another `head-name` resets a branch
//! that the rebase was never about.

pub(crate) mod branches_in_use;

use git_index::{ObjectFormat, branches_in_steps, moved_references, references_in_table};
use rel_path::RelPath;

use crate::command::effect::Effect;
use crate::git::guard::InRepository;
use crate::git::refusal::Refusal;
use crate::git::repository_context::RepositoryContext;

/// Returns the content that a file will have by what is decided so far.
type Content<'a> = dyn Fn(&RelPath) -> Option<Vec<u8>> + 'a;

/// Returns whether a file says which branches an unfinished rebase, or `git am`, moves, by its name and that of its folder.
pub(crate) fn names_rebased_branches(path: &RelPath) -> bool {
    const FOLDERS: [&[u8]; 2] = [b"rebase-merge", b"rebase-apply"];
    const FILES: [&[u8]; 4] = [b"head-name", b"orig-head", b"update-refs", b"abort-safety"];
    let is_one_of = |name: &[u8], list: &[&[u8]]| list.iter().any(|one| name.eq_ignore_ascii_case(one));
    let folder = path.parent().and_then(|folder| folder.file_name().map(<[u8]>::to_vec));
    folder.is_some_and(|folder| is_one_of(&folder, &FOLDERS))
        && path.file_name().is_some_and(|name| is_one_of(name, &FILES))
}

/// Returns why a file of an unfinished rebase is refused: an abort would give a branch another value than it has, or the end
/// of the rebase would remove a branch.
pub(crate) fn rebase_refusal(
    part: &InRepository<'_>,
    effect: &Effect,
    context: &RepositoryContext<'_>,
    content: &Content<'_>,
) -> Option<Refusal> {
    let inner = part.inner(context);
    let [_, name] = inner.names.as_slice() else { return None };
    let after = effect.text_after().filter(|_| names_rebased_branches(&effect.path))?;
    // That of the user continues as it began.
    if effect.text_before() == Some(after) {
        return None;
    }
    let beside = |name: &[u8]| effect.path.parent()?.child(name).ok().and_then(|path| content(&path));
    let repository = part.folder_with_objects(context)?;
    let is_value = |name: &[u8], object: &[u8]| {
        value(&repository, name, content).is_some_and(|value| value.eq_ignore_ascii_case(object))
    };
    let is_sound = if name.eq_ignore_ascii_case(b"abort-safety") {
        // Without the commit of the beginning, an abort of `git am` removes the branch, as one that had no commit then.
        after.trim_ascii().is_empty() || value(&inner.folder, b"ORIG_HEAD", content).is_some()
    } else if name.eq_ignore_ascii_case(b"update-refs") {
        let steps = beside(b"git-rebase-todo").unwrap_or_default();
        moved_references(after)?.iter().all(|moved| {
            let is_zeros = |object: &[u8]| object.iter().all(|digit| *digit == b'0');
            let is_open = is_zeros(moved.after);
            // A branch that the rebase makes was not there.
            let is_new = || is_zeros(moved.before) && value(&repository, moved.name, content).is_none();
            (is_value(moved.name, moved.before) || is_new())
                && (!is_open || branches_in_steps(&steps).any(|name| name == moved.name))
        })
    } else {
        let own = |wanted: &[u8]| {
            let is_own = name.eq_ignore_ascii_case(wanted);
            if is_own { Some(after.to_vec()) } else { beside(wanted) }
        };
        match (own(b"head-name"), own(b"orig-head")) {
            (Some(branch), Some(object)) => {
                let branch = branch.trim_ascii();
                !branch.starts_with(b"refs/") || is_value(branch, object.trim_ascii())
            }
            // Without both, git aborts nothing.
            _ => true,
        }
    };
    (!is_sound).then_some(Refusal::UnfinishedWork(git_index::UnfinishedWorkError::References))
}

impl InRepository<'_> {
    /// Returns whether it is the commit to which an abort of an unfinished `git am` returns.
    pub(super) fn is_beginning_of_patches(&self, context: &RepositoryContext<'_>) -> bool {
        let inner = self.inner(context);
        let is_named = matches!(inner.names.as_slice(), [name] if name.eq_ignore_ascii_case(b"ORIG_HEAD"));
        let state =
            RelPath::from_bytes(b"rebase-apply/abort-safety").and_then(|path| inner.folder.join(&path));
        is_named && state.is_ok_and(|state| (context.is_there)(&state))
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
