//! The unfinished git work that a command leaves or changes: its files determine the effect of the user's next `git
//! commit`, `--continue` or `--abort`.

use std::collections::BTreeMap;

use rel_path::RelPath;
use sandbox_fs::FileRoot;

use crate::change::present::PresentKind;
use crate::command::effect::Effect;
use crate::git::guard::in_any_repository;

/// The folders of unfinished work, with its kind.
const FOLDERS: [(&[u8], &str); 3] = [
    (b"rebase-merge", "a rebase"),
    (b"rebase-apply", "a rebase, or patches"),
    (b"sequencer", "a cherry-pick or revert of several commits"),
];

/// The files of unfinished work, with its kind.
const FILES: [(&[u8], &str); 4] = [
    (b"MERGE_HEAD", "a merge, which the next commit ends"),
    (b"CHERRY_PICK_HEAD", "a cherry-pick, which the next commit ends"),
    (b"REVERT_HEAD", "a revert, which the next commit ends"),
    (b"BISECT_START", "a bisection"),
];

/// Returns the files and folders by which effects leave or change unfinished work, each with its kind.
pub(crate) fn left(root: &FileRoot, effects: &[Effect]) -> BTreeMap<RelPath, &'static str> {
    let mut left = BTreeMap::new();
    for effect in effects.iter().filter(|effect| effect.kind_after() == Some(PresentKind::File)) {
        let is_same = || effect.text_after().is_some_and(|after| effect.text_before() == Some(after));
        let Some((path, what)) = named(&effect.path).filter(|_| !is_same()) else { continue };
        // A branch may have this name.
        if in_any_repository(root, &effect.path).is_some_and(|part| !part.first_is(&["refs", "logs"])) {
            left.insert(path, what);
        }
    }
    // A step of a rebase is not separate work.
    let is_step = |path: &RelPath| {
        let folder = path.parent().and_then(|folder| folder.child(b"rebase-merge").ok());
        path.file_name() == Some(b"CHERRY_PICK_HEAD")
            && folder.is_some_and(|folder| left.contains_key(&folder))
    };
    let steps: Vec<RelPath> = left.keys().filter(|path| is_step(path)).cloned().collect();
    left.retain(|path, _| !steps.contains(path));
    left
}

fn named(path: &RelPath) -> Option<(RelPath, &'static str)> {
    let what = |name: &[u8], list: &[(&[u8], &'static str)]| {
        list.iter().find(|(one, _)| name.eq_ignore_ascii_case(one)).map(|(_, what)| *what)
    };
    if let Some(what) = what(path.file_name()?, &FILES) {
        return Some((path.clone(), what));
    }
    let folder = path.parent()?;
    let what = what(folder.file_name()?, &FOLDERS)?;
    Some((folder, what))
}
