//! Judges references, indexes and the ends of a shallow history by the objects that a repository has.

use std::collections::BTreeSet;

use git_index::ObjectKind;
use rel_path::RelPath;

use crate::change::present::PresentKind;
use crate::command::effect::Effect;
use crate::git::guard::{InRepository, is_index};
use crate::git::kept_references::may_hold_references;
use crate::git::rebases::names_rebased_branches;
use crate::git::refusal::Refusal;
use crate::git::repository_context::RepositoryContext;
use crate::git::stored_names::{NamesAfter, store_around};

/// The beginning of the names of branches.
const BRANCHES: &[u8] = b"refs/heads/";

/// Returns whether an effect is adopted only with objects, or with references that are.
pub(crate) fn depends_on_objects(effect: &Effect) -> bool {
    let path = &effect.path;
    effect.kind_after() == Some(PresentKind::File)
        && (may_hold_references(path)
            || names_rebased_branches(path)
            || is_index(path)
            || effect.before.is_none() && loose_object(path).is_some()
            || path.file_name() == Some(b"shallow"))
}

/// Returns why a file of a repository is refused because of the objects that it names. `before` are the objects before the
/// command.
pub(crate) fn object_refusal(
    part: &InRepository<'_>,
    effect: &Effect,
    context: &RepositoryContext<'_>,
    after: &NamesAfter<'_>,
    before: &NamesAfter<'_>,
) -> Option<Refusal> {
    if let Some((store, object)) = loose_object(&effect.path).filter(|_| effect.before.is_none()) {
        let folder = store.parent()?;
        return after.lacks_something_of(&folder, &object).then_some(Refusal::IncompleteObject);
    }
    let folder = part.folder_with_objects(context)?;
    let inner = part.inner(context);
    match inner.names.as_slice() {
        [_] if is_index(&effect.path) => {
            let format = context.format_of_index(&effect.path)?;
            after.lacks_object_of_index(&folder, effect, format).then_some(Refusal::IndexObject)
        }
        [b"shallow"] => is_cut(&folder, effect, context, before).then_some(Refusal::HistoryEnd),
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

/// Returns the lines of a file that are new, or all that it had in `before` are left out of.
fn new_lines(effect: &Effect) -> Vec<Vec<u8>> {
    let lines = |text: Option<&[u8]>| -> BTreeSet<Vec<u8>> {
        text.unwrap_or_default().split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let before = lines(effect.text_before());
    lines(effect.text_after()).into_iter().filter(|line| !before.contains(line)).collect()
}

/// Returns whether a branch, or a `HEAD` without one, names an object that is surely no commit.
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

/// Returns whether a history would end at a commit that was there, in a repository that was: the next `git gc` would remove what
/// lies behind it. The ends of what is fetched are new.
fn is_cut(
    folder: &RelPath,
    effect: &Effect,
    context: &RepositoryContext<'_>,
    before: &NamesAfter<'_>,
) -> bool {
    let was_there = folder.child(b"HEAD").is_ok_and(|head| (context.was_there)(&head));
    was_there
        && new_lines(effect).iter().any(|line| matches!(line.len(), 40 | 64) && !before.lacks(folder, line))
}
