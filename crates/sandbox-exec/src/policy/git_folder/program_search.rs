//! The shell's search for programs by name.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::looks::Looks;

/// The folders of `PATH`, with a cache of earlier results: the same names are looked up in every repository.
#[derive(Debug, Default)]
pub(super) struct ProgramSearch {
    folders: Option<OsString>,
    /// True if the result depends on the folder in which a command begins.
    is_relative: bool,
    outcomes: RefCell<BTreeMap<String, Option<PathBuf>>>,
}

impl ProgramSearch {
    /// Returns a search of the user's `PATH`, or one that finds nothing.
    pub(super) fn new(folders: Option<OsString>) -> ProgramSearch {
        let mut all = folders.iter().flat_map(std::env::split_paths);
        let is_relative = all.any(|folder| folder.is_relative());
        ProgramSearch { folders, is_relative, outcomes: RefCell::default() }
    }

    /// Returns the file that a command starts by a name; `None` also if the budget is used up.
    pub(super) fn find(&self, name: &str, root: &Path, looks: &Looks) -> Option<PathBuf> {
        let folders = self.folders.as_ref()?;
        if let Some(outcome) = self.outcomes.borrow().get(name) {
            return outcome.clone();
        }
        if !looks.allow(folders.len() + name.len()) {
            return None;
        }
        let mut files = std::env::split_paths(folders).map(|folder| root.join(folder).join(name));
        let outcome = files.find(|path| path.is_file());
        if !self.is_relative {
            self.outcomes.borrow_mut().insert(name.to_owned(), outcome.clone());
        }
        outcome
    }
}
