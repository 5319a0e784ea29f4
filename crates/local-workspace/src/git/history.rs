//! Files by which git shows other commits than there are: replacements of objects, grafts, and the end of a shallow
//! history. And files by which it merges as before.
//!
//! Git obeys the former when it shows and checks out commits, but not when it pushes, so that the user would see a
//! different history from others.

use std::collections::BTreeSet;

use git_index::{ObjectFormat, references_in_table};
use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::change::present::PresentKind;
use crate::command::effect::Effect;
use crate::git::guard::{InRepository, in_any_repository, in_git_folder};

/// The beginning of the names of references that replace objects.
const REPLACE: &[u8] = b"refs/replace/";

/// Returns the files of effects by which git shows other commits than before, each with its effect.
pub(crate) fn changed<'a>(root: &FileRoot, effects: &'a [Effect]) -> Vec<(&'a RelPath, Vec<String>)> {
    // A new shallow clone is as expected.
    let new_repositories: BTreeSet<RelPath> = effects
        .iter()
        .filter(|effect| effect.before.is_none() && effect.path.file_name() == Some(b"HEAD"))
        .filter_map(|effect| effect.path.parent())
        .collect();
    let is_of_new =
        |effect: &Effect| effect.path.parent().is_some_and(|folder| new_repositories.contains(&folder));
    let lies_in_new = |effect: &Effect| {
        let tables = effect.path.parent().filter(|tables| tables.file_name() == Some(b"reftable"));
        tables.and_then(|tables| tables.parent()).is_some_and(|folder| new_repositories.contains(&folder))
    };
    let files = effects.iter().filter(|effect| effect.kind_after() == Some(PresentKind::File));
    let named = files.filter_map(|effect| {
        let part = in_any_repository(root, &effect.path)?;
        let is_shallow = effect.path.file_name() == Some(b"shallow");
        // And the tables of a large clone may exceed the limits.
        let is_table = effect.text_after().is_none() && lies_in_new(effect);
        let is_new = is_shallow && is_of_new(effect) || is_table;
        let what = if is_new { Vec::new() } else { changes(&part, effect) };
        (!what.is_empty()).then_some((&effect.path, what))
    });
    named.collect()
}

/// Returns whether an effect changes the recorded resolution of a conflict, which git reuses in merges.
///
/// A new conflict is recorded without a resolution, so it is not reported.
pub(crate) fn changes_resolution(effect: &Effect) -> bool {
    let names: Vec<_> = effect.path.components().collect();
    let [.., cache, _, name] = names.as_slice() else { return false };
    let decides = match effect.before {
        None => name.starts_with(b"postimage"),
        Some(_) => name.starts_with(b"postimage") || name.starts_with(b"preimage"),
    };
    let is_same = || effect.text_after().is_some_and(|after| effect.text_before() == Some(after));
    decides
        && cache.eq_ignore_ascii_case(b"rr-cache")
        && effect.kind_after() == Some(PresentKind::File)
        && in_git_folder(&effect.path).is_some_and(|part| !part.is_data())
        && !is_same()
}

fn changes(part: &InRepository<'_>, effect: &Effect) -> Vec<String> {
    let lines = |text: Option<&[u8]>| -> BTreeSet<Vec<u8>> {
        text.unwrap_or_default().split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    };
    let new_lines = || {
        let before = lines(effect.text_before());
        let after = lines(effect.text_after()).into_iter().filter(|line| !line.is_empty());
        after.filter(move |line| !before.contains(line))
    };
    let is_replacement = part.names.windows(2).any(|two| two == [&b"refs"[..], b"replace"]);
    if is_replacement {
        // Content that could not be read may differ.
        let is_same = effect.text_after().is_some_and(|after| effect.text_before() == Some(after));
        return if is_same { Vec::new() } else { replacements(1) };
    }
    // A branch may have any of these names.
    if part.is_data() {
        return Vec::new();
    }
    let last = part.names.last().copied().unwrap_or_default();
    let folder = part.names.len().checked_sub(2).map_or(&b""[..], |at| part.names[at]);
    let is_unread = effect.text_after().is_none();
    match (folder, last) {
        (b"info", b"grafts") if is_unread => vec!["may give commits other parents".to_owned()],
        (b"info", b"grafts") => grafts(new_lines().count()),
        (_, b"shallow") => ends(new_lines().count()),
        (_, b"packed-refs") => {
            let is_replacement = |line: &Vec<u8>| line.windows(REPLACE.len()).any(|part| part == REPLACE);
            replacements(new_lines().filter(is_replacement).count())
        }
        (b"reftable", b"tables.list") => Vec::new(),
        (b"reftable", _) => match effect.text_after().and_then(names_in_table) {
            None => vec!["may replace objects".to_owned()],
            Some(names) => replacements(names.iter().filter(|name| is_replacement_name(name)).count()),
        },
        _ => Vec::new(),
    }
}

fn names_in_table(table: &[u8]) -> Option<Vec<Vec<u8>>> {
    let formats = [ObjectFormat::Sha1, ObjectFormat::Sha256];
    let references = formats.into_iter().find_map(|format| references_in_table(table, format))?;
    Some(references.into_iter().map(|reference| reference.name).collect())
}

/// Returns whether git replaces an object because of a reference of this name.
fn is_replacement_name(name: &[u8]) -> bool {
    let object = name.strip_prefix(REPLACE);
    object.is_some_and(|object| !object.is_empty() && object.iter().all(u8::is_ascii_hexdigit))
}

fn grafts(count: usize) -> Vec<String> {
    counted(count, "gives a commit other parents", "gives {} commits other parents")
}

fn ends(count: usize) -> Vec<String> {
    counted(count, "cuts the history at a commit", "cuts the history at {} commits")
}

fn replacements(count: usize) -> Vec<String> {
    counted(count, "replaces an object", "replaces {} objects")
}

fn counted(count: usize, one: &str, many: &str) -> Vec<String> {
    match count {
        0 => Vec::new(),
        1 => vec![one.to_owned()],
        count => vec![many.replace("{}", &count.to_string())],
    }
}
