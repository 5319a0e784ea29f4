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
    /// True if the worktree has folders of branches and objects of its own since.
    pub(crate) owns_folders: bool,
}

impl LoneCheck {
    /// Returns a check that was not started.
    pub(crate) fn not_run(result: CheckResult) -> LoneCheck {
        LoneCheck { result: Some(result), ..LoneCheck::default() }
    }
}

/// Returns the reason for which a launcher may not start an agent of this definition, or its check.
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
    /// Runs the check of the only agent of `plan`, which has not run here, in its worktree: confined as the agent would be.
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
        let failed = |detail: String| LoneCheck::not_run(CheckResult { passed: false, detail });
        let launcher = match self.shared_launcher(&shared, agent.definition.is_confined) {
            Ok(launcher) => launcher,
            Err(detail) => return Ok(failed(detail)),
        };
        if let Some(fault) = network_fault(&agent.definition, launcher) {
            return Ok(failed(fault.to_owned()));
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
        remove_if_there(body_file)?;
        let was_cancelled = note.reason() == Some(StopReason::Cancelled);
        Ok(LoneCheck { result, was_cancelled, owns_folders: own.is_some() })
    }

    /// Runs the check command in the agent's worktree, confined as the agent was.
    pub(super) fn run_check(
        &self,
        shared: &Shared<'_>,
        agent: &PlannedAgent,
        worktree: &Worktree,
        note: &Arc<StopNote>,
    ) -> Option<CheckResult> {
        let text = agent.definition.check.as_ref()?;
        let failed = |detail: String| Some(CheckResult { passed: false, detail });
        let timeout = Timeout::new(agent.timeout).ok()?;
        let command = match ShellCommand::new(text) {
            Ok(command) => command.with_timeout(timeout),
            Err(error) => return failed(error.to_string()),
        };
        let launcher = match self.shared_launcher(shared, agent.definition.is_confined) {
            Ok(launcher) => launcher,
            Err(detail) => return failed(detail),
        };
        let mut own = self.own_repository(launcher, agent, worktree);
        if let Some(own) = &mut own {
            // The check reads the repository's objects. The agent's own may have forged contents under valid names.
            own.objects = own.objects.clone().for_check();
            if let Err(error) = own.objects.make(&self.repository) {
                return failed(error_chain(&error));
            }
        }
        let policy = match self.policy(shared, agent, worktree, own.as_ref()) {
            Ok(policy) => policy,
            Err(error) => return failed(error_chain(&error)),
        };
        let running = match launcher.spawn(&policy, &command) {
            Ok(running) => running,
            Err(error) => return failed(error_chain(&error)),
        };
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
            log: Some(HeadFollower::new(&worktree.git_folder)),
            note: Arc::clone(note),
            stopping_since: None,
        });
        let waited = running.wait();
        let reason = note.close();
        shared.watch.remove(name, shared.observer);
        // Whatever its exit code is: a check that was asked to end has not come to its result.
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
                Some(CheckResult { passed: ending.is_success(), detail: format!("{ending}{missing}") })
            }
            Err(error) => failed(error_chain(&error)),
        }
    }
}
