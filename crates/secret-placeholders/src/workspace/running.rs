//! Running commands.

use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

use wap_core::{
    Call, CommandObserver, ConversationId, ExecuteCommand, ExecuteCommandResponse, OutputStream,
    PROCESS_PREFIX, StopProcess, StopProcessResponse, WapError, Workspace,
};

use super::PlaceholderWorkspace;
use super::judging::check_command;
use super::putting_back::PuttingBack;
use super::veil::Veil;
use crate::secrets::GivenValues;
use crate::{Marker, Secrets, StreamMask};

/// The maximum length of a command or a variable with restored values: more than the system accepts.
const MOST_COMMAND_BYTES: usize = 128 * 1_024;

impl<W: Workspace> PlaceholderWorkspace<W> {
    /// Returns a model's command as `execute_command` passes it on, with restored values.
    ///
    /// # Errors
    ///
    /// If a placeholder has no known value.
    pub fn restored_command(&self, request: &ExecuteCommand) -> Result<ExecuteCommand, WapError> {
        match &self.secrets {
            Some(secrets) => restored_command(secrets, request),
            // Ignore the request's own value: a model must not choose what the journal keeps.
            None => Ok(ExecuteCommand { recorded_command: None, ..request.clone() }),
        }
    }

    /// Remembers the values given to a command by a name, so that they are masked in its output.
    pub fn remember_command(&self, name: &str, request: &ExecuteCommand) {
        if let Some(secrets) = &self.secrets {
            secrets.remember_used(name, &used_in(secrets, request));
        }
    }

    /// Masks the outcome of a command that was carried out elsewhere, as `execute_command` does; `name` is the one
    /// given to [`remember_command`](Self::remember_command).
    ///
    /// # Errors
    ///
    /// The error of the outcome, masked.
    pub fn masked_outcome(
        &self,
        call: &Call<'_>,
        name: &str,
        outcome: Result<ExecuteCommandResponse, WapError>,
    ) -> Result<ExecuteCommandResponse, WapError> {
        let Some(secrets) = &self.secrets else { return outcome };
        let given = secrets.remembered_values(name);
        self.masked_with(secrets, call, given.as_ref(), outcome)
    }

    fn masked_with(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        given: Option<&GivenValues>,
        outcome: Result<ExecuteCommandResponse, WapError>,
    ) -> Result<ExecuteCommandResponse, WapError> {
        let veil = Veil::new(&self.inner, secrets, call, None).without_given(given);
        match outcome {
            Ok(ran) => {
                let mut ran = veil.all_outputs(ran);
                ran.warnings.extend(veil.cut_warning());
                let is_output_truncated = ran.is_output_truncated || veil.has_cut_output();
                Ok(ExecuteCommandResponse { is_output_truncated, ..ran })
            }
            Err(error) => Err(masked_error(&veil, error)),
        }
    }

    pub(super) fn run_masked(
        &self,
        secrets: &Arc<Secrets>,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        let restored_request = restored_command(secrets, request)?;
        let used = used_in(secrets, request);
        let given = secrets.given_values(&used);
        if let Some(name) = &request.background {
            // Before it can print anything.
            secrets.remember_used(&process_key(&call.origin.conversation, name), &used);
        }
        let mut masking = MaskedObserver {
            observer,
            secrets,
            given: given.as_ref(),
            stdout: StreamMask::new(secrets),
            stderr: StreamMask::new(secrets),
        };
        let ran = self.inner.execute_command(call, &restored_request, &mut masking);
        masking.finish();
        let whole_output = match &ran {
            Ok(ran) => ran.whole_output.as_deref(),
            Err(error) => error.detail("wholeOutput").and_then(|name| name.as_str()),
        };
        if let Some(output) = whole_output {
            secrets.remember_used(&output_key(&call.origin.conversation, output), &used);
        }
        self.masked_with(secrets, call, given.as_ref(), ran)
    }

    pub(super) fn stop_masked(
        &self,
        secrets: &Secrets,
        call: &Call<'_>,
        request: &StopProcess,
    ) -> Result<StopProcessResponse, WapError> {
        let given = secrets.remembered_values(&process_key(&call.origin.conversation, &request.name));
        let veil = Veil::new(&self.inner, secrets, call, None).without_given(given.as_ref());
        let stopped = self.inner.stop_process(call, request).map_err(|error| masked_error(&veil, error))?;
        let mut stopped = veil.all_outputs(stopped);
        stopped.warnings.extend(veil.cut_warning());
        let is_output_truncated = stopped.is_output_truncated || veil.has_cut_output();
        Ok(StopProcessResponse { is_output_truncated, ..stopped })
    }
}

/// Masks an error with output.
fn masked_error<W: Workspace>(veil: &Veil<'_, W>, error: WapError) -> WapError {
    let error = veil.all_outputs(error);
    if veil.has_cut_output() { error.with("isOutputTruncated", true) } else { error }
}

/// Returns a command with restored values.
fn restored_command(secrets: &Secrets, request: &ExecuteCommand) -> Result<ExecuteCommand, WapError> {
    check_command(secrets, request)?;
    let putting_back = PuttingBack::new(secrets);
    let mut restored_request = request.clone();
    restored_request.command = putting_back.at_most(&request.command, "command", MOST_COMMAND_BYTES)?;
    // Ignore the request's own value: a model must not choose what the journal keeps.
    restored_request.recorded_command = Some(secrets.mask_rest(&request.command).into_owned());
    if let Some(folder) = &mut restored_request.working_directory {
        *folder = putting_back.name(folder, "workingDirectory")?;
    }
    for value in restored_request.environment.iter_mut().flat_map(|variables| variables.values_mut()) {
        *value = putting_back.at_most(value, "environment", MOST_COMMAND_BYTES)?;
    }
    if let Some(text) = &mut restored_request.ready {
        *text = putting_back.name(text, "ready")?;
    }
    Ok(restored_request)
}

/// Returns the placeholders of a command whose values have to be masked in its output.
fn used_in(secrets: &Secrets, request: &ExecuteCommand) -> BTreeSet<Marker> {
    let variables = request.environment.iter().flat_map(|variables| variables.values());
    let others = request.working_directory.iter().chain(&request.ready).chain(variables);
    secrets.used_in(iter::once(&request.command).chain(others).map(String::as_str))
}

/// Returns the name by which the values of an output are remembered; `path` is the path for reading the output.
pub(super) fn output_key(conversation: &ConversationId, path: &str) -> String {
    format!("{} {path}", conversation.0)
}

fn process_key(conversation: &ConversationId, name: &str) -> String {
    output_key(conversation, &format!("{PROCESS_PREFIX}{name}"))
}

/// Forwards masked output.
struct MaskedObserver<'a> {
    observer: &'a mut dyn CommandObserver,
    secrets: &'a Secrets,
    given: Option<&'a GivenValues>,
    stdout: StreamMask,
    stderr: StreamMask,
}

impl MaskedObserver<'_> {
    fn finish(&mut self) {
        let (stdout, stderr) = (self.stdout.finish(), self.stderr.finish());
        self.pass(OutputStream::Stdout, &stdout);
        self.pass(OutputStream::Stderr, &stderr);
    }

    fn pass(&mut self, stream: OutputStream, masked: &str) {
        if !masked.is_empty() {
            let masked = self.secrets.without_given(masked, self.given);
            self.observer.output(stream, masked.as_bytes());
        }
    }
}

impl CommandObserver for MaskedObserver<'_> {
    fn started(&mut self, sandbox: &str) {
        self.observer.started(sandbox);
    }

    fn output(&mut self, stream: OutputStream, bytes: &[u8]) {
        let masked = match stream {
            OutputStream::Stdout => self.stdout.push(bytes),
            OutputStream::Stderr => self.stderr.push(bytes),
        };
        self.pass(stream, &masked);
    }
}
