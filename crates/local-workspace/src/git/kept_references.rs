//! Judges the files in which git keeps references: an unreadable line makes every git command fail.

use std::collections::BTreeSet;

use git_index::{
    ObjectFormat, are_packed_references, are_shallow_ends, is_readable_head, is_readable_reference,
    is_reference_name, keeps_objects_of_tags,
};
use rel_path::RelPath;

use crate::command::effect::Effect;
use crate::git::guard::InRepository;
use crate::git::reference_tables::table_refusal;
use crate::git::refusal::Refusal;
use crate::git::repository_context::RepositoryContext;

/// Returns the reason why a file with references, or with the ends of a shallow history, is refused.
pub(crate) fn reference_refusal(
    part: &InRepository<'_>,
    effect: &Effect,
    context: &RepositoryContext<'_>,
) -> Option<Refusal> {
    let is_lock = part.names.last().is_some_and(|name| name.ends_with(b".lock"));
    if let Some(refusal) = table_refusal(part, effect, context) {
        return Some(refusal);
    }
    let has_name = |wanted: &[u8]| part.names.iter().any(|name| name.eq_ignore_ascii_case(wanted));
    let is_inner_head = || {
        let is_inner = part.first_is(&["worktrees", "modules"]) && part.names.len() > 2;
        is_inner && part.ends_with(&["HEAD"]) && !has_name(b"refs") && !has_name(b"logs")
    };
    let is_any_head = part.is_head() || is_inner_head();
    let is_inner_reference = || {
        has_name(b"refs")
            && part.first_is(&["worktrees", "modules"])
            && part.inner(context).first_is(&["refs"])
    };
    let is_single = !is_lock && (is_any_head || part.first_is(&["refs"]) || is_inner_reference());
    if !is_lock && has_name(b"refs") {
        let name = part.inner(context).names.join(&b'/');
        if name.starts_with(b"refs/") && !is_reference_name(&name) {
            return Some(Refusal::ReferenceName);
        }
    }
    // Branches and logs may have these names.
    let is_list = |name: &str| !part.is_data() && part.ends_with(&[name]);
    let judge = if is_single && is_any_head {
        is_readable_head
    } else if is_single {
        is_readable_reference
    } else if is_list("packed-refs") {
        are_packed_references
    } else if is_list("shallow") {
        are_shallow_ends
    } else {
        return None;
    };
    let Some(text) = effect.text_after() else {
        // A single reference is judged by its beginning. A new repository contains nothing of the user's.
        let head = effect.path.parent().and_then(|folder| folder.child(b"HEAD").ok());
        let was_there = head.is_some_and(|head| (context.was_there)(&head));
        // After endless whitespace, a replacement of an object would be in force.
        let is_replacement = is_single && has_name(b"replace");
        return (is_replacement || !is_single && was_there).then_some(Refusal::UnreadReferences);
    };
    // The file says `reftable`, in place of a folder of branches.
    if part.ends_with(&["refs", "heads"]) && part.inner(context).names.len() == 2 {
        return None;
    }
    let folder = match is_single {
        // Submodules have their own settings, and any number of slashes in their names.
        true if part.first_is(&["modules"]) => None,
        true => Some(part.folder.clone()),
        false => effect.path.parent(),
    };
    let settings = folder.and_then(|folder| folder.child(b"config").ok());
    let format = settings.and_then(|settings| (context.format)(&settings));
    // If the settings cannot be read with certainty, it may be in either.
    let is_readable = match format {
        Some(format) => judge(text, format),
        None => [ObjectFormat::Sha1, ObjectFormat::Sha256].into_iter().any(|format| judge(text, format)),
    };
    let is_packed = !is_single && part.ends_with(&["packed-refs"]);
    let keeps_tags = || effect.text_before().is_none_or(|before| keeps_objects_of_tags(before, text));
    if !is_readable || is_packed && !keeps_tags() {
        return Some(Refusal::UnreadableReferences);
    }
    (is_single || is_packed).then(|| missing_object(part, effect, text, context))?
}

/// Returns the refusal of a file with a new line that names an object missing from the repository.
fn missing_object(
    part: &InRepository<'_>,
    effect: &Effect,
    text: &[u8],
    context: &RepositoryContext<'_>,
) -> Option<Refusal> {
    let folder = part.folder_with_objects(context)?;
    let lines = |text: &[u8]| text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<BTreeSet<_>>();
    let before = lines(effect.text_before().unwrap_or_default());
    let is_missing = lines(text).difference(&before).any(|line| {
        let line = line.strip_prefix(b"^").unwrap_or(line);
        let object = line.split(|byte| *byte == b' ').next().unwrap_or_default();
        object.iter().all(u8::is_ascii_hexdigit) && (context.lacks_object)(&folder, object)
    });
    is_missing.then_some(Refusal::MissingObject)
}

/// Returns whether a file may hold references, which are adopted only with the objects that they name.
pub(crate) fn may_hold_references(path: &RelPath) -> bool {
    const FOLDERS: [&[u8]; 2] = [b"refs", b"reftable"];
    const FILES: [&[u8]; 2] = [b"HEAD", b"packed-refs"];
    let is_one_of = |name: &[u8], list: &[&[u8]]| list.iter().any(|one| name.eq_ignore_ascii_case(one));
    path.file_name().is_some_and(|name| is_one_of(name, &FILES))
        || path.components().any(|name| is_one_of(name, &FOLDERS))
}

impl InRepository<'_> {
    /// Returns the folder of the repository with the objects that references here name; `None` if it has none.
    pub(crate) fn folder_with_objects(&self, context: &RepositoryContext<'_>) -> Option<RelPath> {
        let folder = self.inner(context).folder;
        let has = |name: &[u8]| folder.child(name).is_ok_and(|path| (context.is_there)(&path));
        let all = folder.parent().filter(|all| all.file_name() == Some(b"worktrees"));
        // The objects of a working tree are stored in the repository around it.
        if let Some(all) = all.filter(|_| folder != self.folder && has(b"commondir")) {
            return all.parent();
        }
        (folder == self.folder || has(b"objects")).then_some(folder)
    }

    /// Returns whether git would write the log of a reference at this folder's path.
    pub(super) fn is_folder_for_log(&self, context: &RepositoryContext<'_>) -> bool {
        let inner = self.inner(context);
        let [logs, name @ ..] = inner.names.as_slice() else { return false };
        if !logs.eq_ignore_ascii_case(b"logs") || name.len() < 2 {
            return false;
        }
        let name = name.join(&b'/');
        let text = |path: &[u8]| {
            let path = RelPath::from_bytes(path).and_then(|path| inner.folder.join(&path)).ok()?;
            (context.text)(&path)
        };
        let is_packed = || {
            let list = inner.folder.child(b"packed-refs");
            list.is_ok_and(|list| (context.packed)(&list).has(&name))
        };
        text(&name).is_some() || is_packed()
    }
}
