//! The list of paths that settings name, in the repositories of the user and in others.
//!
//! A command can add working trees and submodules, and settings of the user name a path in each of them. So paths in the
//! user's own repositories come first, paths on the list "never" before those on "reported", and beyond the limit, a path
//! in one of the other repositories counts at any depth, so that their number does not matter.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::obeyed_paths::{ObeyedAs, ObeyedPath};

/// The most paths. Each change compares its path with all of them.
pub(super) const PATH_LIMIT: usize = 400;

/// A key of the list: a path, the way in which git obeys it, and whether it counts at any depth.
type Key = (PathBuf, ObeyedAs, bool);

/// A path in a repository that does not contain the folder.
#[derive(Debug)]
struct InOther {
    key: Key,
    /// The path relative to its repository, if it is inside.
    within: Option<PathBuf>,
    setting: String,
}

/// The paths that were found.
#[derive(Debug, Default)]
pub(super) struct PathList {
    /// Those in the repositories around the folder, each with the setting that names it.
    own: BTreeMap<Key, String>,
    /// Those in other repositories, in the order of these.
    in_others: Vec<InOther>,
    keys_in_others: BTreeSet<Key>,
    /// Paths that settings name relative to a repository.
    within: BTreeMap<(PathBuf, ObeyedAs), String>,
}

impl PathList {
    /// Adds a path in the folder that settings name absolutely, or relative to a repository around the folder.
    pub(super) fn add(&mut self, path: PathBuf, obeyed_as: ObeyedAs, at_any_depth: bool, setting: &str) {
        if can_be_listed(&path, obeyed_as) {
            self.own.entry((path, obeyed_as, at_any_depth)).or_insert_with(|| setting.to_owned());
        }
    }

    /// Adds a path in the folder that settings name in another repository; `within` is relative to its root.
    pub(super) fn add_in_other(
        &mut self,
        path: PathBuf,
        within: Option<&Path>,
        obeyed_as: ObeyedAs,
        setting: &str,
    ) {
        let key = (path, obeyed_as, false);
        let is_new = !self.own.contains_key(&key) && self.keys_in_others.insert(key.clone());
        if !is_new || !can_be_listed(&key.0, obeyed_as) {
            return;
        }
        let within = within.filter(|path| path.file_name().is_some()).map(Path::to_owned);
        self.in_others.push(InOther { key, within, setting: setting.to_owned() });
    }

    /// Adds a path that settings name relative to each repository, for repositories that are not examined.
    pub(super) fn add_within(&mut self, named: &Path, root: &Path, obeyed_as: ObeyedAs, setting: &str) {
        let Ok(within) = named.strip_prefix(root) else { return };
        if let Some(within) = without_steps(within) {
            self.within.entry((within, obeyed_as)).or_insert_with(|| setting.to_owned());
        }
    }

    /// Returns the paths in their order, and whether these are all. `all_looked_at` is false if a repository was not examined.
    pub(super) fn finish(mut self, all_looked_at: bool) -> (Vec<ObeyedPath>, bool) {
        let count = self.own.len() + self.in_others.len();
        let mut left = Vec::new();
        if all_looked_at && count <= PATH_LIMIT {
            left.extend(self.in_others.into_iter().map(|path| (path.key, path.setting)));
        } else {
            let within = if all_looked_at { BTreeMap::new() } else { std::mem::take(&mut self.within) };
            left.extend(
                within.into_iter().map(|((path, obeyed_as), setting)| ((path, obeyed_as, true), setting)),
            );
            left.extend(self.in_others.into_iter().map(|path| match path.within {
                Some(within) => ((within, path.key.1, true), path.setting),
                None => (path.key, path.setting),
            }));
        }
        let (mut kept, mut is_complete) = (BTreeMap::new(), true);
        let ranked: Vec<(Key, String)> = self.own.into_iter().chain(left).collect();
        let (never, reported): (Vec<_>, Vec<_>) =
            ranked.into_iter().partition(|((path, obeyed_as, _), _)| is_never_changed(path, *obeyed_as));
        for (key, setting) in never.into_iter().chain(reported) {
            if kept.len() >= PATH_LIMIT && !kept.contains_key(&key) {
                is_complete = false;
                break;
            }
            kept.entry(key).or_insert(setting);
        }
        let path = |((path, obeyed_as, is_in_every_repository), setting)| ObeyedPath {
            path,
            obeyed_as,
            is_in_every_repository,
            setting,
        };
        (kept.into_iter().map(path).collect(), is_complete)
    }
}

/// Checks whether a model may not change such a path at all. Changes of others are reported, as are all changes if the
/// list is incomplete.
fn is_never_changed(path: &Path, obeyed_as: ObeyedAs) -> bool {
    let is_run = matches!(obeyed_as, ObeyedAs::Settings | ObeyedAs::Program);
    is_run || path.components().any(|part| part.as_os_str() == ".git")
}

/// Checks that the path is not the folder as a whole, which cannot be on a list.
fn can_be_listed(path: &Path, obeyed_as: ObeyedAs) -> bool {
    !path.as_os_str().is_empty() || matches!(obeyed_as, ObeyedAs::Hooks | ObeyedAs::Programs)
}

/// Returns a path relative to a repository of unknown location, without leading `..`: these lead to a folder of unknown
/// location, too. `None` if nothing else remains.
pub(super) fn without_steps(path: &Path) -> Option<PathBuf> {
    let mut names = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name),
            Component::ParentDir => drop(names.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    names.file_name().is_some().then_some(names)
}
