//! Files of a worktree that are in no commit.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::agent::cache_folders::CacheFolders;
use crate::error::RunnerError;
use crate::repository::git::{GitError, GitLocation, WITH_SUBMODULES};
use crate::repository::own_comparison::OwnComparison;
use crate::repository::worktree::Worktree;
use crate::repository::{Repository, closed_folder};

/// The most files of a check that are recorded.
const MOST_FILES: usize = 1_000;

/// The most bytes of their paths together.
const MOST_PATH_BYTES: usize = 64 << 10;

/// The most files that a message names.
const MOST_NAMED: usize = 5;

/// The most characters of a path in a message.
const MOST_CHARACTERS: usize = 200;

/// An untracked or changed file, with its state at the time of the listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftFile {
    /// Its path in the worktree.
    pub path: PathBuf,
    /// Its size in bytes and its modification time in nanoseconds since 1970; `None` if it is deleted.
    pub stamp: Option<(u64, i64)>,
}

/// Returns the files of a worktree that are in no commit: changed, staged and untracked ones, and staged submodules. Ignored
/// files are left out if their rule is committed, or the user's own, and if they are in caches.
///
/// The worktree is compared with its commit, not with its index, which can hide files. Folders that the agent has closed are
/// reopened; a folder that git cannot read is listed itself, since its contents are unknown.
pub(crate) fn find(repository: &Repository, worktree: &Worktree) -> Result<Vec<LeftFile>, RunnerError> {
    let unseen = closed_folder::reopen_worktree(&worktree.path);
    let comparison = OwnComparison::of(repository, worktree)?;
    let location = comparison.location;
    let mut paths = BTreeSet::new();
    if comparison.head.is_some() {
        paths.extend(staged(repository, location)?);
    }
    let status = [
        "status",
        "--porcelain",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignored=matching",
        "--ignore-submodules=all",
    ];
    let status = comparison.run_for_bytes(&status)?;
    // Each entry has two letters of state and a space before the path.
    let entries = status.split(|byte| *byte == 0).filter_map(|entry| entry.split_at_checked(3));
    let (ignored, others): (Vec<_>, Vec<_>) = entries.partition(|(state, _)| *state == b"!! ");
    let absent = left_out(repository, location)?;
    let is_left = |(state, path): &(&[u8], &[u8])| *state != b" D " || !absent.contains(*path);
    paths.extend(others.into_iter().filter(is_left).map(|(_, path)| path_of(path)));
    let ignored: Vec<PathBuf> = ignored.into_iter().map(|(_, path)| path_of(path)).collect();
    paths.extend(ignored_by_chance(&comparison, worktree, (&ignored, &paths))?);
    let caches = CacheFolders::of(&worktree.path);
    paths.extend(unseen.into_iter().filter(|folder| !caches.hold(&folder.join("file"))));
    Ok(paths.into_iter().map(|path| LeftFile::at(&worktree.path, &path)).collect())
}

/// Returns the paths, including submodules, at which the worktree's own index differs from its commit.
fn staged(repository: &Repository, location: GitLocation<'_>) -> Result<Vec<PathBuf>, GitError> {
    let arguments =
        ["diff-index", "--cached", "--name-only", "-z", "--no-renames", WITH_SUBMODULES, "HEAD", "--"];
    let names = repository.git.run_for_bytes(location, &arguments)?;
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(path_of).collect())
}

/// Returns the paths that are not checked out in a sparse checkout.
fn left_out(repository: &Repository, location: GitLocation<'_>) -> Result<HashSet<Vec<u8>>, GitError> {
    if repository.setting("core.sparsecheckout").as_deref() != Some("true") {
        return Ok(HashSet::new());
    }
    let entries = repository.git.run_for_bytes(location, &["ls-files", "-t", "-z"])?;
    let absent = entries.split(|byte| *byte == 0).filter_map(|entry| entry.strip_prefix(b"S "));
    Ok(absent.map(<[u8]>::to_vec).collect())
}

/// Returns the ignored files that are not in caches and that a clone would not ignore: their rule is in a file among the
/// `ignored` or `uncommitted` paths.
fn ignored_by_chance(
    comparison: &OwnComparison<'_>,
    worktree: &Worktree,
    (ignored, uncommitted): (&[PathBuf], &BTreeSet<PathBuf>),
) -> Result<Vec<PathBuf>, GitError> {
    let caches = CacheFolders::of(&worktree.path);
    let ignored_files: HashSet<&Path> = ignored.iter().map(PathBuf::as_path).collect();
    let is_uncommitted = |path: &Path| uncommitted.contains(path) || ignored_files.contains(path);
    let candidates = ignored.iter().filter(|path| !caches.hold(&path.join("file")));
    // Git accepts paths here only as text. Others count as left.
    let (texts, others): (Vec<&PathBuf>, Vec<_>) = candidates.partition(|path| path.to_str().is_some());
    let mut left: Vec<PathBuf> = others.into_iter().cloned().collect();
    if texts.is_empty() {
        return Ok(left);
    }
    let input: String = texts.iter().flat_map(|path| [path.to_str().unwrap_or_default(), "\0"]).collect();
    let arguments = ["check-ignore", "--verbose", "-z", "--stdin"];
    let rules = match comparison.git.exchange(comparison.location, &arguments, &input) {
        // None of them is ignored any more.
        Err(GitError::Failed { exit_code: Some(1), .. }) => Vec::new(),
        rules => rules?,
    };
    let fields: Vec<&[u8]> = rules.split(|byte| *byte == 0).collect();
    // The file with the rule, a line number, the rule, and the path.
    let committed = fields.chunks_exact(4).filter(|rule| !is_uncommitted(&path_of(rule[0])));
    let committed: HashSet<PathBuf> = committed.map(|rule| path_of(rule[3])).collect();
    left.extend(texts.into_iter().filter(|path| !committed.contains(*path)).cloned());
    Ok(left)
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Returns the files of `after` that are not in `before` with the same state; none if they exceed the record's limits.
pub(crate) fn new_since(before: &[LeftFile], after: Vec<LeftFile>) -> Vec<LeftFile> {
    let new: Vec<LeftFile> = after.into_iter().filter(|file| !before.contains(file)).collect();
    let path_bytes: usize = new.iter().map(|file| file.path.as_os_str().len()).sum();
    // The record is JSON, which cannot hold other paths.
    let is_text = new.iter().all(|file| file.path.to_str().is_some());
    if new.len() > MOST_FILES || path_bytes > MOST_PATH_BYTES || !is_text { Vec::new() } else { new }
}

/// Renders the names of the first files, and the number of further ones.
pub(crate) fn named(files: &[LeftFile]) -> String {
    let names = files.iter().take(MOST_NAMED).map(|file| name_of(&file.path));
    let mut text = names.collect::<Vec<_>>().join(", ");
    if files.len() > MOST_NAMED {
        text.push_str(&format!(" and {} more", files.len() - MOST_NAMED));
    }
    text
}

/// Renders a path as one line of a bounded length, with pictures of terminal control characters.
pub(crate) fn name_of(path: &Path) -> String {
    let text = path.to_string_lossy();
    let picture = |character: char| match character {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}'),
        '\u{7f}'..='\u{9f}' => '\u{fffd}',
        _ => character,
    };
    let mut name: String = text.chars().take(MOST_CHARACTERS).map(picture).collect();
    if text.chars().nth(MOST_CHARACTERS).is_some() {
        name.push('…');
    }
    name
}

impl LeftFile {
    fn at(root: &Path, path: &Path) -> LeftFile {
        let metadata = root.join(path).symlink_metadata().ok();
        let stamp = metadata.map(|data| {
            let nanoseconds = data.mtime().saturating_mul(1_000_000_000).saturating_add(data.mtime_nsec());
            (data.len(), nanoseconds)
        });
        LeftFile { path: path.to_owned(), stamp }
    }
}
