//! Judges references, indexes and the ends of a shallow history by the objects that a repository has.

use std::collections::BTreeSet;

use git_index::{ObjectKind, ObjectName};
use rel_path::RelPath;

use crate::change::present::PresentKind;
use crate::command::effect::Effect;
use crate::git::guard::{InRepository, is_index};
use crate::git::kept_references::may_hold_references;
use crate::git::rebases::{is_autostash, names_moved_branches};
use crate::git::refusal::Refusal;
use crate::git::repository_context::RepositoryContext;
use crate::git::stored_names::{NamesAfter, store_around};

/// The beginning of the names of branches.
const BRANCHES: &[u8] = b"refs/heads/";

/// Returns whether the adoption of an effect depends on objects, directly or through references.
pub(crate) fn depends_on_objects(effect: &Effect) -> bool {
    let path = &effect.path;
    effect.after.is_none() && is_autostash(path)
        || effect.kind_after() == Some(PresentKind::File)
            && (may_hold_references(path)
                || names_moved_branches(path)
                || is_autostash(path)
                || is_index(path)
                || effect.before.is_none() && (loose_object(path).is_some() || is_pack_index(path))
                || path.file_name() == Some(b"shallow"))
}

/// Returns the reason why a file of a repository is refused because of the objects that it names. `before` are the
/// objects before the command.
pub(crate) fn object_refusal(
    part: &InRepository<'_>,
    effect: &Effect,
    context: &RepositoryContext<'_>,
    after: &NamesAfter<'_>,
    before: &NamesAfter<'_>,
) -> Option<Refusal> {
    if let Some((store, object)) = loose_object(&effect.path).filter(|_| effect.before.is_none()) {
        let folder = store.parent()?;
        let is_incomplete = after.lacks_something_of(&folder, &object);
        let why = if after.are_too_many() { Refusal::TooManyObjects } else { Refusal::IncompleteObject };
        return is_incomplete.then_some(why);
    }
    if effect.before.is_none() && is_pack_index(&effect.path) {
        let folder = store_around(&effect.path)?.parent()?;
        // A new repository contains nothing of the user's.
        let is_unreadable = was_there(&folder, context) && after.is_unreadable_index(effect);
        return is_unreadable.then_some(Refusal::DamagedPack);
    }
    let folder = part.folder_with_objects(context)?;
    let inner = part.inner(context);
    match inner.names.as_slice() {
        [_] if is_index(&effect.path) => {
            let format = context.format_of_index(&effect.path)?;
            after.lacks_object_of_index(&folder, effect, format).then_some(Refusal::IndexObject)
        }
        [b"shallow"] => is_cut(&folder, effect, context, after, before).then_some(Refusal::HistoryEnd),
        [b"HEAD"] | [b"packed-refs"] | [b"refs", b"heads", ..] => {
            names_no_commit(&inner, &folder, effect, after).then_some(Refusal::NoCommit)
        }
        _ => None,
    }
}

/// Returns the store and the name of a loose object by its path.
fn loose_object(path: &RelPath) -> Option<(RelPath, Vec<u8>)> {
    let store = store_around(path)?;
    let start = path.parent()?.file_name().filter(|start| start.len() == 2)?.to_vec();
    Some((store, [&start, path.file_name()?].concat()))
}

/// Returns the new lines of a file, without those that it had before.
fn new_lines(effect: &Effect) -> Vec<Vec<u8>> {
    let lines = |text: Option<&[u8]>| -> BTreeSet<Vec<u8>> {
        text.unwrap_or_default().split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let before = lines(effect.text_before());
    lines(effect.text_after()).into_iter().filter(|line| !before.contains(line)).collect()
}

/// Returns whether a branch, or a detached `HEAD`, names an object that is certainly not a commit.
fn names_no_commit(
    inner: &InRepository<'_>,
    folder: &RelPath,
    effect: &Effect,
    after: &NamesAfter<'_>,
) -> bool {
    let is_list = inner.names == [b"packed-refs"];
    new_lines(effect).iter().any(|line| {
        let mut words = line.splitn(2, |byte| *byte == b' ');
        let object = words.next().filter(|object| object.iter().all(u8::is_ascii_hexdigit));
        let is_branch = !is_list || words.next().is_some_and(|name| name.starts_with(BRANCHES));
        let kind = object.filter(|_| is_branch).and_then(|object| after.kind(folder, object));
        kind.is_some_and(|kind| kind != ObjectKind::Commit)
    })
}

/// Returns whether it is the index of a pack, by its path.
fn is_pack_index(path: &RelPath) -> bool {
    path.as_bytes().ends_with(b".idx") && store_around(path).is_some()
}

fn was_there(folder: &RelPath, context: &RepositoryContext<'_>) -> bool {
    folder.child(b"HEAD").is_ok_and(|head| (context.was_there)(&head))
}

/// Returns whether a history would end at or before an existing commit in an existing repository: the next `git gc`
/// would remove its ancestors. The ends of a fetched history are new, and their parents are missing.
fn is_cut(
    folder: &RelPath,
    effect: &Effect,
    context: &RepositoryContext<'_>,
    after: &NamesAfter<'_>,
    before: &NamesAfter<'_>,
) -> bool {
    let former_ends = before.ends(folder);
    // Past a former end there is nothing more to lose.
    let is_there = |parent: &ObjectName| {
        let parent = parent.digits();
        let is_missing = after.lacks(folder, &parent) && before.lacks(folder, &parent);
        !(is_missing || former_ends.contains(&parent))
    };
    let cuts = |end: &[u8]| {
        // A later command could make a missing commit.
        if !before.lacks(folder, end) || after.lacks(folder, end) {
            return true;
        }
        match after.parents_of_new(folder, &end.to_ascii_lowercase()) {
            Some(parents) => parents.iter().any(is_there),
            // A large pack of a shallow clone is not read.
            None => former_ends.is_empty(),
        }
    };
    was_there(folder, context)
        && new_lines(effect).iter().filter(|line| matches!(line.len(), 40 | 64)).any(|line| cuts(line))
}
