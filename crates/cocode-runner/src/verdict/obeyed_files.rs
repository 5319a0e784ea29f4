//! The files that other programs obey, among the changes of an agent's work.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use rel_path::{ProtectedName, ProtectedNames, RelPath};
use serde::Serialize;

use crate::repository::Repository;
use crate::repository::git::{GitError, literal_pattern};

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

/// Names of a repository's folder that git obeys, and the others that make it one.
const OF_REPOSITORY: [&str; 7] =
    ["HEAD", "commondir", "config", "config.worktree", "hooks", "objects", "refs"];

/// Those that make it one.
const MAKING: [&str; 4] = ["HEAD", "commondir", "objects", "refs"];

/// The most folders that one call of git looks at.
const CANDIDATES_AT_ONCE: usize = 200;

/// The reason to refuse them.
const REPOSITORY: &str = "git takes the folder for a repository, and obeys its settings and hooks there";

/// Returns the listed files that an agent has changed between `start` and `commit`: first the protected ones, then those
/// whose changes are reported.
pub(crate) fn obeyed_files(
    repository: &Repository,
    start: &str,
    commit: &str,
    names: &ProtectedNames,
) -> Result<(ObeyedFiles, ObeyedFiles), GitError> {
    let arguments = ["diff", "--no-ext-diff", "--name-only", "-z", "--no-renames", start, commit, "--"];
    let changed = repository.git.run_for_bytes(repository.location(), &arguments)?;
    let (mut never, mut reported) = (ObeyedFiles::default(), ObeyedFiles::default());
    let changed: Vec<&[u8]> = changed.split(|byte| *byte == 0).filter(|bytes| !bytes.is_empty()).collect();
    let repositories = Repositories::of(repository, [start, commit], &changed)?;
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

/// The folders of two commits that git would take for repositories, though they have no `.git`.
#[derive(Debug, Default)]
struct Repositories {
    before: BTreeSet<Vec<u8>>,
    after: BTreeSet<Vec<u8>>,
}

impl Repositories {
    /// Finds them if one of the changed paths may be a part of one.
    fn of(repository: &Repository, commits: [&str; 2], changed: &[&[u8]]) -> Result<Repositories, GitError> {
        let candidates: BTreeSet<&[u8]> =
            changed.iter().flat_map(|path| parts(path)).map(|(folder, _)| folder).collect();
        let candidates: Vec<&[u8]> = candidates.into_iter().collect();
        let folders = |commit: &str| -> Result<BTreeSet<Vec<u8>>, GitError> {
            let mut repositories = BTreeSet::new();
            for some in candidates.chunks(CANDIDATES_AT_ONCE) {
                let paths = some.iter().flat_map(|folder| MAKING.map(|name| inside(folder, name)));
                let patterns = paths.map(|path| literal_pattern(OsStr::from_bytes(&path)));
                // With `-t`, since git leaves out a folder if it is also asked for a path in it.
                let fixed =
                    ["ls-tree", "-z", "-t", "--name-only", "--full-tree", commit, "--"].map(OsString::from);
                let arguments: Vec<OsString> = fixed.into_iter().chain(patterns).collect();
                let there = repository.git.run_for_bytes(repository.location(), &arguments)?;
                let there: BTreeSet<&[u8]> = there.split(|byte| *byte == 0).collect();
                let is_one = |folder: &&&[u8]| {
                    let has = |name: &str| there.contains(&inside(folder, name)[..]);
                    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
                };
                repositories.extend(some.iter().filter(is_one).map(|folder| folder.to_vec()));
            }
            Ok(repositories)
        };
        let [start, commit] = commits;
        Ok(Repositories { before: folders(start)?, after: folders(commit)? })
    }

    /// Returns whether git would obey a changed file: a part of a new repository, or settings and hooks of another one.
    fn obeys(&self, path: &[u8]) -> bool {
        parts(path).any(|(folder, name)| {
            let is_data = name.eq_ignore_ascii_case(b"objects") || name.eq_ignore_ascii_case(b"refs");
            self.after.contains(folder) && (!is_data || !self.before.contains(folder))
        })
    }
}

/// Returns the path of a name in a folder.
fn inside(folder: &[u8], name: &str) -> Vec<u8> {
    if folder.is_empty() { name.into() } else { [folder, b"/", name.as_bytes()].concat() }
}

/// Returns the folders of which a path may be a part if they are repositories, each with the name in it.
fn parts(path: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let starts = std::iter::once(0)
        .chain(path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1));
    starts.filter_map(|start| {
        let name = path[start..].split(|byte| *byte == b'/').next()?;
        let is_part = OF_REPOSITORY.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()));
        is_part.then_some((&path[..start.saturating_sub(1)], name))
    })
}
