//! Results of commands and background processes.

use wap_core::{Denied, ExecuteCommandResponse, ProcessState, StartedProcess, StopProcessResponse};

use super::command_output;
use crate::{BlockKind, CommandResult, CommandType, Dialect};

/// Returns the result of a command that ended by itself.
pub(super) fn command_ended(
    command: &str,
    response: ExecuteCommandResponse,
    dialect: Dialect,
) -> CommandResult {
    let running = response.background.as_ref().filter(|process| process.state != ProcessState::Ended);
    let mut summary = match running {
        Some(StartedProcess { name, state, output }) => format!(
            "Started '{command}' in the background as '{name}' ({}); READ_FILE path=\"{output}\" shows its output",
            if *state == ProcessState::Ready { "ready" } else { "running" }
        ),
        None => format!("Ran '{command}' (exit code {})", response.exit_code),
    };
    if let Some(signal) = &response.signal {
        summary.push_str(&format!(", ended by {signal}"));
    }
    let output = command_output::joined(&response.stdout, &response.stderr);
    let whole_output = response.whole_output.as_deref();
    let output = command_output::bounded(output, whole_output, response.is_output_truncated, dialect);
    CommandResult {
        command_type: CommandType::Block(BlockKind::RunCommand),
        summary,
        success: response.exit_code == 0,
        output,
        notes: response.warnings.clone(),
        denied: lines(&response.denied),
    }
}

/// Returns the result of a process that was stopped, or had already ended.
pub(super) fn process_stopped(response: &StopProcessResponse, dialect: Dialect) -> CommandResult {
    let name = &response.name;
    let summary = match (response.had_ended, response.exit_code) {
        (true, Some(code)) => format!("'{name}' had ended by itself (exit code {code})"),
        (false, Some(code)) => format!("Stopped '{name}' (exit code {code})"),
        (_, None) => format!("Stopped '{name}', which had to be killed"),
    };
    let output =
        command_output::bounded(response.output.clone(), None, response.is_output_truncated, dialect);
    CommandResult {
        command_type: CommandType::Block(BlockKind::StopProcess),
        summary,
        success: true,
        output,
        notes: response.warnings.clone(),
        denied: lines(&response.denied),
    }
}

/// Renders the refusals of a command's confinement, one line each.
pub(super) fn lines(denied: &[Denied]) -> Vec<String> {
    denied.iter().map(Denied::to_string).collect()
}
