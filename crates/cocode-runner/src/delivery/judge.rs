//! The verdict of this machine on work delivered by another.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;

use cocode_env::AgentState;

use crate::delivery::Delivery;
use crate::delivery::error::DeliveryError;
use crate::delivery::import::ImportedHead;
use crate::error::{RunnerError, error_chain};
use crate::objects::object_check::submodules;
use crate::objects::object_import::LIMIT;
use crate::record::AgentRecord;
use crate::record::elsewhere::CheckPermissions;
use crate::repository::worktree::{Worktree, file_error};
use crate::run::check_run::LoneCheck;
use crate::run::event::{RunEvent, RunObserver};
use crate::run::stop::StopFlag;
use crate::runner::{Runner, now_ms, remove_if_there};
use crate::verdict::evidence::Work;
use crate::verdict::judgement::WorkToWeigh;

impl Runner {
    /// Judges an agent's work delivered by another machine, and returns the record with the verdict. The work is then on the
    /// agent's branch and in its worktree, unless git rejects it or there is none.
    ///
    /// The bundle is checked in a separate folder, imported like the objects of a confined agent, and checked out only if git
    /// accepts all of it; then the check command runs here. The agent is ready only by the verdict of this machine: the
    /// claimed state and exit code can make it worse. A record with a verdict is returned unchanged.
    ///
    /// # Errors
    /// [`RunnerError::Delivery`] if the delivery is refused, after which none of its objects is reachable and the record has no
    /// verdict: another delivery may be judged, or the record's state set. With [`DeliveryError::Stopped`], and after errors
    /// of this machine, such as [`RunnerError::CheckNotRun`], the same delivery can be judged again, with the same result.
    /// [`DeliveryError::Late`] and [`DeliveryError::Over`] also arise if a later attempt or an end is recorded meanwhile.
    /// [`RunnerError::BranchExists`], [`RunnerError::FolderExists`] if another program has made the branch or files at the
    /// agent's paths.
    pub fn judge_delivery(
        &self,
        record: &AgentRecord,
        delivery: &Delivery,
        stop: &StopFlag,
        observer: &dyn RunObserver,
    ) -> Result<AgentRecord, RunnerError> {
        let (mut record, mut elsewhere) = self.elsewhere_record(record)?;
        if record.verdict.is_some() {
            return Ok(record);
        }
        let agent = record.agent.clone();
        let refused = |source| RunnerError::Delivery { agent: agent.clone(), source };
        if let Some(why) = untimely(&record, elsewhere.epoch, delivery, stop) {
            return Err(refused(why));
        }
        let head = self.import_delivery(&mut record, &mut elsewhere, delivery)?;
        elsewhere.epoch = delivery.epoch;
        elsewhere.host = Some(crate::delivery::claim::plain(&delivery.host));
        record.elsewhere = Some(elsewhere.clone());
        let (worktree, unsound) = self.check_out_sound(&mut record, &head)?;
        let location = self.repository.location();
        let mut work = Work::of_commit(&self.repository, location, &head.commit, &record.start_commit)?;
        work.is_on_branch = true;
        if let Some(commit) = &mut work.head {
            commit.was_made_here = head.is_new;
            commit.unsound = unsound;
        }
        let is_clean = match &worktree {
            Some(worktree) if record.clean_tree => worktree.is_clean(&self.repository)?,
            _ => true,
        };
        record.exit_code = delivery.claimed_exit_code();
        let to_weigh = WorkToWeigh {
            work,
            // Clocks of other machines do not count.
            launched_at: i64::MIN,
            is_clean: record.clean_tree.then_some(is_clean && delivery.is_clean == Some(true)),
            worktree: worktree.as_ref(),
        };
        let body = self.store.body(&record.key())?;
        let facts = record.clone();
        let mut check = None;
        let was_checked = self.weigh(&mut record, &body, to_weigh, || {
            let worktree = worktree.as_ref()?;
            let permissions = &elsewhere.check;
            let mut lone = self.check_delivery(&facts, permissions, delivery, worktree, (stop, observer));
            let result = lone.as_mut().ok().and_then(|check| check.result.take());
            check = Some(lone);
            result
        })?;
        // A fault of this machine is not a verdict on the work: the same delivery is judged again.
        let check = check.transpose()?.unwrap_or_default();
        if check.was_cancelled && stop.is_raised() {
            return Err(refused(DeliveryError::Stopped));
        }
        record.own_branches = check.owns_folders;
        record.own_objects = check.owns_folders;
        if let Some(worktree) = worktree.as_ref().filter(|_| was_checked) {
            self.import_traces_of_check(&mut record, worktree)?;
        }
        record.warnings.extend(self.obeyed_in_worktree(&record, stop));
        let is_ready = record.verdict.as_ref().is_some_and(|verdict| verdict.ready);
        delivery.conclude(&mut record, is_ready);
        if check.was_cancelled {
            record.state = AgentState::Cancelled;
            record.exit_code = Some(130);
        }
        record.ended_at_ms = Some(now_ms());
        self.put_delivery(&record, delivery.epoch)?;
        remove_if_there(&self.cancel_path(&record))?;
        observer.event(&RunEvent::Ended { record: Box::new(record.clone()) });
        Ok(record)
    }

    /// Checks out delivered work, unless git rejects it or there is none. Returns the worktree, or git's reason.
    fn check_out_sound(
        &self,
        record: &mut AgentRecord,
        head: &ImportedHead,
    ) -> Result<(Option<Worktree>, Option<String>), RunnerError> {
        if head.commit == record.start_commit {
            return Ok((None, None));
        }
        let unsound = self.unsound(record, &head.commit)?;
        if unsound.is_some() {
            return Ok((None, unsound));
        }
        let new = submodules(&self.repository, &record.start_commit, &head.commit);
        record.warnings.extend(new.unwrap_or_else(|error| Some(error_chain(&error))));
        Ok((Some(self.check_out(record, &head.commit)?), None))
    }

    /// Makes the branch and the worktree at a commit that git accepts.
    fn check_out(&self, record: &mut AgentRecord, commit: &str) -> Result<Worktree, RunnerError> {
        let parent = self.worktrees_folder();
        let made = DirBuilder::new().mode(0o700).recursive(true).create(parent);
        made.map_err(file_error("make", parent))?;
        let bounded = self.repository.within(LIMIT);
        let worktree = Worktree::create(&bounded, &record.branch, &record.worktree, commit)?;
        record.git_folder = Some(worktree.git_folder.clone());
        Ok(worktree)
    }

    /// Runs the check command of delivered work.
    fn check_delivery(
        &self,
        record: &AgentRecord,
        permissions: &CheckPermissions,
        delivery: &Delivery,
        worktree: &Worktree,
        (stop, observer): (&StopFlag, &dyn RunObserver),
    ) -> Result<LoneCheck, RunnerError> {
        let Some(check) = &record.check else { return Ok(LoneCheck::default()) };
        let plan = self.check_plan(record, permissions, delivery, check)?;
        let body = self.store.body(&record.key())?;
        self.check_alone(&plan, &body, worktree, stop, observer)
    }
}

/// Returns the reason that a delivery cannot be judged now, if any. `current` is the epoch of the record.
fn untimely(
    record: &AgentRecord,
    current: u64,
    delivery: &Delivery,
    stop: &StopFlag,
) -> Option<DeliveryError> {
    if record.state.is_final() {
        return Some(DeliveryError::Over { state: record.state });
    }
    if delivery.epoch < current {
        return Some(DeliveryError::Late { epoch: delivery.epoch, current });
    }
    if !delivery.state.is_final() {
        return Some(DeliveryError::NotEnded { state: delivery.state });
    }
    stop.is_raised().then_some(DeliveryError::Stopped)
}
