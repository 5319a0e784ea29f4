//! Running agents: a worktree, a process, a verdict for each, several at once.

mod agent_run;
mod branch_follower;
pub(crate) mod check_run;
pub(crate) mod child_output;
mod ended;
pub(crate) mod event;
pub(crate) mod launchers;
pub(crate) mod log_file;
pub(crate) mod orphan_guard;
pub(crate) mod stop;
pub(crate) mod watch;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cocode_env::{AgentState, CheckResult, ExitMeaning};
use sandbox_exec::{FileConfinement, GitIdentity, Launcher, Policy};

use crate::error::{RunnerError, error_chain};
use crate::objects::loose_objects;
use crate::plan::agent_policy::{PolicyContext, policy};
use crate::plan::environment::add_shared_settings;
use crate::plan::{PlannedAgent, RunPlan, RunRequest, body_file};
use crate::record::AgentRecord;
use crate::repository::own_repository::OwnRepository;
use crate::repository::worktree::Worktree;
use crate::run::agent_run::AgentRun;
use crate::run::ended::Ended;
use crate::run::event::{RunEvent, RunObserver};
use crate::run::stop::{StopFlag, StopNote, StopReason};
use crate::run::watch::Watch;
use crate::runner::{Runner, now_ms, remove_if_there};

/// The launcher of processes, or the reason that there is none; filled at the first use.
type LaunchCell = OnceLock<Result<Arc<Launcher>, String>>;

/// The state that the agents of one run share.
struct Shared<'a> {
    plan: &'a RunPlan,
    body: &'a str,
    stop: &'a StopFlag,
    observer: &'a dyn RunObserver,
    watch: Watch,
    /// Worktrees are made one after the other: git would wait for its own locks anyway.
    making: Mutex<()>,
    confined: &'a LaunchCell,
    unconfined: LaunchCell,
    /// The warning from packing the repository's objects, which is done once before confined agents share them.
    packed: OnceLock<Option<String>>,
    identity: Option<GitIdentity>,
}

impl Runner {
    /// Runs the agents of a request to their ends and returns their records, in the request's order.
    ///
    /// A failure of one agent is in its record and does not affect the others.
    ///
    /// # Errors
    /// Those of [`Runner::plan`], before anything is made; later only of the records themselves.
    pub fn run(
        &self,
        request: &RunRequest,
        stop: &StopFlag,
        observer: &dyn RunObserver,
    ) -> Result<Vec<AgentRecord>, RunnerError> {
        let confined = OnceLock::new();
        std::thread::scope(|scope| {
            // The launcher tests the confinement, which takes as long as planning and making a worktree.
            if request.agents.iter().any(|agent| agent.is_confined) {
                scope.spawn(|| self.launch(&confined, true).is_ok());
            }
            self.run_all(request, stop, observer, &confined)
        })
    }

    fn run_all(
        &self,
        request: &RunRequest,
        stop: &StopFlag,
        observer: &dyn RunObserver,
        confined: &LaunchCell,
    ) -> Result<Vec<AgentRecord>, RunnerError> {
        let plan = self.plan(request)?;
        let run = uuid::Uuid::new_v4().to_string();
        let began = now_ms();
        let records: Vec<Mutex<AgentRecord>> = plan
            .agents
            .iter()
            .map(|agent| {
                let reserved = agent.reserved();
                AgentRecord::new(request, &plan.base, &agent.definition, &reserved, &run, began)
            })
            .map(Mutex::new)
            .collect();
        // Before anything is made: after a crash, all that exists at these paths is the runner's, since they were free.
        for record in &records {
            self.store
                .put_with_body(&record.lock().unwrap_or_else(PoisonError::into_inner), &request.body)?;
        }
        let shared = self.shared(&plan, &request.body, stop, observer, confined);
        // Relaxed is enough below: each index is taken once, and its record has a lock.
        let next = AtomicUsize::new(0);
        let failure: Mutex<Option<RunnerError>> = Mutex::new(None);
        let workers = plan.agents.len().min(request.limits.parallel.get() as usize);
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| shared.watch.run(stop, observer));
            let work = || {
                while let Some(index) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < records.len())
                {
                    let mut record = records[index].lock().unwrap_or_else(PoisonError::into_inner);
                    if let Err(error) = self.run_agent(&shared, &plan.agents[index], &mut record) {
                        failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    }
                    observer.event(&RunEvent::Ended { record: Box::new(record.clone()) });
                }
            };
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            for worker in workers {
                // The scope passes a panic on.
                let _ = worker.join();
            }
            // Only now: the watcher enforces the deadlines until the last agent has ended.
            shared.watch.finish();
            let _ = watcher.join();
        });
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => {
                let records = records.into_iter();
                Ok(records.map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
            }
        }
    }

    /// Returns the state that the agents of a run share, at its beginning.
    fn shared<'a>(
        &self,
        plan: &'a RunPlan,
        body: &'a str,
        stop: &'a StopFlag,
        observer: &'a dyn RunObserver,
        confined: &'a LaunchCell,
    ) -> Shared<'a> {
        Shared {
            plan,
            body,
            stop,
            observer,
            watch: Watch::default(),
            making: Mutex::new(()),
            confined,
            unconfined: OnceLock::new(),
            packed: OnceLock::new(),
            identity: self.identity(),
        }
    }

    /// Runs one agent. Only failures of the records' storage are errors; every other failure is in the record.
    fn run_agent(
        &self,
        shared: &Shared<'_>,
        agent: &PlannedAgent,
        record: &mut AgentRecord,
    ) -> Result<(), RunnerError> {
        if shared.stop.is_raised() {
            record.state = AgentState::Cancelled;
            // The exit code of an interrupt in a shell.
            record.exit_code = Some(130);
        } else {
            match (AgentRun { runner: self, shared, agent }).to_its_end(record) {
                Ok(ended) => self.conclude(shared, agent, record, ended)?,
                Err(error) => {
                    record.state = AgentState::Failed;
                    record.detail = Some(error_chain(&error));
                    // It has done nothing. Files that cannot be moved now are moved when a runner is opened.
                    if let Some(worktree) = self.worktree_of(record) {
                        let _ = worktree.take_back(&self.repository.common_folder);
                    }
                }
            }
        }
        self.remove_home(&record.worktree);
        record.ended_at_ms = Some(now_ms());
        let removed = remove_if_there(&body_file(&record.worktree));
        removed.unwrap_or_else(|error| record.warnings.push(error_chain(&error)));
        remove_if_there(&self.cancel_path(record))?;
        self.store.put(record)
    }

    /// Records the end of an agent, and the verdict on its work.
    fn conclude(
        &self,
        shared: &Shared<'_>,
        agent: &PlannedAgent,
        record: &mut AgentRecord,
        ended: Ended,
    ) -> Result<(), RunnerError> {
        record.exit_code = ended.exit_code;
        record.detail = ended.detail;
        let worktree = self.worktree_of(record);
        let note = Arc::new(StopNote::default());
        let check = || match self.run_check(shared, agent, worktree.as_ref()?, &note) {
            Ok(result) => result,
            // The agent has ended, and is not restarted for this.
            Err(detail) => Some(CheckResult { passed: false, detail }),
        };
        let judged = self.judge(record, shared.body, shared.stop, check);
        // A cancelled check cancels its agent. A check that took too long only makes the agent not ready.
        let reason = ended.reason.or(note.reason().filter(|reason| matches!(reason, StopReason::Cancelled)));
        if let Err(error) = judged {
            record.detail = Some(error_chain(&error));
        }
        let is_ready = record.verdict.as_ref().is_some_and(|verdict| verdict.ready);
        record.state = match (reason, ended.exit_code) {
            (Some(StopReason::Deadline), _) => AgentState::TimedOut,
            (Some(StopReason::Cancelled), _) => {
                record.exit_code = Some(130);
                AgentState::Cancelled
            }
            (None, None) => AgentState::Failed,
            (None, Some(code)) => {
                let meaning = ExitMeaning::of(code);
                let advice = meaning.advice().map(str::to_owned);
                record.detail = record.detail.take().or(advice);
                AgentState::after_exit(meaning, is_ready)
            }
        };
        Ok(())
    }

    /// Packs loose objects before the first confined agent may write among them. Returns a warning if that fails.
    fn pack_once(&self, shared: &Shared<'_>) -> Option<String> {
        let pack = || {
            let error = loose_objects::pack(&self.repository).err()?;
            // Existing damage does not keep agents from working.
            Some(format!("loose objects are not protected from it: {}", error_chain(&error)))
        };
        shared.packed.get_or_init(pack).clone()
    }

    /// Returns the agent's own view of the repository; `None` unless the agent has its own file tree.
    fn own_repository(
        &self,
        launcher: &Launcher,
        agent: &PlannedAgent,
        worktree: &Worktree,
    ) -> Option<OwnRepository> {
        (launcher.report().fs == FileConfinement::Root)
            .then(|| OwnRepository::of(worktree, &self.repository, &agent.branch))
    }

    fn policy(
        &self,
        shared: &Shared<'_>,
        agent: &PlannedAgent,
        worktree: &Worktree,
        own: Option<&OwnRepository>,
    ) -> Result<Policy, RunnerError> {
        let objects_elsewhere = match own {
            Some(own) => own.objects.elsewhere(&self.repository)?,
            None => Vec::new(),
        };
        let body_file = agent.context.issue_body_file();
        let others = self.folder_of_others();
        if let Some(own) = own {
            own.make_view(others, &worktree.path, body_file)?;
        }
        let context = PolicyContext {
            host: &self.config.host,
            definition: &agent.definition,
            worktree,
            common_folder: &self.repository.common_folder,
            own,
            objects_elsewhere,
            body_file,
            worktrees: &self.config.worktrees,
            others,
            home: self.agent_home(&worktree.path),
            private: &self.config.private,
            identity: shared.identity.clone(),
        };
        let mut environment = agent.environment.clone();
        if own.is_none() {
            add_shared_settings(&mut environment);
        }
        // Git does not find the identity in settings.
        if ["user.name", "user.email"].iter().any(|name| self.repository.setting(name).is_none()) {
            let identity = shared.identity.clone().unwrap_or_default();
            for role in ["AUTHOR", "COMMITTER"] {
                environment.insert(format!("GIT_{role}_NAME").into(), identity.name.clone().into());
                environment.insert(format!("GIT_{role}_EMAIL").into(), identity.email.clone().into());
            }
        }
        Ok(policy(&context, environment))
    }

    /// Returns the launcher of this run, and starts it at the first call.
    fn shared_launcher<'a>(&self, shared: &'a Shared<'_>, is_confined: bool) -> Result<&'a Launcher, String> {
        let cell = if is_confined { shared.confined } else { &shared.unconfined };
        self.launch(cell, is_confined)
    }

    fn launch<'a>(&self, cell: &'a LaunchCell, is_confined: bool) -> Result<&'a Launcher, String> {
        let launcher = cell.get_or_init(|| self.launcher(is_confined).map_err(|error| error_chain(&error)));
        launcher.as_deref().map_err(String::clone)
    }

    /// Returns the author of the agents' commits: the user's identity in git, whose variables override its settings.
    fn identity(&self) -> Option<GitIdentity> {
        let of = |variable: &str, setting: &str| {
            let text = self.config.host.variable(variable).map(|value| value.to_string_lossy().into_owned());
            text.filter(|text| !text.is_empty()).or_else(|| self.repository.setting(setting))
        };
        let name = of("GIT_AUTHOR_NAME", "user.name")?;
        let email = of("GIT_AUTHOR_EMAIL", "user.email")?;
        Some(GitIdentity { name, email })
    }
}
