//! A worktree's own log of `HEAD`: the commits made there, and the moves of `HEAD`.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::bundle::header::is_object_name;
use crate::repository::git::GitError;
use crate::repository::{Repository, foreign_file};

/// The most that is read of a log, in bytes, from its end.
const LIMIT_BYTES: u64 = 1 << 20;

/// The most bytes of a subject that are reported: the first line of a message can have any length.
const MOST_SUBJECT_BYTES: usize = 1000;

/// The time limit for reading the commits in a log. Agents' deadlines wait for it.
const LOOK_LIMIT: Duration = Duration::from_secs(5);

/// The beginnings of an entry's text that mark a move of `HEAD` to an existing commit.
const MOVES: [&str; 5] = ["reset:", "checkout:", "rebase (start)", "clone:", "Branch:"];

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeadEntry {
    /// The commit that `HEAD` went to.
    pub(crate) commit: String,
    /// The action, such as `commit: fix it`.
    pub(crate) action: String,
}

impl HeadEntry {
    fn parse(line: &str) -> Option<HeadEntry> {
        let (facts, action) = line.split_once('\t').unwrap_or((line, ""));
        let commit = facts.split(' ').nth(1).filter(|commit| is_object_name(commit))?;
        Some(HeadEntry { commit: commit.to_owned(), action: action.to_owned() })
    }

    /// Returns whether `HEAD` went to an existing commit.
    pub(crate) fn is_move(&self) -> bool {
        let is_merge = self.action.starts_with("merge ") || self.action.starts_with("pull");
        // A merge that is not a fast-forward makes a new commit.
        (is_merge && self.action.ends_with(": Fast-forward"))
            || MOVES.iter().any(|prefix| self.action.starts_with(prefix))
    }
}

/// Returns the commits that exist in the repository, with their subjects, or the beginnings of long ones. The agent can
/// write anything into its log.
pub(crate) fn made_commits(
    repository: &Repository,
    entries: &[HeadEntry],
) -> Result<Vec<(String, String)>, GitError> {
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let names: String = entries.iter().flat_map(|entry| [&entry.commit, "\n"]).collect();
    let arguments = ["log", "--no-walk=unsorted", "--ignore-missing", "--stdin", "-z", "--format=%H %s"];
    let output = repository.git.within(LOOK_LIMIT).exchange(repository.location(), &arguments, &names)?;
    let text = String::from_utf8_lossy(&output);
    let commits = text.split('\0').filter_map(|commit| commit.split_once(' '));
    let start_of = |subject: &str| subject[..subject.floor_char_boundary(MOST_SUBJECT_BYTES)].to_owned();
    Ok(commits.map(|(commit, subject)| (commit.to_owned(), start_of(subject))).collect())
}

/// Returns whether the log shows that the commit was made there: its first entry for the commit is not a move.
pub(crate) fn shows_made(git_folder: &Path, commit: &str) -> bool {
    let Ok(text) = end_of(&path(git_folder)) else { return false };
    let mut entries = text.lines().filter_map(HeadEntry::parse);
    entries.find(|entry| entry.commit == commit).is_some_and(|entry| !entry.is_move())
}

/// Returns the last entry of a log: the commit and the action.
pub(crate) fn last_entry(log: &Path) -> Option<(String, String)> {
    let entry = HeadEntry::parse(end_of(log).ok()?.lines().next_back()?)?;
    Some((entry.commit, entry.action))
}

/// Reads a log's end.
fn end_of(log: &Path) -> std::io::Result<String> {
    // The first line may be cut; it is then not a valid entry.
    let mut file = foreign_file::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LIMIT_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(LIMIT_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Follows a log as it grows.
#[derive(Clone, Debug)]
pub(crate) struct HeadFollower {
    path: PathBuf,
    read_bytes: u64,
}

impl HeadFollower {
    /// Starts after the existing entries.
    pub(crate) fn new(git_folder: &Path) -> HeadFollower {
        let path = path(git_folder);
        let read_bytes = path.metadata().map_or(0, |data| data.len());
        HeadFollower { path, read_bytes }
    }

    /// Returns the entries since the last call that made a commit.
    pub(crate) fn new_commits(&mut self) -> Vec<HeadEntry> {
        let length = self.path.metadata().map_or(0, |data| data.len());
        if length <= self.read_bytes {
            return Vec::new();
        }
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = foreign_file::open(&self.path)?;
            file.seek(SeekFrom::Start(self.read_bytes))?;
            let mut bytes = Vec::new();
            file.take(LIMIT_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().unwrap_or_default();
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            // An unfinished line is left for the next call, unless it fills the whole limit: it would never be read to its
            // end, and would hide all later lines.
            if bytes.len() as u64 == LIMIT_BYTES {
                self.read_bytes += LIMIT_BYTES;
            }
            return Vec::new();
        };
        self.read_bytes += end as u64 + 1;
        let text = String::from_utf8_lossy(&bytes[..end]);
        text.lines().filter_map(HeadEntry::parse).filter(|entry| !entry.is_move()).collect()
    }
}

fn path(git_folder: &Path) -> PathBuf {
    git_folder.join("logs/HEAD")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn line(commit: &str, action: &str) -> String {
        format!("{} {commit} A <a@b> 1 +0000\tcommit: {action}\n", "0".repeat(40))
    }

    #[test]
    fn a_line_without_end_does_not_hide_later_lines() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        let log = folder.path().join("logs/HEAD");
        fs::write(&log, "").unwrap();
        let mut follower = HeadFollower::new(folder.path());
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let long = "x".repeat(3 << 20);
        fs::write(&log, [line(&one, &long), line("none", "no name"), line(&two, "two")].concat()).unwrap();
        let mut commits = Vec::new();
        for _ in 0..8 {
            commits.extend(follower.new_commits());
        }
        // Only the end of the first line was read, which is not an entry.
        assert_eq!(commits.iter().map(|entry| &entry.commit).collect::<Vec<_>>(), [&two]);
    }
}
