//! `executeCommand`: record the start, run confined, record the outcome.

use std::path::Path;
use std::time::Duration;

use change_journal::{JournalError, StepKind};
use sandbox_exec::{
    CommandError, Ending, FileConfinement, Outcome, OutputStream as ExecStream, ShellCommand, SpawnError,
    Spool, Timeout, WaitError,
};
use serde_json::Value;
use wap_core::{
    Call, CommandObserver, ExecuteCommand, ExecuteCommandResponse, OutputStream, Reason, WapError,
};

use crate::config::SandboxNeed;
use crate::engine::LocalWorkspace;
use crate::errors::{fs_error, journal_error};
use crate::output_store::{OUTPUT_LIMIT_BYTES, OUTPUT_PREFIX};
use crate::runs::{EngineRun, Known};
use crate::step_record::{decode, encode};

/// Outputs up to this many bytes in both streams together are never worth a file.
const SMALL_OUTPUT_BYTES: u64 = 4_000;

/// The longest description of a command in the journal, in characters.
const DESCRIPTION_CHARACTERS: usize = 200;

type CommandOutcome = Result<ExecuteCommandResponse, WapError>;

impl LocalWorkspace {
    pub(crate) fn execute(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> CommandOutcome {
        self.check_cancelled(call)?;
        let _one_command_at_a_time = self.command_turn(call)?;
        let run = EngineRun::enter(&self.journal, call.origin)?;
        let step = call.origin.step;
        match run.recall(step, StepKind::ShellCommand)? {
            Known::Finished(recorded) => return decode::<CommandOutcome>(recorded)?,
            Known::Unknown => {
                // No result names what it had written by then.
                self.outputs.discard(&output_name(&run, step));
                let outcome = Err(outcome_unknown());
                self.journal
                    .finish_step(run.number(), step, &encode(&outcome), &[])
                    .map_err(journal_error)?;
                return outcome;
            }
            Known::NotStarted => {}
        }
        let (command, warnings) = self.check_command(call, request)?;
        let report = self.confinement()?;
        self.check_cancelled(call)?;
        self.journal
            .start_step(run.number(), step, StepKind::ShellCommand, &describe(command.text()))
            .map_err(journal_error)?;
        let outcome = self.run(call, &command, &report, &output_name(&run, step), warnings, observer);
        self.record(&run, step, outcome)
    }

    /// Records how a command ended, and answers with it.
    fn record(&self, run: &EngineRun<'_>, step: u32, outcome: CommandOutcome) -> CommandOutcome {
        let finish =
            |outcome: &CommandOutcome| self.journal.finish_step(run.number(), step, &encode(outcome), &[]);
        match finish(&outcome) {
            Ok(_) => outcome,
            Err(JournalError::TooLarge { .. }) => {
                let outcome = without_output(outcome);
                finish(&outcome).map_err(|error| unrecorded(&error, &outcome))?;
                outcome
            }
            Err(error) => Err(unrecorded(&error, &outcome)),
        }
    }

    /// Checks everything that can be refused before anything starts.
    fn check_command(
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

    fn timeout(&self, call: &Call<'_>, asked: Option<i64>) -> Result<Timeout, WapError> {
        let milliseconds = match asked {
            None => self.config.limits.max_execution_time,
            Some(asked) => u64::try_from(asked).ok().filter(|asked| *asked > 0).ok_or_else(|| {
                let text = format!("the timeout is {asked}: give milliseconds, more than 0");
                WapError::new(Reason::InvalidField, text).with("field", "timeout")
            })?,
        };
        let timeout = Duration::from_millis(milliseconds);
        let timeout = call.time_left.map_or(timeout, |left| timeout.min(left));
        if call.time_left.is_some_and(|left| left.is_zero()) {
            return Err(WapError::new(Reason::Timeout, "no time was left, so the command was not started"));
        }
        Timeout::new(timeout).map_err(command_error)
    }

    fn working_directory(&self, folder: &str) -> Result<std::path::PathBuf, WapError> {
        let path = self.folder_path(folder)?;
        self.hidden.check(&path)?;
        let limits = sandbox_fs::WalkLimits { depth: 0, ..sandbox_fs::WalkLimits::default() };
        let walk = self.root.walk(&path, limits).map_err(|error| fs_error(&error, folder))?;
        self.hidden.check(walk.start())?;
        // The command resolves its folder itself, inside the sandbox; a name is all that can be handed in.
        Ok(self.config.policy.workspace.join(os_path(walk.start().as_bytes())))
    }

    /// What confines commands, if it is enough.
    fn confinement(&self) -> Result<String, WapError> {
        let report = self.sandbox_report()?;
        let refused = |text: String| {
            Err(WapError::new(Reason::SandboxUnavailable, text).with("sandbox", report.to_string()))
        };
        match self.config.sandbox {
            SandboxNeed::AtLeast(needed) if report.level < needed => {
                return refused(format!(
                    "commands need confinement of level {needed}, and this machine gives {}: the user can allow it with \
                     --sandbox allow={}, and `agentd doctor` says what is missing",
                    report.level, report.level
                ));
            }
            _ => {}
        }
        // Only where commands have a file tree of their own can a folder be missing from it; and nothing can be put over
        // a folder that is not there, or is a link.
        let can_hide = |folder: &Path| {
            report.fs == FileConfinement::Root
                && folder.canonicalize().is_ok_and(|canonical| canonical == folder)
        };
        if self.config.state_folder_path().is_some_and(|folder| !can_hide(&folder)) {
            return refused(
                "commands could change agentd's own state, which lies in the workspace, and this machine cannot hide it \
                 from them: the user can keep it elsewhere with --base"
                    .to_owned(),
            );
        }
        Ok(report.to_string())
    }

    fn run(
        &self,
        call: &Call<'_>,
        command: &ShellCommand,
        report: &str,
        output_name: &str,
        mut warnings: Vec<String>,
        observer: &mut dyn CommandObserver,
    ) -> CommandOutcome {
        let running = self.launcher()?.spawn(&self.config.policy, command).map_err(spawn_error)?;
        observer.started(report);
        let killer = running.killer();
        let _kill_on_cancel = call.cancel.on_cancel(Box::new(move || killer.cancel()));
        // Without a file the command runs all the same; what is left out is then counted only.
        let spool = self.outputs.create(output_name).ok().map(|file| Spool::new(file, OUTPUT_LIMIT_BYTES));
        let mut watch = |stream: ExecStream, bytes: &[u8]| {
            let stream = match stream {
                ExecStream::Stdout => OutputStream::Stdout,
                ExecStream::Stderr => OutputStream::Stderr,
            };
            observer.output(stream, bytes);
        };
        let outcome = running.wait_with(&mut watch, spool).map_err(|error| {
            self.outputs.discard(output_name);
            wait_error(error)
        })?;
        let total = outcome.stdout.total_bytes + outcome.stderr.total_bytes;
        let is_kept = total > SMALL_OUTPUT_BYTES && outcome.spooled.is_some();
        if !is_kept {
            self.outputs.discard(output_name);
        }
        let whole_output = is_kept.then(|| format!("{OUTPUT_PREFIX}{output_name}"));
        if let Some(spooled) = outcome.spooled.filter(|spooled| is_kept && spooled.omitted_bytes > 0) {
            warnings.push(format!("the last {} bytes of the output were not kept", spooled.omitted_bytes));
        }
        if !outcome.output_complete {
            warnings.push("a process that stayed in the background was ended with the command".to_owned());
        }
        self.outputs.make_room(output_name);
        answer(&outcome, whole_output, report, warnings)
    }
}

/// Turns a command's end into an answer.
fn answer(
    outcome: &Outcome,
    whole_output: Option<String>,
    report: &str,
    warnings: Vec<String>,
) -> CommandOutcome {
    let gap = |omitted: u64| match &whole_output {
        Some(name) => format!("\n… {omitted} bytes left out; readFile '{name}' gives the whole output …\n"),
        None => format!("\n… {omitted} bytes left out …\n"),
    };
    let stdout = collapse_progress(&outcome.stdout.text(gap));
    let stderr = collapse_progress(&outcome.stderr.text(gap));
    let is_output_truncated = outcome.stdout.omitted_bytes() + outcome.stderr.omitted_bytes() > 0;
    let duration_ms = u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX);
    let (reason, text) = match outcome.ending {
        Ending::TimedOut { limit } => {
            (Reason::Timeout, format!("the command timed out after {} s and was killed", limit.as_secs_f64()))
        }
        Ending::Cancelled => (Reason::Cancelled, "the command was cancelled and killed".to_owned()),
        Ending::KilledForMemory { limit_bytes } => (
            Reason::KilledForMemory,
            format!("the command was killed at its memory limit of {limit_bytes} bytes"),
        ),
        ending => {
            let signal = match ending {
                Ending::Signaled(signal) => Some(signal.to_string()),
                _ => None,
            };
            return Ok(ExecuteCommandResponse {
                stdout,
                stderr,
                exit_code: ending.exit_code().unwrap_or(-1),
                is_output_truncated,
                duration_ms,
                signal,
                whole_output,
                sandbox: report.to_owned(),
                warnings,
            });
        }
    };
    let mut error = WapError::new(reason, text)
        .with("stdout", stdout)
        .with("stderr", stderr)
        .with("isOutputTruncated", is_output_truncated)
        .with("durationMs", duration_ms)
        .with("sandbox", report);
    if let Some(name) = whole_output {
        error = error.with("wholeOutput", Value::from(name));
    }
    if !warnings.is_empty() {
        error = error.with("warnings", warnings);
    }
    Err(error)
}

/// The file of a command's whole output.
fn output_name(run: &EngineRun<'_>, step: u32) -> String {
    format!("{}-{step}.txt", run.number())
}

/// One line for the log.
fn describe(command: &str) -> String {
    let printable = |character: char| if character.is_control() { ' ' } else { character };
    command.chars().take(DESCRIPTION_CHARACTERS).map(printable).collect()
}

/// The same outcome for a record that cannot take all of it.
fn without_output(outcome: CommandOutcome) -> CommandOutcome {
    const LEFT_OUT: &str = "… the output is too long to be recorded …\n";
    match outcome {
        Ok(response) => Ok(ExecuteCommandResponse {
            stdout: LEFT_OUT.to_owned(),
            stderr: String::new(),
            is_output_truncated: true,
            ..response
        }),
        Err(error) => Err(error.with("stdout", LEFT_OUT).with("stderr", "").with("isOutputTruncated", true)),
    }
}

/// A command has run, and nothing will know how it ended.
fn unrecorded(error: &JournalError, outcome: &CommandOutcome) -> WapError {
    let reason = match error {
        JournalError::NoSpace => Reason::NoSpace,
        _ => Reason::WriteError,
    };
    let ending = match outcome {
        Ok(response) => format!("it ended with exit code {}", response.exit_code),
        Err(error) => error.to_string(),
    };
    let text = format!("the command was run, but this could not be recorded ({error}); {ending}");
    let wap = WapError::new(reason, text);
    match outcome {
        Ok(response) => wap
            .with("exitCode", response.exit_code)
            .with("stdout", response.stdout.as_str())
            .with("stderr", response.stderr.as_str()),
        Err(error) => error.details().fold(wap, |wap, (name, value)| wap.with(name, value.clone())),
    }
}

/// Shows of a line that was rewritten with carriage returns only what stood there last.
fn collapse_progress(text: &str) -> String {
    if !text.contains('\r') {
        return text.to_owned();
    }
    let mut collapsed = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (body, ending) = match line.strip_suffix("\r\n").map(|body| (body, "\r\n")) {
            Some(parts) => parts,
            None => line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n")),
        };
        let body = body.trim_end_matches('\r');
        collapsed.push_str(body.rsplit('\r').next().unwrap_or(body));
        collapsed.push_str(ending);
    }
    collapsed
}

fn os_path(bytes: &[u8]) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).into()
}

fn outcome_unknown() -> WapError {
    WapError::new(
        Reason::OutcomeUnknown,
        "the daemon stopped while this command ran; it was not run again: look at what it has done before repeating it",
    )
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn command_error(error: CommandError) -> WapError {
    let reason = match &error {
        CommandError::Empty => Reason::EmptyCommand,
        CommandError::VariableRefused { .. } => Reason::EnvironmentNotAllowed,
        CommandError::TooLong { .. } | CommandError::EnvironmentTooLong { .. } => Reason::RequestTooLarge,
        _ => Reason::InvalidField,
    };
    WapError::new(reason, error.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn spawn_error(error: SpawnError) -> WapError {
    match error {
        SpawnError::Unconfirmed => ending_unknown(&error.to_string()),
        _ => WapError::new(Reason::SpawnFailed, format!("the command was not started: {error}")),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn wait_error(error: WaitError) -> WapError {
    ending_unknown(&error.to_string())
}

/// It is over, and how it ended is not known. Nothing is wrong with the workspace.
fn ending_unknown(cause: &str) -> WapError {
    let text =
        format!("how the command ended is not known: {cause}; look at what it has done before repeating it");
    WapError::new(Reason::OutcomeUnknown, text).with("cause", cause)
}

#[cfg(test)]
mod tests {
    use super::collapse_progress;

    #[test]
    fn a_rewritten_line_shows_what_stood_there_last() {
        assert_eq!(collapse_progress("10%\r50%\r100%\ndone\n"), "100%\ndone\n");
        assert_eq!(collapse_progress("dos\r\nlines\r\n"), "dos\r\nlines\r\n");
        assert_eq!(collapse_progress("50%\r"), "50%");
    }
}
