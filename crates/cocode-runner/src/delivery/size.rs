//! The size of delivered files, once checked out.
//!
//! A small bundle may come to any size: a file compresses well, and a tree may have the same subtree many times.

use std::collections::HashMap;

use crate::delivery::error::DeliveryError;
use crate::error::RunnerError;
use crate::record::AgentRecord;
use crate::repository::Repository;
use crate::repository::git::{Git, GitError};

/// Checks that the files which `head` adds or changes take no more than `limit_bytes`. `git` reads its objects.
pub(super) fn check(
    repository: &Repository,
    git: &Git,
    record: &AgentRecord,
    head: &str,
    limit_bytes: u64,
) -> Result<(), RunnerError> {
    let too_large = || RunnerError::Delivery {
        agent: record.agent.clone(),
        source: DeliveryError::Files { limit_bytes },
    };
    let location = repository.location();
    let arguments = [
        "diff-tree",
        "-r",
        "-z",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "--diff-filter=AMT",
        &record.start_commit,
        head,
    ];
    let changes = match git.run_for_bytes(location, &arguments) {
        Err(GitError::TooLong { .. } | GitError::TooSlow { .. }) => return Err(too_large()),
        // A tree that git cannot read is refused as unsound, with the reason, and not checked out.
        Err(GitError::Failed { .. }) => return Ok(()),
        changes => changes?,
    };
    let fields: Vec<&[u8]> = changes.split(|byte| *byte == 0).collect();
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for entry in fields.chunks_exact(2) {
        // `:MODE MODE NAME NAME STATUS`, of which the second ones are the new ones. A submodule has no contents here.
        let facts: Vec<&str> = std::str::from_utf8(entry[0]).unwrap_or_default().split(' ').collect();
        if let [_, mode, _, name, _] = facts[..]
            && mode != "160000"
        {
            *counts.entry(name).or_default() += 1;
        }
    }
    let names: String = counts.keys().flat_map(|name| [name, "\n"]).collect();
    let arguments = ["cat-file", "--buffer", "--batch-check=%(objectname) %(objectsize)"];
    let sizes = git.exchange(location, &arguments, &names)?;
    let sizes = String::from_utf8_lossy(&sizes);
    let bytes = sizes.lines().filter_map(|line| {
        let (name, size) = line.split_once(' ')?;
        Some(counts.get(name)?.saturating_mul(size.parse().ok()?))
    });
    match bytes.fold(0, u64::saturating_add) {
        bytes if bytes > limit_bytes => Err(too_large()),
        _ => Ok(()),
    }
}
