//! The check command, which runs in an agent's worktree when the agent has ended.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use cocode_env::CheckResult;
use egress::Network;
use sandbox_exec::{Ending, Launcher, NetworkConfinement, Outcome, ShellCommand, Timeout};

use super::Shared;
use crate::error::{RunnerError, error_chain};
use crate::plan::definition::AgentDefinition;
use crate::plan::{PlannedAgent, RunPlan};
use crate::repository::head_log::HeadFollower;
use crate::repository::worktree::{Worktree, file_error};
use crate::run::event::RunObserver;
use crate::run::stop::{StopFlag, StopNote, StopReason};
use crate::run::watch::Watched;
use crate::runner::{Runner, remove_if_there};

/// A check that ran without its agent.
#[derive(Debug, Default)]
pub(crate) struct LoneCheck {
    /// The result; `None` if there is no check.
    pub(crate) result: Option<CheckResult>,
    /// True if it was cancelled, by the user or by the stop of all.
    pub(crate) was_cancelled: bool,
    /// True if the worktree now has its own folders of branches and objects.
    pub(crate) owns_folders: bool,
}

/// Returns the reason that a launcher may not start an agent of this definition, or its check.
pub(super) fn network_fault(definition: &AgentDefinition, launcher: &Launcher) -> Option<&'static str> {
    if matches!(definition.network, Network::Names(_)) && !launcher.can_limit_network_to_names() {
        return Some("it may connect to some names only, and this machine cannot limit the network to names");
    }
    if definition.network == Network::Off && launcher.report().net == NetworkConfinement::Open {
        return Some("it may not use the network, and this machine cannot enforce that");
    }
    None
}

impl Runner {
    /// Runs the check of the only agent of `plan`, which has not run here, in its worktree: confined like the agent.
    ///
    /// # Errors
    /// [`RunnerError::CheckNotRun`] and those of files, if this machine cannot run it.
    pub(crate) fn check_alone(
        &self,
        plan: &RunPlan,
        body: &str,
        worktree: &Worktree,
        stop: &StopFlag,
        observer: &dyn RunObserver,
    ) -> Result<LoneCheck, RunnerError> {
        let Some(agent) = plan.agents.first() else { return Ok(LoneCheck::default()) };
        let confined = OnceLock::new();
        let shared = self.shared(plan, body, stop, observer, &confined);
        let not_run = |why| RunnerError::CheckNotRun { agent: agent.definition.name.clone(), why };
        let launcher = self.shared_launcher(&shared, agent.definition.is_confined).map_err(not_run)?;
        if let Some(fault) = network_fault(&agent.definition, launcher) {
            return Err(not_run(fault.to_owned()));
        }
        let body_file = agent.context.issue_body_file();
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(body_file);
        made.and_then(|mut file| file.write_all(body.as_bytes())).map_err(file_error("write", body_file))?;
        let own = self.own_repository(launcher, agent, worktree);
        if let Some(own) = &own {
            let commit = self.repository.commit(&format!("refs/heads/{}", agent.branch));
            own.make(&self.repository, commit.as_deref().unwrap_or(&plan.base.commit))?;
        }
        let note = Arc::new(StopNote::default());
        let result = std::thread::scope(|scope| {
            let watcher = scope.spawn(|| shared.watch.run(stop, observer));
            let result = self.run_check(&shared, agent, worktree, &note);
            shared.watch.finish();
            // The scope passes a panic on.
            let _ = watcher.join();
            result
        });
        self.remove_home(&worktree.path);
        remove_if_there(body_file)?;
        let result = result.map_err(not_run)?;
        let was_cancelled = note.reason() == Some(StopReason::Cancelled);
        Ok(LoneCheck { result, was_cancelled, owns_folders: own.is_some() })
    }

    /// Runs the check command in the agent's worktree, confined like the agent. An error is the reason that this machine could
    /// not run it.
    pub(super) fn run_check(
        &self,
        shared: &Shared<'_>,
        agent: &PlannedAgent,
        worktree: &Worktree,
        note: &Arc<StopNote>,
    ) -> Result<Option<CheckResult>, String> {
        let failed = |detail: String| Ok(Some(CheckResult { passed: false, detail }));
        let (Some(text), Ok(timeout)) = (&agent.definition.check, Timeout::new(agent.timeout)) else {
            return Ok(None);
        };
        let command = match ShellCommand::new(text) {
            Ok(command) => command.with_timeout(timeout),
            Err(error) => return failed(error.to_string()),
        };
        let launcher = self.shared_launcher(shared, agent.definition.is_confined)?;
        let mut own = self.own_repository(launcher, agent, worktree);
        let mut git_folder = worktree.git_folder.clone();
        if let Some(own) = &mut own {
            // The check reads the repository's objects. The agent's own may have forged contents under valid names.
            own.objects = own.objects.clone().for_check();
            let made = own.objects.make(&self.repository).and_then(|()| own.git_folder.begin());
            made.map_err(|error| error_chain(&error))?;
            git_folder = own.git_folder.path().to_owned();
        }
        let policy = self.policy(shared, agent, worktree, own.as_ref());
        let policy = policy.map_err(|error| error_chain(&error))?;
        let running = launcher.spawn(&policy, &command).map_err(|error| error_chain(&error))?;
        let name = &agent.definition.name;
        shared.watch.add(Watched {
            agent: name.clone(),
            killer: running.killer(),
            deadline: Instant::now() + agent.timeout,
            cancel_file: self
                .config
                .state_folder
                .join("cancel")
                .join(format!("{}-{name}", agent.context.issue)),
            log: Some(HeadFollower::new(&git_folder)),
            repository: self.repository.clone(),
            note: Arc::clone(note),
            stopping_since: None,
        });
        let waited = running.wait();
        let reason = note.close();
        shared.watch.remove(name, shared.observer);
        // Whatever its exit code is: a check that was asked to end has no result.
        match reason {
            Some(StopReason::Deadline) => return failed("it took too long".to_owned()),
            Some(StopReason::Cancelled) => return failed("it was cancelled".to_owned()),
            None => {}
        }
        match waited {
            Ok(Outcome { ending, .. }) => {
                let missing = match ending {
                    Ending::Exited(127) => ": the shell did not find a command of it",
                    _ => "",
                };
                Ok(Some(CheckResult { passed: ending.is_success(), detail: format!("{ending}{missing}") }))
            }
            Err(error) => Err(error_chain(&error)),
        }
    }
}
