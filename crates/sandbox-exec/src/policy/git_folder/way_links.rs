//! The links on the way to paths.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The most links that are followed to one path, the system's limit.
const LINK_LIMIT: usize = 40;

/// The links met on the way to paths, each looked up once.
#[derive(Clone, Debug, Default)]
pub(super) struct WayLinks {
    /// Each name on the way, by its path without links, and the target if it is a link.
    targets: HashMap<PathBuf, Option<PathBuf>>,
    /// The steps to folders, which many paths share.
    folders: HashMap<PathBuf, Vec<PathBuf>>,
}

impl WayLinks {
    /// Returns each link on the way, by its own path without links, and then the path with its existing part resolved.
    ///
    /// `path` is absolute.
    pub(super) fn steps(&mut self, path: &Path) -> Vec<PathBuf> {
        let start = || vec![PathBuf::from("/")];
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return self.walk(start(), path);
        };
        let steps = match self.folders.get(folder) {
            Some(steps) => steps.clone(),
            None => {
                let steps = self.walk(start(), folder);
                self.folders.insert(folder.to_owned(), steps.clone());
                steps
            }
        };
        self.walk(steps, Path::new(name))
    }

    /// Continues `steps`, whose last element is the path reached so far.
    fn walk(&mut self, mut steps: Vec<PathBuf>, path: &Path) -> Vec<PathBuf> {
        let names =
            |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<_>>();
        let mut left = names(path);
        let mut reached = steps.pop().unwrap_or_else(|| PathBuf::from("/"));
        while let Some(name) = left.pop() {
            match Path::new(&name).components().next() {
                Some(Component::Normal(name)) => {
                    let next = reached.join(name);
                    match self.target(&next) {
                        Some(target) if steps.len() < LINK_LIMIT => {
                            left.extend(names(target));
                            steps.push(next);
                        }
                        _ => reached = next,
                    }
                }
                Some(Component::ParentDir) => drop(reached.pop()),
                Some(Component::RootDir | Component::Prefix(_)) => reached = PathBuf::from("/"),
                Some(Component::CurDir) | None => {}
            }
        }
        steps.push(reached);
        steps
    }

    fn target(&mut self, path: &Path) -> Option<&PathBuf> {
        if !self.targets.contains_key(path) {
            self.targets.insert(path.to_owned(), fs::read_link(path).ok());
        }
        self.targets.get(path)?.as_ref()
    }

    /// Checks that every name on the way still leads where it did.
    pub(super) fn are_unchanged(&self) -> bool {
        self.targets.iter().all(|(path, then)| fs::read_link(path).ok() == *then)
    }
}
