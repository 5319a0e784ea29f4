//! Finds the files by which git notices or records fewer changes than before a command: the user would not see them in
//! `git status`.

use std::collections::BTreeMap;

use git_index::{Entry, ObjectFormat, check};
use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::change::present::PresentKind;
use crate::command::effect::Effect;
use crate::git::guard::{in_any_repository, in_git_folder, is_main_index};
use crate::git::settings::changed_notice;

/// The mark of an entry that is assumed to be unchanged.
const ASSUMED: u16 = 0x8000;

/// The mark of an entry that is assumed to be outside of the working tree.
const ELSEWHERE: u16 = 0x4000;

/// Returns the files of effects by which git notices or records fewer changes than before, each with its effect. New
/// repositories do not count: the user has not seen their changes before.
pub(crate) fn changed<'a>(root: &FileRoot, effects: &'a [Effect]) -> Vec<(&'a RelPath, Vec<String>)> {
    let files = effects.iter().filter(|effect| effect.kind_after() == Some(PresentKind::File));
    let positions: BTreeMap<&RelPath, &Effect> =
        effects.iter().map(|effect| (&effect.path, effect)).collect();
    let is_there = |path: &RelPath| match positions.get(path) {
        Some(effect) => effect.after.is_some(),
        None => root.metadata(path).is_ok(),
    };
    let named = files.filter_map(|effect| {
        let what = if is_main_index(&effect.path) {
            new_marks(effect, &is_there)
        } else if is_list_of_ignored(effect, &positions) {
            vec!["git shows no new files that it names".to_owned()]
        } else {
            settings(root, effect)
        };
        (!what.is_empty()).then_some((&effect.path, what))
    });
    named.collect()
}

fn is_list_of_ignored(effect: &Effect, positions: &BTreeMap<&RelPath, &Effect>) -> bool {
    let is_same = || effect.text_after().is_some_and(|after| effect.text_before() == Some(after));
    let Some(part) = in_git_folder(&effect.path).filter(|part| part.names == [&b"info"[..], b"exclude"])
    else {
        return false;
    };
    let head = part.folder.child(b"HEAD").ok();
    let head = head.and_then(|head| positions.get(&head).copied());
    head.is_none_or(|head| head.before.is_some()) && !is_same()
}

fn settings(root: &FileRoot, effect: &Effect) -> Vec<String> {
    let Some((before, after)) = effect.text_before().zip(effect.text_after()) else { return Vec::new() };
    let is_settings = || in_any_repository(root, &effect.path).is_some_and(|part| part.is_settings());
    let is_named = matches!(effect.path.file_name(), Some(b"config" | b"config.worktree"));
    if is_named && is_settings() { changed_notice(before, after) } else { Vec::new() }
}

/// Returns the new marks of an index on existing files. `git sparse-checkout` marks missing ones.
fn new_marks(effect: &Effect, is_there: &dyn Fn(&RelPath) -> bool) -> Vec<String> {
    let before: BTreeMap<Vec<u8>, u16> = marks(effect.text_before()).into_iter().collect();
    let folder = effect.path.parent().and_then(|git| git.parent());
    let is_new = |(path, marks): &(Vec<u8>, u16)| {
        let new = marks & !before.get(path).copied().unwrap_or_default();
        let path = || folder.as_ref()?.join(&RelPath::from_bytes(path).ok()?).ok();
        new & ASSUMED != 0 || new & ELSEWHERE != 0 && path().is_some_and(|path| is_there(&path))
    };
    let new = marks(effect.text_after()).into_iter().filter(is_new).map(|(path, _)| path);
    let text = |path: Vec<u8>| format!("no changes of '{}'", String::from_utf8_lossy(&path).escape_debug());
    new.map(text).collect()
}

/// Returns the marked entries of an index.
fn marks(index: Option<&[u8]>) -> Vec<(Vec<u8>, u16)> {
    let Some(index) = index else { return Vec::new() };
    let formats = [ObjectFormat::Sha1, ObjectFormat::Sha256];
    let read = |format| {
        let mut marks = Vec::new();
        let mut add = |entry: Entry<'_>| {
            if entry.marks & (ASSUMED | ELSEWHERE) != 0 {
                marks.push((entry.path.to_vec(), entry.marks));
            }
        };
        check(index, format, &mut add).ok().map(|()| marks)
    };
    formats.into_iter().find_map(read).unwrap_or_default()
}
