//! Taking an agent's work into the current branch, and looking at it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cocode_env::{AgentName, Verdict};
use serde::Serialize;

use crate::error::RunnerError;
use crate::record::AgentRecord;
use crate::repository::Repository;
use crate::repository::git::{Git, GitError};
use crate::runner::{NO_HOOKS, Runner, RunnerConfig};
use crate::verdict::obeyed_files::{ObeyedFiles, obeyed_files};

/// How an agent's work gets into the current branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PickWay {
    /// It is there already.
    AlreadyThere,
    /// The current branch moves forward to it.
    FastForward,
    /// It is merged.
    Merge,
}

/// What was picked, or would be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Picked {
    /// The agent.
    pub agent: AgentName,
    /// Its branch.
    pub branch: String,
    /// The commit that was taken.
    pub commit: String,
    /// How.
    pub way: PickWay,
    /// Whether the agent is verified ready.
    pub is_ready: bool,
    /// Whether a check has passed, as a part of that.
    pub is_checked: bool,
    /// Whether it was done.
    pub done: bool,
    /// The files of the work that other programs obey, for the user to review.
    #[serde(rename = "asked")]
    pub to_review: ObeyedFiles,
}

/// How much an agent has changed between its start and its last commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorkSize {
    /// Files that differ.
    pub files: u64,
    /// Lines that are new; none for contents that are no text.
    pub lines_added: u64,
    /// Lines that are gone, likewise.
    pub lines_removed: u64,
}

impl Runner {
    /// Measures what an agent has committed; nothing if it has committed nothing.
    ///
    /// # Errors
    /// [`RunnerError::Repository`], [`RunnerError::Git`].
    pub fn work_size(&self, record: &AgentRecord) -> Result<WorkSize, RunnerError> {
        let numbers = match difference(&self.config, record, "--numstat") {
            Err(RunnerError::NothingToPick { .. }) => return Ok(WorkSize::default()),
            numbers => numbers?,
        };
        let mut size = WorkSize::default();
        for line in numbers.lines() {
            // A hyphen stands in the place of a number for what is no text.
            let mut counts = line.split('\t').map(|field| field.parse().unwrap_or(0));
            size.files += 1;
            size.lines_added += counts.next().unwrap_or(0);
            size.lines_removed += counts.next().unwrap_or(0);
        }
        Ok(size)
    }

    /// Takes an agent's work into the current branch: forward, or by a merge if that is clean.
    ///
    /// # Errors
    /// [`RunnerError::NotEnded`], [`RunnerError::NothingToPick`], [`RunnerError::Unfinished`], [`RunnerError::Dirty`],
    /// [`RunnerError::Unsound`], [`RunnerError::Conflicts`], [`RunnerError::InTheWay`], [`RunnerError::Obeyed`]; nothing is
    /// changed then.
    pub fn pick(&self, record: &AgentRecord, dry_run: bool) -> Result<Picked, RunnerError> {
        let repository = &self.repository;
        if !record.state.is_final() {
            return Err(RunnerError::NotEnded { agent: record.agent.clone() });
        }
        let commit = work_of(repository, record)?;
        // Not what the verdict says: it may be older than this check, and the branch may have been moved since.
        if let Some(why) = self.unsound(record, &commit)? {
            return Err(RunnerError::Unsound { agent: record.agent.clone(), why });
        }
        if let Some(what) = repository.unfinished()? {
            return Err(RunnerError::Unfinished { what });
        }
        if !repository.is_clean()? {
            return Err(RunnerError::Dirty);
        }
        let mut target = commit.clone();
        let way = if repository.is_ancestor(&commit, "HEAD")? {
            PickWay::AlreadyThere
        } else if repository.is_ancestor("HEAD", &commit)? {
            PickWay::FastForward
        } else {
            let trial = ["merge-tree", "--write-tree", "--no-messages", "HEAD", &commit];
            let Some(tree) = repository.git.ask(repository.location(), &trial)? else {
                return Err(RunnerError::Conflicts { branch: record.branch.clone() });
            };
            target = tree;
            PickWay::Merge
        };
        if way != PickWay::AlreadyThere
            && let Some(path) = in_the_way(repository, &target)?
        {
            return Err(RunnerError::InTheWay { path });
        }
        let mut to_review = ObeyedFiles::default();
        if way != PickWay::AlreadyThere {
            let (never, reported) =
                obeyed_files(repository, &record.start_commit, &commit, &self.config.names)?;
            if !never.0.is_empty() {
                return Err(RunnerError::Obeyed { agent: record.agent.clone(), files: never });
            }
            to_review = reported;
        }
        let message = format!("Merge {}", record.branch);
        let done = way != PickWay::AlreadyThere && !dry_run;
        if done {
            let arguments: &[&str] = match way {
                PickWay::Merge => &["merge", "--quiet", "--no-edit", "--no-ff", "-m", &message, &commit],
                _ => &["merge", "--quiet", "--ff-only", &commit],
            };
            if let Err(error) = repository.git.run(repository.location(), arguments) {
                // A merge that stopped half-way is taken back. It is ours: none was there when this began.
                let _ = repository.git.run(repository.location(), &["merge", "--abort"]);
                return Err(error.into());
            }
        }
        let is_ready = record.verdict.as_ref().is_some_and(|verdict| verdict.ready);
        let is_checked = record.verdict.as_ref().is_some_and(Verdict::is_checked);
        Ok(Picked {
            agent: record.agent.clone(),
            branch: record.branch.clone(),
            commit,
            way,
            is_ready,
            is_checked,
            done,
            to_review,
        })
    }
}

/// What is not committed and lies where a file would come with `target`, a commit or tree, if anything does.
///
/// Git itself would replace what it is told to ignore, such as a file with the user's own settings.
fn in_the_way(repository: &Repository, target: &str) -> Result<Option<PathBuf>, GitError> {
    let arguments = [
        "diff",
        "--no-ext-diff",
        "--name-only",
        "-z",
        "--diff-filter=A",
        "--no-renames",
        "HEAD",
        target,
        "--",
    ];
    let added = repository.git.run_for_bytes(repository.location(), &arguments)?;
    let is_tracked = |path: &Path| {
        let arguments = ["ls-tree", "--full-tree", "--name-only", "HEAD", "--"].map(OsStr::new);
        let found =
            repository.git.run(repository.location(), &[&arguments[..], &[path.as_os_str()]].concat())?;
        Ok::<bool, GitError>(!found.is_empty())
    };
    let is_there = |path: &Path| {
        let path = repository.root.join(path);
        // Nothing is lost with an empty folder.
        path.symlink_metadata().is_ok()
            && !fs::read_dir(&path).is_ok_and(|mut inside| inside.next().is_none())
    };
    let mut seen_folders = BTreeSet::new();
    let names = added.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    for path in names.map(|name| Path::new(OsStr::from_bytes(name))) {
        if is_there(path) && !is_tracked(path)? {
            return Ok(Some(path.to_owned()));
        }
        // A file, or a link, in the place of a folder on the way there.
        for folder in path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            if !seen_folders.insert(folder.to_owned()) {
                break;
            }
            let found = repository.root.join(folder).symlink_metadata();
            if found.is_ok_and(|found| !found.is_dir()) && !is_tracked(folder)? {
                return Ok(Some(folder.to_owned()));
            }
        }
    }
    Ok(None)
}

/// Returns the differences between where an agent started and what it has committed, also while agents run; `summary`
/// for a line for each file.
///
/// # Errors
/// [`RunnerError::NothingToPick`], [`RunnerError::Repository`], [`RunnerError::Git`].
pub fn diff(config: &RunnerConfig, record: &AgentRecord, summary: bool) -> Result<String, RunnerError> {
    difference(config, record, if summary { "--stat" } else { "--patch" })
}

fn difference(config: &RunnerConfig, record: &AgentRecord, format: &str) -> Result<String, RunnerError> {
    let git = Git::new(&config.host, config.state_folder.join(NO_HOOKS));
    let repository = Repository::open(git, &config.repository)?;
    let commit = work_of(&repository, record)?;
    let arguments =
        ["diff", "--no-ext-diff", "--no-textconv", "--no-color", format, &record.start_commit, &commit, "--"];
    Ok(repository.git.run(repository.location(), &arguments)?)
}

/// The commit that holds an agent's work: where its worktree was when it ended, or where its branch is.
fn work_of(repository: &Repository, record: &AgentRecord) -> Result<String, RunnerError> {
    let branch = || repository.commit(&format!("refs/heads/{}", record.branch));
    let commit = record.head.clone().filter(|head| repository.commit(head).is_some()).or_else(branch);
    commit
        .filter(|commit| *commit != record.start_commit)
        .ok_or_else(|| RunnerError::NothingToPick { agent: record.agent.clone() })
}
