//! The files that other programs obey, among the changes of an agent's work.

use std::fmt;

use rel_path::{ProtectedName, ProtectedNames, RelPath};
use serde::Serialize;

use crate::repository::Repository;
use crate::repository::git::GitError;
use crate::verdict::bare_folders::BareFolders;

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

/// Returns the listed files that differ between two commits or trees: first the protected ones, then those whose changes are
/// reported.
pub(crate) fn obeyed_files(
    repository: &Repository,
    [before, after]: [&str; 2],
    names: &ProtectedNames,
) -> Result<(ObeyedFiles, ObeyedFiles), GitError> {
    let arguments = ["diff", "--no-ext-diff", "--name-only", "-z", "--no-renames", before, after, "--"];
    let changed = repository.git.run_for_bytes(repository.location(), &arguments)?;
    let (mut never, mut reported) = (ObeyedFiles::default(), ObeyedFiles::default());
    let changed: Vec<&[u8]> = changed.split(|byte| *byte == 0).filter(|bytes| !bytes.is_empty()).collect();
    let repositories = BareFolders::of(repository, [before, after], &changed)?;
    for bytes in changed {
        let file = |reason: &str| ObeyedFile {
            path: String::from_utf8_lossy(bytes).into_owned(),
            reason: reason.to_owned(),
        };
        never.0.extend(repositories.obeys(bytes).then(|| file(REPOSITORY)));
        match RelPath::from_bytes(bytes) {
            Ok(path) => {
                never.0.extend(names.never(&path).map(ProtectedName::reason).map(file));
                reported.0.extend(names.reported(&path).map(ProtectedName::reason).map(file));
            }
            Err(error) => never.0.push(file(&error.to_string())),
        }
    }
    Ok((never, reported))
}
