//! The files that other programs obey, among the changes of an agent's work.

use std::fmt;
use std::path::{Path, PathBuf};

use rel_path::{NameRule, ProtectedNames};
use serde::Serialize;

use crate::error::RunnerError;
use crate::repository::Repository;
use crate::repository::tree_changes::{self, Entries, LINK, Mode, SUBMODULE};
use crate::verdict::bare_folders::BareFolders;
use crate::verdict::obeyed_names::{EntryKind, ObeyedNames};
use crate::verdict::search_limit::{LookBudget, MOST_LOOKS, SearchLimit};
use crate::verdict::tree_links::{TreeLinks, real_path};

/// The most files that an error names.
const MOST_NAMED: usize = 5;

/// A file that another program obeys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObeyedFile {
    /// Its path in the repository.
    pub path: String,
    /// The program that obeys it, and the effect.
    pub reason: String,
}

/// A list of such files. It renders as part of a sentence: the first ones with their reasons, then the number of further
/// ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ObeyedFiles(pub Vec<ObeyedFile>);

impl fmt::Display for ObeyedFiles {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, file) in self.0.iter().take(MOST_NAMED).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(out, "{separator}'{}' ({})", file.path, file.reason)?;
        }
        match self.0.len().saturating_sub(MOST_NAMED) {
            0 => Ok(()),
            more => write!(out, "; and {more} more"),
        }
    }
}

/// The reason to refuse them.
const REPOSITORY: &str = "git takes the folder for a repository, and obeys its settings and hooks there";

/// The differences between two commits or trees, judged by the names that other programs obey.
#[derive(Debug)]
pub(crate) struct ObeyedChanges<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) names: &'a ProtectedNames,
    /// The folders into which no symlink of any work leads.
    pub(crate) own_folders: Vec<PathBuf>,
    /// A folder for nameless files.
    pub(crate) scratch: &'a Path,
    pub(crate) limit: SearchLimit,
}

impl ObeyedChanges<'_> {
    /// Returns the listed files that differ: first the protected ones, then those whose changes are reported.
    pub(crate) fn between(
        &self,
        [before, after]: [&str; 2],
    ) -> Result<(ObeyedFiles, ObeyedFiles), RunnerError> {
        let repository = self.repository;
        let trees = [before, after];
        let changed = tree_changes::between(&repository.git, repository.location(), trees, Entries::All)?;
        let (mut never, mut reported) = (ObeyedFiles::default(), ObeyedFiles::default());
        if changed.is_empty() {
            return Ok((never, reported));
        }
        let paths: Vec<&[u8]> = changed.iter().map(|change| &change.path[..]).collect();
        let folders = BareFolders::of(repository, trees, &paths, &self.limit)?;
        let links = TreeLinks::of(repository, after, self.scratch)?;
        let own_folders = self.own_folders.iter().map(|folder| real_path(folder)).collect();
        let budget = LookBudget::new(MOST_LOOKS, self.limit.clone());
        let names = ObeyedNames::of(self.names, links, own_folders, &repository.root, budget);
        for change in &changed {
            let (path, kind) = (&change.path[..], kind_of(change.new_mode));
            let file = |reason| ObeyedFile { path: String::from_utf8_lossy(path).into_owned(), reason };
            never.0.extend(folders.obeys(path).then(|| file(REPOSITORY.to_owned())));
            for (rule, reason) in names.findings(path, kind) {
                match rule {
                    NameRule::Never => never.0.push(file(reason)),
                    NameRule::Reported => reported.0.push(file(reason)),
                }
            }
            self.limit.check()?;
        }
        Ok((never, reported))
    }
}

/// Returns the kind of an entry by its new mode in a difference.
fn kind_of(mode: Mode) -> EntryKind {
    match mode {
        LINK => EntryKind::Symlink,
        SUBMODULE => EntryKind::Submodule,
        _ => EntryKind::File,
    }
}
