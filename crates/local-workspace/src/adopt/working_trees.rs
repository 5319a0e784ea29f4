//! Working trees that a command adds, removes or moves: adopted as a whole or not at all.
//!
//! A working tree of `git worktree` is a folder with a `.git` file, and a folder `worktrees/NAME` in the repository
//! that points back to it. With only one of them, git finds nothing, or something else.
//!
//! A command may make many of them, so each path is looked up by its parent folders and never compared with each tree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rel_path::RelPath;

use crate::command::effect::Effect;
use crate::git::guard::in_git_folder;
use crate::git::linked_folders::working_tree;

/// Working trees: the folder `worktrees/NAME` of the repository, with the folders that its `gitdir` pointed to before
/// and points to now.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkingTrees {
    trees: BTreeMap<RelPath, BTreeSet<RelPath>>,
}

impl WorkingTrees {
    /// Finds the working trees that effects add, remove or move: their `gitdir` or `commondir` changes.
    pub(crate) fn all(effects: &[Effect], workspace: Option<&Path>) -> WorkingTrees {
        let mut all = WorkingTrees::default();
        for effect in effects {
            let Some(record) = record_of(&effect.path) else { continue };
            let texts = [effect.text_before(), effect.text_after()].into_iter().flatten();
            let texts = texts.filter(|_| effect.path.file_name() == Some(b"gitdir"));
            let folders = texts.filter_map(|text| working_tree(&effect.path, text, workspace));
            all.trees.entry(record).or_default().extend(folders);
        }
        all
    }

    pub(crate) fn extend(&mut self, others: WorkingTrees) {
        for (record, folders) in others.trees {
            self.trees.entry(record).or_default().extend(folders);
        }
    }

    /// Removes working trees that cannot be adopted without the effects in `refused`, and returns the indexes of their
    /// effects. An effect removed with one may be needed by another.
    pub(crate) fn take_split(&mut self, effects: &[Effect], refused: Vec<usize>) -> BTreeSet<usize> {
        let mut split = BTreeSet::new();
        if self.trees.is_empty() {
            return split;
        }
        let mut by_link: BTreeMap<RelPath, Vec<RelPath>> = BTreeMap::new();
        for (record, folders) in &self.trees {
            for link in folders.iter().filter_map(link_in) {
                by_link.entry(link).or_default().push(record.clone());
            }
        }
        let mut members = self.members(effects);
        let mut waiting = refused;
        while let Some(index) = waiting.pop() {
            let path = &effects[index].path;
            let mut records: Vec<_> = with_folders(path).collect();
            records.extend(by_link.remove(path).unwrap_or_default());
            for record in records {
                let Some(folders) = self.trees.remove(&record) else { continue };
                for part in folders.into_iter().chain([record]) {
                    let belonging = members.remove(&part).unwrap_or_default();
                    waiting.extend(belonging.into_iter().filter(|index| split.insert(*index)));
                }
            }
        }
        split
    }

    /// Returns the indexes of the effects at and below each folder of the trees.
    fn members(&self, effects: &[Effect]) -> BTreeMap<RelPath, Vec<usize>> {
        let parts: BTreeSet<&RelPath> =
            self.trees.iter().flat_map(|(record, folders)| folders.iter().chain([record])).collect();
        let mut members: BTreeMap<RelPath, Vec<usize>> = BTreeMap::new();
        for (index, effect) in effects.iter().enumerate() {
            for part in with_folders(&effect.path).filter(|folder| parts.contains(folder)) {
                members.entry(part).or_default().push(index);
            }
        }
        members
    }

    /// Returns the folders of working trees that belong to one of these repositories, or have one of them as their
    /// own `.git`.
    pub(crate) fn folders_of(&self, repositories: &BTreeSet<RelPath>) -> BTreeSet<RelPath> {
        let is_of = |record: &RelPath, folders: &BTreeSet<RelPath>| {
            let of_record = in_git_folder(record).map(|part| part.folder);
            let mut all = of_record.into_iter().chain(folders.iter().filter_map(link_in));
            all.any(|folder| repositories.contains(&folder))
        };
        let of_them = self.trees.iter().filter(|(record, folders)| is_of(record, folders));
        of_them.flat_map(|(record, folders)| folders.iter().chain([record])).cloned().collect()
    }
}

/// Returns the folder that a file marks as a working tree's record in the repository.
fn record_of(path: &RelPath) -> Option<RelPath> {
    let record = path.parent().filter(|_| matches!(path.file_name(), Some(b"gitdir" | b"commondir")))?;
    (record.parent()?.file_name() == Some(b"worktrees")).then_some(record)
}

fn link_in(folder: &RelPath) -> Option<RelPath> {
    folder.child(b".git").ok()
}

/// Iterates over a path and the folders above it.
pub(crate) fn with_folders(path: &RelPath) -> impl Iterator<Item = RelPath> {
    std::iter::successors(Some(path.clone()), RelPath::parent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::present::Present;
    use crate::command::effect::EffectSide;

    fn file(path: &str, text: &str) -> Effect {
        let after = EffectSide::Kept(Present::file(text.as_bytes().to_vec(), Some(0o644)));
        Effect { path: RelPath::parse(path).unwrap(), before: None, after: Some(after) }
    }

    /// The effects of adding a working tree in a folder.
    fn tree(name: &str, folder: &str) -> [Effect; 3] {
        [
            file(&format!(".git/worktrees/{name}/gitdir"), &format!("../../../{folder}/.git\n")),
            file(&format!("{folder}/.git"), &format!("gitdir: ../.git/worktrees/{name}\n")),
            file(&format!("{folder}/file"), "x\n"),
        ]
    }

    fn split(effects: &[Effect], refused: Vec<usize>) -> (WorkingTrees, BTreeSet<usize>) {
        let mut trees = WorkingTrees::all(effects, None);
        let split = trees.take_split(effects, refused);
        (trees, split)
    }

    /// Examining each tree for each refusal would take hours.
    #[test]
    fn many_trees_are_split_by_their_own_refusals_only() {
        const TREES: usize = 20_000;
        let effects: Vec<_> =
            (0..TREES).flat_map(|index| tree(&format!("t{index}"), &format!("d/{index}"))).collect();
        // The record of every fourth tree, and the link of the one after it.
        let refused = |index: &usize| matches!(index % 12, 0 | 4);
        let (trees, all) = split(&effects, (0..effects.len()).filter(refused).collect());
        let expected: BTreeSet<_> = (0..effects.len()).filter(|index| index % 12 < 6).collect();
        assert_eq!(all, expected);
        assert_eq!(trees.trees.len(), TREES / 2);
    }

    #[test]
    fn tree_is_split_with_the_one_that_its_link_lies_in() {
        let folder = |depth: usize| vec!["d"; depth].join("/");
        let effects: Vec<_> = (1..30).flat_map(|depth| tree(&format!("t{depth}"), &folder(depth))).collect();
        // A file that git does not need takes nothing with it.
        let (trees, none) = split(&effects, vec![2]);
        assert_eq!((trees.trees.len(), none.len()), (29, 0));
        for first in 0..29 {
            let (trees, all) = split(&effects, vec![3 * first]);
            assert_eq!((trees.trees.len(), all.len()), (first, 3 * (29 - first)), "{first}");
        }
    }
}
