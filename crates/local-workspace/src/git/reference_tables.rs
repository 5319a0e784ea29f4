//! Judges reftables, in which git keeps references if the settings say so, and the list of them.
//!
//! Git never changes a table, and reads all listed ones: if it cannot read one, it shows no references at all.

use git_index::{ObjectFormat, TableReference, is_reference_name, references_in_table};
use rel_path::RelPath;

use crate::change::present::PresentKind;
use crate::command::effect::{Effect, EffectSide};
use crate::git::guard::{InRepository, Refusal};
use crate::git::repository_context::RepositoryContext;

/// The folder of the tables.
const FOLDER: &[u8] = b"reftable";

/// The list of tables.
const LIST: &[u8] = b"tables.list";

/// Returns the folder that holds a table or a list of tables, by its path.
pub(crate) fn tables_around(path: &RelPath) -> Option<RelPath> {
    let folder = path.parent().filter(|folder| folder.file_name().is_some_and(is_folder))?;
    path.file_name().is_some_and(|name| is_table(name) || is_list(name)).then_some(folder)
}

fn is_folder(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(FOLDER)
}

fn is_list(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(LIST)
}

fn is_table(name: &[u8]) -> bool {
    name.get(name.len().saturating_sub(4)..).is_some_and(|end| end.eq_ignore_ascii_case(b".ref"))
}

/// Returns the reason why a new or changed table, or the list, is refused.
pub(super) fn table_refusal(
    part: &InRepository<'_>,
    effect: &Effect,
    context: &RepositoryContext<'_>,
) -> Option<Refusal> {
    tables_around(&effect.path)?;
    let inner = part.inner(context);
    match inner.names.as_slice() {
        [_, name] if is_list(name) => list_refusal(effect, context),
        [_, _] if effect.kind_before() == Some(PresentKind::File) => change_refusal(effect),
        [_, _] => new_table_refusal(part, &inner, effect, context),
        _ => None,
    }
}

fn change_refusal(effect: &Effect) -> Option<Refusal> {
    let may_be_unchanged =
        matches!(&effect.after, Some(EffectSide::Unkept(unkept)) if unkept.may_be_unchanged);
    let is_same = match (effect.text_before(), effect.text_after()) {
        (Some(before), Some(after)) => before == after,
        _ => may_be_unchanged,
    };
    (!is_same).then_some(Refusal::ReferenceTable)
}

fn new_table_refusal(
    part: &InRepository<'_>,
    inner: &InRepository<'_>,
    effect: &Effect,
    context: &RepositoryContext<'_>,
) -> Option<Refusal> {
    let Some(text) = effect.text_after() else {
        // A new repository contains nothing of the user's.
        let was_there = inner.folder.child(b"HEAD").is_ok_and(|head| (context.was_there)(&head));
        return was_there.then_some(Refusal::UnreadReferences);
    };
    let folder = part.folder_with_objects(context);
    let settings = folder.as_ref().and_then(|folder| folder.child(b"config").ok());
    let format = settings.and_then(|settings| (context.format)(&settings));
    let references = match format {
        Some(format) => references_in_table(text, format),
        None => [ObjectFormat::Sha1, ObjectFormat::Sha256]
            .into_iter()
            .find_map(|format| references_in_table(text, format)),
    };
    let Some(references) = references.filter(|references| references.iter().all(is_readable)) else {
        return Some(Refusal::UnreadableReferences);
    };
    let folder = folder?;
    let mut objects = references.iter().flat_map(|reference| &reference.objects);
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    objects
        .any(|object| (context.lacks_object)(&folder, hex(object).as_bytes()))
        .then_some(Refusal::MissingObject)
}

/// Returns whether git accepts a reference: one with the name of an object that is not zeros, or one that leads to another.
fn is_readable(reference: &TableReference) -> bool {
    let TableReference { name, objects, target } = reference;
    let is_root = |name: &[u8]| {
        !name.is_empty()
            && name.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-' | b'0'..=b'9'))
    };
    let leads_well = |target: &Vec<u8>| {
        is_reference_name(target) && (name != b"HEAD" || target.starts_with(b"refs/heads/"))
    };
    (is_reference_name(name) || is_root(name))
        && target.as_ref().is_none_or(leads_well)
        && objects.iter().all(|object| object.iter().any(|byte| *byte != 0))
}

/// Returns the reason why the list is refused. Each table in it has to exist.
fn list_refusal(effect: &Effect, context: &RepositoryContext<'_>) -> Option<Refusal> {
    let Some(text) = effect.text_after() else { return Some(Refusal::UnreadReferences) };
    let folder = effect.path.parent()?;
    let is_there =
        |name: &[u8]| is_table(name) && folder.child(name).is_ok_and(|table| (context.is_there)(&table));
    let is_sound = text.is_empty()
        || text.strip_suffix(b"\n").is_some_and(|lines| lines.split(|byte| *byte == b'\n').all(is_there));
    (!is_sound).then_some(Refusal::UnreadableReferences)
}

impl InRepository<'_> {
    /// Returns whether git still reads a table that was removed, or would find no list of tables.
    pub(super) fn is_needed_table(&self, context: &RepositoryContext<'_>) -> bool {
        let [.., folder, name] = self.names.as_slice() else { return false };
        if !is_folder(folder) || !(is_list(name) || is_table(name)) {
            return false;
        }
        let inner = self.inner(context);
        let [folder, name] = inner.names.as_slice() else { return false };
        let tables = inner.folder.child(folder);
        let Ok(list) = tables.and_then(|tables| tables.child(LIST)) else { return false };
        if is_list(name) {
            return true;
        }
        // A list that is too long to read may name it.
        (context.is_there)(&list)
            && (context.text)(&list)
                .is_none_or(|text| text.split(|byte| *byte == b'\n').any(|line| line == *name))
    }
}
