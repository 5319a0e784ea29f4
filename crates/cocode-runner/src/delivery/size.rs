//! The size of delivered files, once checked out.
//!
//! A small bundle may expand to any size: a file compresses well, and a tree may contain the same subtree many times. So
//! the entries are counted before they are compared, and git is killed as soon as it has listed too many. Unmeasurable
//! deliveries are refused.

use std::collections::HashMap;

use crate::delivery::error::DeliveryError;
use crate::error::RunnerError;
use crate::objects::object_import::LIMIT;
use crate::record::AgentRecord;
use crate::repository::Repository;
use crate::repository::git::{Git, GitError};
use crate::repository::tree_changes::{self, Entries};

/// The bytes that each file and folder counts in addition to its contents, so that empty ones are bounded as well.
const ENTRY_BYTES: u64 = 1024;

/// The most files and folders of a commit, whatever the limit in bytes is.
const MOST_ENTRIES: u64 = 8 << 20;

/// The bytes of git's output for each file and folder: a character and a line end.
const LISTED_BYTES: u64 = 2;

/// Checks that the files which `head` adds or changes take no more than `limit_bytes`, with [`ENTRY_BYTES`] more for each of
/// them and for each of their folders. `git` reads the objects of `head` and has a limit of time and memory.
///
/// # Errors
/// [`DeliveryError::Files`] if they take more, or git takes too long to find out; [`DeliveryError::Unlistable`] if git fails;
/// [`RunnerError::Git`] if that is a fault of this machine.
pub(super) fn check(
    repository: &Repository,
    git: &Git,
    record: &AgentRecord,
    head: &str,
    limit_bytes: u64,
) -> Result<(), RunnerError> {
    let start = &record.start_commit;
    let mut most = limit_bytes / ENTRY_BYTES;
    let mut count = entries(repository, git, head, most);
    if matches!(count, Ok(None)) {
        // The start's own entries do not count. They are read only if that decides, and their faults are not the delivery's.
        let of_start = entries(repository, &repository.git.within(LIMIT), start, MOST_ENTRIES)?;
        most = most.saturating_add(of_start.unwrap_or(MOST_ENTRIES));
        count = entries(repository, git, head, most);
    }
    let bytes = match count {
        Ok(Some(_)) => added_bytes(repository, git, start, head).map(Some),
        // More than any limit in bytes.
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    match refusal(bytes, limit_bytes)? {
        Some(source) => Err(RunnerError::Delivery { agent: record.agent.clone(), source }),
        None => Ok(()),
    }
}

/// Returns the reason to refuse measured or unmeasurable files; `None` in `measured` exceeds every limit.
fn refusal(
    measured: Result<Option<u64>, GitError>,
    limit_bytes: u64,
) -> Result<Option<DeliveryError>, GitError> {
    match measured {
        Ok(Some(bytes)) if bytes <= limit_bytes => Ok(None),
        Ok(_) | Err(GitError::TooLong { .. } | GitError::TooSlow { .. }) => {
            Ok(Some(DeliveryError::Files { limit_bytes }))
        }
        Err(error) if error.is_of_this_machine() => Err(error),
        Err(GitError::Failed { reason, .. }) => Ok(Some(DeliveryError::Unlistable { reason })),
        Err(error) => Err(error),
    }
}

/// Returns the number of files and folders of a commit; `None` if it has more than `most` or [`MOST_ENTRIES`].
fn entries(repository: &Repository, git: &Git, commit: &str, most: u64) -> Result<Option<u64>, GitError> {
    // Git prints entries as it reads them, so the limit of its output also bounds a deeply nested tree.
    let arguments = ["ls-tree", "-r", "-t", "--full-tree", "--format=-", commit];
    let most_bytes = most.min(MOST_ENTRIES) * LISTED_BYTES;
    let (lines, is_all) = git.run_for_start(repository.location(), &arguments, most_bytes)?;
    Ok(is_all.then_some(lines.len() as u64 / LISTED_BYTES))
}

/// Returns the bytes of all files of the second commit that differ from the first, with [`ENTRY_BYTES`] for each of them
/// and each of their folders.
fn added_bytes(repository: &Repository, git: &Git, start: &str, head: &str) -> Result<u64, GitError> {
    let location = repository.location();
    let changes = tree_changes::between(git, location, [start, head], Entries::NewAndFolders)?;
    let mut counts: HashMap<&str, u64> = HashMap::new();
    let mut bytes = 0_u64;
    for change in &changes {
        bytes = bytes.saturating_add(ENTRY_BYTES);
        if change.has_new_content() {
            *counts.entry(&change.new_object).or_default() += 1;
        }
    }
    let names: String = counts.keys().flat_map(|name| [name, "\n"]).collect();
    let arguments = ["cat-file", "--buffer", "--batch-check=%(objectname) %(objectsize)"];
    let sizes = git.exchange(location, &arguments, &names)?;
    for line in String::from_utf8_lossy(&sizes).lines() {
        let fact =
            line.split_once(' ').and_then(|(name, size)| Some((counts.remove(name)?, size.parse().ok()?)));
        let Some((count, size)): Option<(u64, u64)> = fact else {
            let (reason, exit_code) = (format!("an object is {line}"), Some(0));
            return Err(GitError::Failed { command: "cat-file".to_owned(), reason, exit_code });
        };
        bytes = bytes.saturating_add(count.saturating_mul(size));
    }
    match counts.is_empty() {
        true => Ok(bytes),
        false => Err(GitError::Answer { command: "cat-file" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let failed = || GitError::Failed {
            command: "ls-tree".to_owned(),
            reason: "exceeded maximum allowed tree depth".to_owned(),
            exit_code: Some(128),
        };
        assert!(matches!(refusal(Ok(Some(10)), 10), Ok(None)));
        for measured in [Ok(Some(11)), Ok(None)] {
            assert!(matches!(refusal(measured, 10), Ok(Some(DeliveryError::Files { limit_bytes: 10 }))));
        }
        // Even with the largest limit: an unknown size fits no limit.
        let why = refusal(Err(failed()), u64::MAX).unwrap().unwrap();
        assert!(matches!(&why, DeliveryError::Unlistable { reason } if reason.contains("tree depth")));
        // The delivery is at fault: the agent runs again.
        assert!(why.is_about_delivery());
        assert_eq!(why.to_string(), "its files cannot be listed: exceeded maximum allowed tree depth");
        // A fault of this machine is not the delivery's.
        let full = || GitError::Failed {
            command: "ls-tree".to_owned(),
            reason: "write error: No space left on device".to_owned(),
            exit_code: Some(128),
        };
        assert!(matches!(refusal(Err(full()), 10), Err(GitError::Failed { .. })));
        let answer = refusal(Err(GitError::Answer { command: "ls-tree" }), 10);
        assert!(matches!(answer, Err(GitError::Answer { .. })));
    }
}
