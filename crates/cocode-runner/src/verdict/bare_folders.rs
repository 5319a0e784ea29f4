//! Folders of a tree that are repositories without a `.git`.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use rel_path::RelPath;

use crate::error::RunnerError;
use crate::repository::Repository;
use crate::repository::git::literal_pattern;
use crate::verdict::search_limit::SearchLimit;

/// Names in a repository's folder that git obeys, or that make it a repository.
const OF_REPOSITORY: [&str; 7] =
    ["HEAD", "commondir", "config", "config.worktree", "hooks", "objects", "refs"];

/// The names that make it a repository.
const MAKING: [&str; 4] = ["HEAD", "commondir", "objects", "refs"];

/// The most folders in one call of git.
const CANDIDATES_AT_ONCE: usize = 200;

/// The most folders that are checked.
const MOST_CANDIDATES: usize = 20_000;

/// The folders of two commits or trees that git would take for repositories, though they have no `.git`.
#[derive(Debug, Default)]
pub(super) struct BareFolders {
    before: BTreeSet<Vec<u8>>,
    after: BTreeSet<Vec<u8>>,
}

impl BareFolders {
    /// Finds them if one of the changed paths may be inside one.
    pub(super) fn of(
        repository: &Repository,
        [before, after]: [&str; 2],
        changed: &[&[u8]],
        limit: &SearchLimit,
    ) -> Result<BareFolders, RunnerError> {
        let mut candidates: BTreeSet<&[u8]> = BTreeSet::new();
        // A path with too many names or too long ones is refused in any case.
        for path in changed.iter().filter(|path| RelPath::from_bytes(path).is_ok()) {
            candidates.extend(parts(path).map(|(folder, _)| folder));
            if candidates.len() > MOST_CANDIDATES {
                return Err(RunnerError::SearchEnded {
                    why: "more folders have changed that may be repositories than can be looked at",
                });
            }
        }
        let candidates: Vec<&[u8]> = candidates.into_iter().collect();
        let folders = |tree: &str| -> Result<BTreeSet<Vec<u8>>, RunnerError> {
            let mut repositories = BTreeSet::new();
            for some in candidates.chunks(CANDIDATES_AT_ONCE) {
                limit.check()?;
                let paths = some.iter().flat_map(|folder| MAKING.map(|name| inside(folder, name)));
                let patterns = paths.map(|path| literal_pattern(OsStr::from_bytes(&path)));
                // With `-t`, since git omits a folder if a path in it is also requested.
                let fixed =
                    ["ls-tree", "-z", "-t", "--name-only", "--full-tree", tree, "--"].map(OsString::from);
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
        Ok(BareFolders { before: folders(before)?, after: folders(after)? })
    }

    /// Returns whether git would obey a changed file: a part of a new repository, or settings and hooks of another one.
    pub(super) fn obeys(&self, path: &[u8]) -> bool {
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

/// Returns the possible repository folders that contain a path, each with the path's name in it.
fn parts(path: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let starts = std::iter::once(0)
        .chain(path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1));
    starts.filter_map(|start| {
        let name = path[start..].split(|byte| *byte == b'/').next()?;
        let is_part = OF_REPOSITORY.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()));
        is_part.then_some((&path[..start.saturating_sub(1)], name))
    })
}
