//! `executeCommand`: record the start, run confined, record the outcome.

pub(crate) mod answer;
mod beyond_comparison;
mod command_files;
mod comparison;
pub(crate) mod effect;
pub(crate) mod effect_notes;
pub(crate) mod effects;
mod forge_names;
mod linked_names;
mod only_versions;
pub(crate) mod output_store;
pub(crate) mod recorded;
mod rights;
mod run;
pub(crate) mod tree_snapshot;
mod unnoticed_changes;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use change_journal::{ContentHash, StepKind};
use egress::Network;
use sandbox_exec::{FileConfinement, ShellCommand, Timeout};
use wap_core::{Call, CommandObserver, ExecuteCommand, Reason, WapError};

use crate::adopt::build_folder_check::Moment;
use crate::command::answer::{CommandOutcome, command_error, outcome_dropped, outcome_unknown};
use crate::command::command_files::CommandFiles;
use crate::command::output_store::output_name;
use crate::command::run::{PreparedCommand, Ran};
use crate::config::SandboxNeed;
use crate::engine::LocalWorkspace;
use crate::errors::journal_error;
use crate::read::explore::folder_error;
use crate::runs::{EngineRun, StepState};
use crate::step_record::{decode, encode, other_request};

/// The longest description of a command in the journal, in characters.
const DESCRIPTION_CHARACTERS: usize = 200;

impl LocalWorkspace {
    pub(crate) fn execute(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> CommandOutcome {
        if let Some(name) = &request.background {
            return self.start_process(call, (request, name), observer);
        }
        self.check_cancelled(call)?;
        let _one_command_at_a_time = self.command_turn(call)?;
        let run = EngineRun::enter(&self.journal, call.origin)?;
        let step = call.origin.step;
        let state = run.recall(step, StepKind::ShellCommand)?;
        let description = describe(request);
        if run.description(step).is_some_and(|recorded| !is_of(recorded, request, &description)) {
            return Err(other_request(step));
        }
        match state {
            StepState::Finished(recorded) => {
                let outcome = decode::<CommandOutcome>(recorded)?;
                // Recorded when the workspace was opened.
                if outcome.as_ref().is_err_and(|error| error.reason() == Reason::OutcomeUnknown) {
                    self.outputs.discard(&output_name(run.number(), step));
                }
                return outcome;
            }
            StepState::Unknown => {
                // No result refers to its output so far.
                self.outputs.discard(&output_name(run.number(), step));
                let is_untouched = self.untouched.contains(&(run.number(), step));
                let outcome = Err(if is_untouched { outcome_dropped() } else { outcome_unknown() });
                self.journal
                    .finish_step(run.number(), step, &encode(&outcome), &[])
                    .map_err(journal_error)?;
                return outcome;
            }
            StepState::NotStarted => {}
        }
        if request.ready.is_some() {
            let text = "`ready` is waited for with `background` only: give the process a name there";
            return Err(WapError::new(Reason::InvalidField, text).with("field", "ready"));
        }
        let (command, mut warnings) = self.check_command(call, request)?;
        let report = self.confinement()?;
        let files = self.command_files(&run, step)?;
        // The last point without a trace: after `start_step`, a crash leaves a step with an unknown outcome.
        self.check_cancelled(call)?;
        self.journal
            .start_step(run.number(), step, StepKind::ShellCommand, &description)
            .map_err(journal_error)?;
        warnings.extend(self.ended_processes(&call.origin.conversation));
        let output_name = output_name(run.number(), step);
        let prepared =
            PreparedCommand { command: &command, report: &report, output_name: &output_name, warnings };
        let began = Moment::now();
        let Ran { outcome, files, is_over } = self.run(call, prepared, files, observer);
        let outcome = self.check_build_folders(began, outcome);
        match files {
            CommandFiles::Layer(layer) if is_over => self.record_layered(&run, step, outcome, layer),
            CommandFiles::Layer(_) => self.record_dropped(&run, step, outcome),
            CommandFiles::Folder(before) => self.record_compared(&run, step, outcome, *before),
        }
    }

    /// Checks everything that can be refused before anything starts.
    pub(crate) fn check_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
    ) -> Result<(ShellCommand, Vec<String>), WapError> {
        if self.config.read_only {
            return Err(WapError::new(Reason::ReadOnly, "this workspace is read-only: commands are not run"));
        }
        let mut warnings = Vec::new();
        let timeout = self.timeout(call, request.timeout)?;
        if timeout.was_clamped() {
            warnings.push("the timeout was cut to one hour".to_owned());
        }
        let environment = request.environment.iter().flatten();
        let environment = environment.map(|(name, value)| (name.into(), value.into())).collect();
        let mut command = ShellCommand::new(&request.command)
            .and_then(|command| command.with_timeout(timeout).with_environment(environment))
            .map_err(command_error)?;
        if let Some(folder) =
            request.working_directory.as_deref().filter(|folder| !matches!(*folder, "" | "."))
        {
            command = command.in_directory(self.working_directory(folder)?);
        }
        Ok((command, warnings))
    }

    pub(crate) fn timeout(&self, call: &Call<'_>, requested: Option<i64>) -> Result<Timeout, WapError> {
        let milliseconds = match requested {
            None => self.config.limits.max_execution_time,
            Some(requested) => {
                u64::try_from(requested).ok().filter(|requested| *requested > 0).ok_or_else(|| {
                    let text = format!("the timeout is {requested}: give milliseconds, more than 0");
                    WapError::new(Reason::InvalidField, text).with("field", "timeout")
                })?
            }
        };
        let timeout = Duration::from_millis(milliseconds);
        let timeout = call.time_left.map_or(timeout, |left| timeout.min(left));
        if call.time_left.is_some_and(|left| left.is_zero()) {
            return Err(WapError::new(Reason::Timeout, "no time was left, so the command was not started"));
        }
        Timeout::new(timeout).map_err(command_error)
    }

    fn working_directory(&self, folder: &str) -> Result<PathBuf, WapError> {
        let path = self.folder_path(folder)?;
        self.hidden.check(&path)?;
        let limits = sandbox_fs::WalkLimits { depth: 0, ..sandbox_fs::WalkLimits::default() };
        let walk = self.root.walk(&path, limits).map_err(|error| folder_error(&error, folder))?;
        self.hidden.check(walk.start())?;
        // The command resolves its folder itself, inside the sandbox; only a name can be passed in.
        Ok(self.config.policy.workspace.join(OsStr::from_bytes(walk.start().as_bytes())))
    }

    /// Returns the confinement in force, if it is enough.
    pub(crate) fn confinement(&self) -> Result<String, WapError> {
        let report = self.sandbox_report()?;
        let refused = |text: String| {
            Err(WapError::new(Reason::SandboxUnavailable, text).with("sandbox", report.to_string()))
        };
        // Only if commands have their own file tree can a folder be hidden from it; and a folder that is missing or a
        // symlink cannot be covered by a mount.
        let can_hide = |folder: &Path| {
            report.fs == FileConfinement::Root
                && folder.canonicalize().is_ok_and(|canonical| canonical == folder)
        };
        let is_state_open = self.config.state_folder_path().is_some_and(|folder| !can_hide(&folder));
        match self.config.sandbox {
            SandboxNeed::AtLeast(needed) if report.level < needed => {
                // Also name the next refusal, which the user could not foresee.
                let elsewhere = if is_state_open { " and --base DIR with a folder elsewhere" } else { "" };
                return refused(format!(
                    "commands need confinement of level {needed}, and this machine gives {}: the user can allow it with \
                     --sandbox allow={}{elsewhere}, and `agentd doctor` says what is missing",
                    report.level, report.level
                ));
            }
            _ => {}
        }
        if is_state_open {
            return refused(
                "commands could change agentd's own state, which is in the workspace, and this machine cannot hide it \
                 from them: the user can keep it elsewhere with --base"
                    .to_owned(),
            );
        }
        if matches!(self.config.network, Network::Names(_)) && !self.launcher()?.can_limit_network_to_names()
        {
            return refused(
                "commands may connect to some names only, and this machine cannot limit the network to names: the user can \
                 choose --network off or --network on, and `agentd doctor` says what is missing"
                    .to_owned(),
            );
        }
        self.sandbox_line()
    }
}

/// One line for the log, by which equal requests are recognised: parts that are left out are represented by a digest.
pub(crate) fn describe(request: &ExecuteCommand) -> String {
    let mut command = first_line(request);
    if let Some(name) = &request.background {
        command.insert_str(0, &format!("background {name}: "));
    }
    let asks_more = request.environment.as_ref().is_some_and(|environment| !environment.is_empty())
        || request.working_directory.is_some();
    if !asks_more && recorded(request).chars().count() <= DESCRIPTION_CHARACTERS {
        return command;
    }
    let environment: BTreeMap<_, _> = request.environment.iter().flatten().collect();
    let digest = ContentHash::of(&encode(&(recorded(request), &request.working_directory, environment)));
    format!("{command} #{:.8}", digest.to_string())
}

/// The text that the journal keeps: an adapter may have put a secret into the command.
fn recorded(request: &ExecuteCommand) -> &str {
    request.recorded_command.as_deref().unwrap_or(&request.command)
}

pub(crate) fn first_line(request: &ExecuteCommand) -> String {
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    recorded(request).replace("\r\n", "\n").chars().take(DESCRIPTION_CHARACTERS).map(printable).collect()
}

/// Checks whether a step was recorded for this request. Older versions described it only by the beginning of its text.
pub(crate) fn is_of(recorded: &str, request: &ExecuteCommand, description: &str) -> bool {
    recorded == description || recorded == first_line(request)
}
