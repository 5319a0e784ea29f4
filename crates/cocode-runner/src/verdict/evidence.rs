//! The evidence for a verdict: an agent's work, as git reports it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use cocode_env::HeadCommit;

use crate::repository::git::{GitError, GitLocation};
use crate::repository::worktree::Worktree;
use crate::repository::{Repository, head_log};

/// The most bytes that are read of a commit; its author chooses its length.
const MOST_COMMIT_BYTES: u64 = 256 << 10;

/// The time limit of each call of git.
const LOOK_LIMIT: Duration = Duration::from_secs(60);

/// The work in an agent's worktree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    pub(crate) head: Option<HeadCommit>,
    /// The number of commits between the start and `HEAD`.
    pub(crate) commits: u64,
    /// True if `HEAD` is on the agent's branch.
    pub(crate) is_on_branch: bool,
}

impl Work {
    /// Reads the work of a worktree; empty if it is missing.
    pub(crate) fn find(
        repository: &Repository,
        worktree: &Worktree,
        branch: &str,
        start: &str,
    ) -> Result<Work, GitError> {
        if !worktree.path.is_dir() || !worktree.git_folder.is_dir() || holds_pipes(&worktree.git_folder) {
            return Ok(Work::default());
        }
        let git = &repository.git.within(LOOK_LIMIT);
        let location = worktree.location(&repository.common_folder);
        // `^{commit}` fails if `HEAD` names a missing object, or an object of another kind.
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        let Some(commit) = git.ask(location, &head)? else { return Ok(Work::default()) };
        let mut work = Work::of_commit(repository, location, &commit, start)?;
        let current = git.ask(location, &["symbolic-ref", "--quiet", "HEAD"])?;
        work.is_on_branch = current.is_some_and(|name| name == format!("refs/heads/{branch}"));
        if let Some(head) = &mut work.head {
            head.was_made_here = head_log::shows_made(&worktree.git_folder, &commit);
        }
        Ok(work)
    }

    /// Reads the work up to a commit, which counts as neither on the agent's branch nor made in its worktree.
    pub(crate) fn of_commit(
        repository: &Repository,
        location: GitLocation<'_>,
        commit: &str,
        start: &str,
    ) -> Result<Work, GitError> {
        let git = &repository.git.within(LOOK_LIMIT);
        let (bytes, is_message_whole) =
            git.run_for_start(location, &["cat-file", "commit", commit], MOST_COMMIT_BYTES)?;
        let text = String::from_utf8_lossy(&bytes);
        let (headers, message) = text.split_once("\n\n").unwrap_or((&text, ""));
        let parents = headers.lines().filter(|line| line.starts_with("parent ")).count();
        let committer = headers.lines().find_map(|line| line.strip_prefix("committer "));
        // A name may contain spaces, so the time is counted from the end, before the time zone.
        let committed_at = committer.and_then(|line| line.rsplit(' ').nth(1)?.parse().ok());
        let committed_at = match committed_at {
            Some(committed_at) => committed_at,
            // The header is longer than the limit. So the message was not read either, and does not count.
            None if !is_message_whole => i64::MIN,
            None => return Err(GitError::Answer { command: "cat-file" }),
        };
        let trees = [start, commit].map(|commit| format!("{commit}^{{tree}}"));
        let trees = git.run(location, &["rev-parse", &trees[0], &trees[1]])?;
        let changes_tree = trees.split_once('\n').is_none_or(|(start, now)| start != now);
        let is_ancestor = git.ask(location, &["merge-base", "--is-ancestor", start, commit])?.is_some();
        let range = format!("{start}..{commit}");
        let count = git.run(location, &["rev-list", "--count", &range, "--"])?;
        Ok(Work {
            commits: count.parse().map_err(|_| GitError::Answer { command: "rev-list" })?,
            is_on_branch: false,
            head: Some(HeadCommit {
                was_made_here: false,
                descends_from_start: is_ancestor,
                changes_tree,
                unsound: None,
                message: message.to_owned(),
                is_message_whole,
                parents,
                committed_at,
                commit: commit.to_owned(),
            }),
        })
    }
}

/// Returns whether the git folder has an entry, such as a pipe, that git would open instead of a file and block on.
fn holds_pipes(git_folder: &Path) -> bool {
    let entries = fs::read_dir(git_folder).into_iter().flatten().flatten();
    let mut kinds = entries.filter_map(|entry| entry.file_type().ok());
    kinds.any(|kind| !kind.is_file() && !kind.is_dir() && !kind.is_symlink())
}
