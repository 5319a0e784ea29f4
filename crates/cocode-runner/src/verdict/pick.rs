//! Merges an agent's work into the current branch, and shows it.

use cocode_env::{AgentName, Verdict};
use serde::Serialize;

use crate::error::{RepositoryError, RunnerError};
use crate::objects::object_import::LIMIT;
use crate::record::AgentRecord;
use crate::repository::Repository;
use crate::repository::git::{DIFF, Git};
use crate::runner::{NO_HOOKS, Runner, RunnerConfig};
use crate::verdict::fast_forward::FastForward;
use crate::verdict::in_the_way;
use crate::verdict::merge::{MergeSettings, merged_tree};
use crate::verdict::obeyed_files::{ObeyedChanges, ObeyedFiles};
use crate::verdict::search_limit::SearchLimit;

/// The way in which an agent's work is merged into the current branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PickWay {
    /// The branch already contains it.
    AlreadyThere,
    /// The current branch moves forward to it.
    FastForward,
    /// It is merged.
    Merge,
}

/// The outcome of a pick, or of its dry run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Picked {
    /// The agent.
    pub agent: AgentName,
    /// Its branch.
    pub branch: String,
    /// The commit that was taken.
    pub commit: String,
    /// The way.
    pub way: PickWay,
    /// True if the agent is verified ready.
    pub is_ready: bool,
    /// True if a check command has passed as part of the verdict.
    pub is_checked: bool,
    /// True if the branch has commits on top of the agent's, such as the user's: they are taken as well, without a verdict.
    pub is_continued: bool,
    /// True if the branch was changed.
    pub done: bool,
    /// The files of the work that other programs obey, for the user to review.
    #[serde(rename = "asked")]
    pub to_review: ObeyedFiles,
}

/// The size of an agent's changes between its start and its last commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorkSize {
    /// The number of changed files.
    pub files: u64,
    /// The number of added lines; none for binary contents.
    pub lines_added: u64,
    /// The number of removed lines, likewise.
    pub lines_removed: u64,
}

impl Runner {
    /// Measures an agent's commits; all zero if there are none.
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
            // Git prints a hyphen instead of a number for binary contents.
            let mut counts = line.split('\t').map(|field| field.parse().unwrap_or(0));
            size.files += 1;
            size.lines_added += counts.next().unwrap_or(0);
            size.lines_removed += counts.next().unwrap_or(0);
        }
        Ok(size)
    }

    /// Merges an agent's work into the current branch: by fast-forward, or by a clean merge.
    ///
    /// # Errors
    /// [`RunnerError::NotEnded`], [`RunnerError::NothingToPick`], [`RunnerError::Unfinished`], [`RunnerError::Dirty`],
    /// [`RunnerError::Detached`], [`RunnerError::Unsound`], [`RunnerError::Conflicts`], [`RunnerError::InTheWay`], [`RunnerError::FolderInTheWay`],
    /// [`RunnerError::SubmoduleInTheWay`], [`RunnerError::HiddenEdit`], [`RunnerError::Obeyed`], [`RunnerError::SearchEnded`],
    /// [`RunnerError::Continued`], [`RunnerError::NotSigned`], [`RunnerError::NoIdentity`]; none of them leaves a change. Nor does
    /// [`RunnerError::Git`]; [`RunnerError::HalfTaken`] names the files that it leaves changed.
    pub fn pick(&self, record: &AgentRecord, dry_run: bool) -> Result<Picked, RunnerError> {
        let repository = &self.repository;
        if record.continues.is_some() {
            return Err(RunnerError::Continued { agent: record.agent.clone() });
        }
        let commit = self.sound_work(record)?;
        if let Some(what) = repository.unfinished()? {
            return Err(RunnerError::Unfinished { what });
        }
        if !repository.is_clean()? {
            return Err(RunnerError::Dirty { has_filters: repository.git.leaves_out_filters() });
        }
        let head = repository.commit("HEAD").ok_or(RepositoryError::NoCommits)?;
        // The agent's work is read within bounds before it is taken.
        let reading = repository.within(LIMIT);
        let mut target = commit.clone();
        let way = if repository.is_ancestor(&commit, &head)? {
            PickWay::AlreadyThere
        } else if repository.is_ancestor(&head, &commit)? {
            PickWay::FastForward
        } else {
            target = merged_tree(&reading, record, [&head, &commit])?;
            PickWay::Merge
        };
        let mut to_review = ObeyedFiles::default();
        let done = way != PickWay::AlreadyThere && !dry_run;
        if way != PickWay::AlreadyThere {
            let branch = ["symbolic-ref", "--quiet", "HEAD"];
            let branch = repository.git.ask(repository.location(), &branch)?.ok_or(RunnerError::Detached)?;
            let settings = MergeSettings::of(repository, &branch);
            settings.check_signature(record, &commit)?;
            if way == PickWay::Merge {
                settings.check_identity()?;
            }
            in_the_way::check(&reading, &target, &self.config.state_folder)?;
            // The effect on the user's folder: together with other work, or by a rename, the same commit can change more than it
            // does in the agent's worktree.
            to_review = self.files_to_review(record, [&head, &target])?;
            if done {
                let mut note = format!("merge {}: Fast-forward", record.branch);
                if way == PickWay::Merge {
                    let title = format!("Merge {}", record.branch);
                    target = settings.commit([&head, &commit, &target], &title)?;
                    note = format!("merge {}: Merge made by agentd", record.branch);
                }
                FastForward::prepare(repository, [&head, &target], &self.config.state_folder)?.run(&note)?;
            }
        }
        // The verdict applies to the agent's last commit.
        let is_judged = record.head.as_ref() == Some(&commit);
        let is_ready = is_judged && record.verdict.as_ref().is_some_and(|verdict| verdict.ready);
        let is_checked = is_judged && record.verdict.as_ref().is_some_and(Verdict::is_checked);
        Ok(Picked {
            agent: record.agent.clone(),
            branch: record.branch.clone(),
            commit,
            way,
            is_ready,
            is_checked,
            is_continued: record.head.is_some() && !is_judged,
            done,
            to_review,
        })
    }

    /// Returns the commit of an agent's work, if the agent has ended and git would check its commits out.
    pub(crate) fn sound_work(&self, record: &AgentRecord) -> Result<String, RunnerError> {
        if !record.state.is_final() {
            return Err(RunnerError::NotEnded { agent: record.agent.clone() });
        }
        let commit = work_of(&self.repository, record)?;
        // Checked again, because the verdict may be older than this check, and the branch may have moved since.
        match self.unsound(record, &commit)? {
            Some(why) => Err(RunnerError::Unsound { agent: record.agent.clone(), why }),
            None => Ok(commit),
        }
    }

    /// Returns the changed files that other programs obey and that the user should review, between two commits or trees; an error
    /// names those that no work may change.
    pub(crate) fn files_to_review(
        &self,
        record: &AgentRecord,
        trees: [&str; 2],
    ) -> Result<ObeyedFiles, RunnerError> {
        let bounded = self.repository.within(LIMIT);
        let (never, reported) = self.obeyed_changes(&bounded, &SearchLimit::default()).between(trees)?;
        match never.0.is_empty() {
            true => Ok(reported),
            false => Err(RunnerError::Obeyed { agent: record.agent.clone(), files: never }),
        }
    }
}

impl Runner {
    /// Returns the judge of differences between commits, with the git of `repository`.
    pub(crate) fn obeyed_changes<'a>(
        &'a self,
        repository: &'a Repository,
        limit: &SearchLimit,
    ) -> ObeyedChanges<'a> {
        let config = &self.config;
        let own_folders = [&repository.common_folder, &config.state_folder, &config.worktrees];
        let own_folders = own_folders.into_iter().chain(&config.homes).chain(&config.private);
        ObeyedChanges {
            repository,
            names: &config.names,
            own_folders: own_folders.cloned().collect(),
            scratch: &config.state_folder,
            limit: limit.clone(),
        }
    }
}

/// Returns the differences between an agent's start and its last commit, also while agents run; with `summary`, one line
/// for each file.
///
/// # Errors
/// [`RunnerError::NothingToPick`], [`RunnerError::Repository`], [`RunnerError::Git`].
pub fn diff(config: &RunnerConfig, record: &AgentRecord, summary: bool) -> Result<String, RunnerError> {
    difference(config, record, if summary { "--stat" } else { "--patch" })
}

fn difference(config: &RunnerConfig, record: &AgentRecord, format: &str) -> Result<String, RunnerError> {
    let git = Git::new(&config.host, config.state_folder.join(NO_HOOKS));
    let repository = Repository::open(git, &config.repository)?.within(LIMIT);
    let commit = work_of(&repository, record)?;
    let arguments = [&DIFF[..], &[format, &record.start_commit, &commit, "--"]].concat();
    Ok(repository.git.run(repository.location(), &arguments)?)
}

/// Returns the commit of an agent's work: the tip of its branch, or that of its worktree when it ended if the branch does not
/// contain it.
fn work_of(repository: &Repository, record: &AgentRecord) -> Result<String, RunnerError> {
    let tip = repository.commit(&format!("refs/heads/{}", record.branch));
    let head = record.head.clone().filter(|head| repository.commit(head).is_some());
    let commit = match (head, tip) {
        (Some(head), Some(tip)) if head == tip || repository.is_ancestor(&head, &tip)? => Some(tip),
        (head, tip) => head.or(tip),
    };
    commit
        .filter(|commit| *commit != record.start_commit)
        .ok_or_else(|| RunnerError::NothingToPick { agent: record.agent.clone() })
}
