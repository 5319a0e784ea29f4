//! The judgement of an agent's work: its evidence is collected, its check runs, and the verdict is recorded.

use cocode_env::{CheckResult, Evidence, Verdict};

use crate::error::{RunnerError, error_chain};
use crate::objects::missing_objects;
use crate::objects::object_check::{self, submodules};
use crate::record::AgentRecord;
use crate::repository::left_file::LeftFile;
use crate::repository::own_repository::{self, import_check_objects, import_work};
use crate::repository::worktree::{Worktree, shared_folders};
use crate::repository::{
    left_file, nested, own_index, planted_links, unfinished_work, used_branches, worktree_links,
};
use crate::run::stop::StopFlag;
use crate::runner::Runner;
use crate::verdict::evidence::Work;

/// The work of an agent that has ended, and the other facts for its verdict.
pub(crate) struct WorkToWeigh<'a> {
    pub(crate) work: Work,
    /// The time before which no commit is new, in seconds since 1970.
    pub(crate) launched_at: i64,
    /// True if nothing is uncommitted or untracked; `None` if that is not a part of the verdict.
    pub(crate) is_clean: Option<bool>,
    /// The worktree in which the check runs.
    pub(crate) worktree: Option<&'a Worktree>,
}

impl Runner {
    /// Judges the work of an agent that has ended on this machine. `check` runs the check command, if the rest holds. A raised
    /// `stop` ends the search of its worktree for files that other programs obey.
    pub(crate) fn judge(
        &self,
        record: &mut AgentRecord,
        body: &str,
        stop: &StopFlag,
        check: impl FnOnce() -> Option<CheckResult>,
    ) -> Result<(), RunnerError> {
        let judged = self.judge_traces(record, body, check);
        // No verdict, so that the next runner judges it again.
        record.import_failed |= judged.as_ref().is_err_and(RunnerError::is_of_this_machine);
        // Afterwards, since the branch that it has ended on is a part of the evidence.
        if let Some(worktree) = self.worktree_of(record) {
            self.free_references(record, &worktree);
            record.warnings.extend(self.obeyed_in_worktree(record, stop));
        }
        judged
    }

    fn judge_traces(
        &self,
        record: &mut AgentRecord,
        body: &str,
        check: impl FnOnce() -> Option<CheckResult>,
    ) -> Result<(), RunnerError> {
        let worktree = self.worktree_of(record);
        let mut work = Work::default();
        if let Some(worktree) = &worktree {
            worktree.close(&self.repository.common_folder)?;
            let taken = worktree.take_back(&self.repository.common_folder);
            // For a retry, without which the work would stay invisible to the repository.
            record.import_failed |= taken.is_err();
            record.warnings.extend(taken?);
            // Before git uses the worktree, which could lead it outside.
            self.refuse_traces(record, worktree);
            import_work(&self.repository, worktree, record)?;
            self.refuse_missing(record, worktree);
            own_index::make_again(&self.repository, worktree);
            work = Work::find(&self.repository, worktree, &record.branch, &record.start_commit)?;
        }
        let mut is_whole = true;
        if let Some(head) = &work.head {
            is_whole = own_repository::is_whole(&self.repository, record, &head.commit)?;
        }
        if !is_whole {
            record.warnings.push("the commit at its HEAD is damaged".to_owned());
            work = Work::default();
        }
        if let Some(head) = work.head.as_mut().filter(|head| head.commit != record.start_commit) {
            head.unsound = self.unsound(record, &head.commit)?;
            if head.unsound.is_none() {
                let warning = submodules(&self.repository, &record.start_commit, &head.commit);
                record.warnings.extend(warning.unwrap_or_else(|error| Some(error_chain(&error))));
            }
        }
        let is_clean = match &worktree {
            Some(worktree) if record.clean_tree && worktree.path.is_dir() => {
                Some(worktree.is_clean(&self.repository)?)
            }
            // A missing worktree cannot be shown to be clean.
            _ => record.clean_tree.then_some(false),
        };
        if work.head.is_some() && !work.is_on_branch {
            record.warnings.push("HEAD is not on the agent's branch".to_owned());
        }
        if is_whole && work.head.is_none() && record.git_folder.is_some() {
            record.warnings.push("its worktree is gone or at no commit".to_owned());
        }
        // Without a launch, no commit counts as newer than it.
        let launched_at = i64::try_from(record.launched_at_ms.unwrap_or(u64::MAX) / 1000).unwrap_or(i64::MAX);
        let to_weigh = WorkToWeigh { work, launched_at, is_clean, worktree: worktree.as_ref() };
        self.weigh(record, body, to_weigh, check).map(drop)
    }

    /// Records the verdict on an agent's work. `check` runs the check command, if the rest holds. Returns whether it ran.
    pub(crate) fn weigh(
        &self,
        record: &mut AgentRecord,
        body: &str,
        to_weigh: WorkToWeigh<'_>,
        check: impl FnOnce() -> Option<CheckResult>,
    ) -> Result<bool, RunnerError> {
        let WorkToWeigh { work, launched_at, is_clean, worktree } = to_weigh;
        record.commits = work.commits;
        record.head = work.head.as_ref().map(|head| head.commit.clone());
        let (start_commit, marker) = (record.start_commit.clone(), record.marker.clone());
        let mut evidence = Evidence {
            exit_code: record.exit_code,
            start_commit: &start_commit,
            launched_at,
            marker: &marker,
            issue_body: body,
            head: work.head,
            is_clean,
            check: None,
        };
        let (mut was_checked, mut left, mut imported) = (false, Vec::new(), Ok(()));
        if record.check.is_some() {
            let not_run = || CheckResult { passed: false, detail: "it was not run".to_owned() };
            let result = match worktree {
                Some(worktree) if Verdict::of(&evidence).ready => {
                    let before = left_file::find(&self.repository, worktree);
                    record.warnings.extend(before.as_deref().ok().and_then(without_commit));
                    let result = check();
                    // What cannot be moved now is moved when a runner is opened.
                    let taken = worktree.take_back(&self.repository.common_folder);
                    record.warnings.extend(taken.unwrap_or_else(|error| Some(error_chain(&error))));
                    // Before git uses the worktree again: the check may have left files by which git starts programs.
                    imported = match record.elsewhere {
                        None => self.import_traces_of_check(record, worktree),
                        // The judge of a delivery imports them, and only then knows whether the check had its own objects.
                        Some(_) => {
                            self.refuse_traces(record, worktree);
                            own_index::make_again(&self.repository, worktree);
                            Ok(())
                        }
                    };
                    let after = left_file::find(&self.repository, worktree);
                    // Without both lists no file is attributed to the check, and every file keeps the worktree.
                    if let (Ok(before), Ok(after)) = (before, after) {
                        left = left_file::new_since(&before, after);
                    }
                    result
                }
                _ => None,
            };
            was_checked = result.is_some();
            evidence.check = result.or_else(|| Some(not_run()));
        }
        record.verdict = Some(Verdict::of(&evidence));
        record.left_by_check = left;
        imported.map(|()| was_checked)
    }

    /// Imports the leftovers of a check in a worktree. It ran the agent's code, so they are not more trusted than the agent's.
    pub(crate) fn import_traces_of_check(
        &self,
        record: &mut AgentRecord,
        worktree: &Worktree,
    ) -> Result<(), RunnerError> {
        self.refuse_traces(record, worktree);
        import_check_objects(&self.repository, worktree, record)?;
        self.refuse_missing(record, worktree);
        own_index::make_again(&self.repository, worktree);
        self.free_references(record, worktree);
        Ok(())
    }

    /// Frees all references except the agent's own branch from use in its worktree.
    pub(crate) fn free_references(&self, record: &mut AgentRecord, worktree: &Worktree) {
        record.warnings.extend(missing_objects::refuse_head(&self.repository, worktree, record));
        record.warnings.extend(used_branches::free(&self.repository, worktree, &record.branch));
    }

    /// Refuses names of missing objects, once the agent's objects are imported.
    fn refuse_missing(&self, record: &mut AgentRecord, worktree: &Worktree) {
        let start = record.start_commit.clone();
        if !record.own_branches {
            record.warnings.extend(missing_objects::refuse_branches(&self.repository, &start));
            record.warnings.extend(missing_objects::maintenance_lock(&self.repository.common_folder));
        }
        record.warnings.extend(missing_objects::refuse_index(&self.repository, worktree, &start));
    }

    /// Restores, removes or renames leftovers of an agent or its check that lead git out of the worktree, or to programs.
    pub(crate) fn refuse_traces(&self, record: &mut AgentRecord, worktree: &Worktree) {
        let (repository, start) = (&self.repository, record.start_commit.clone());
        let warnings = &mut record.warnings;
        warnings.extend(worktree_links::restore(worktree, &repository.common_folder, !record.own_branches));
        warnings.extend(planted_links::remove(worktree, &record.branch));
        if !record.own_branches {
            warnings.extend(planted_links::remove_shared(&repository.common_folder));
            for folder in shared_folders(&repository.common_folder) {
                let name = folder.strip_prefix(&repository.common_folder).unwrap_or(&folder).display();
                warnings.extend(nested::refuse_below(
                    &folder,
                    "an agent",
                    &format!("'{name}' of the repository"),
                ));
            }
        }
        warnings.extend(unfinished_work::quarantine(worktree));
        warnings.extend(nested::refuse(repository, worktree, &start));
        warnings.extend(nested::refuse_below(&worktree.git_folder, "it", "its git folder"));
        warnings.extend(own_index::quarantine_crafted(worktree, &start));
    }

    /// Returns git's reason to refuse an agent's commits; `None` if it accepts them.
    pub(crate) fn unsound(&self, record: &AgentRecord, commit: &str) -> Result<Option<String>, RunnerError> {
        let folder = self.config.state_folder.join("checked").join(record.key());
        object_check::unsound(&self.repository, &folder, &record.start_commit, commit)
    }
}

/// Returns a warning that names the uncommitted files which a check can read: its result says nothing about the commit alone,
/// to which the agent may have forgotten to add them.
fn without_commit(files: &[LeftFile]) -> Option<String> {
    let names = (!files.is_empty()).then(|| left_file::named(files))?;
    Some(format!("its check ran with files that are not committed, and may not pass without them: {names}"))
}
