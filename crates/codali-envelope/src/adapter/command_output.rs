//! `command.output`: the output of the flow's command.

use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::fit;
use super::need_call::{Answer, NeedCall};
use crate::{CommandOutputResult, NeedResult, WarningCode};

/// The output of an executed command of the user, such as the tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandOutput {
    /// The command.
    pub command: String,
    /// True if it ended with exit code 0.
    pub succeeded: bool,
    /// The outcome in one line, with the exit code.
    pub outcome: String,
    /// Its output.
    pub output: String,
}

/// Answers with the output of the executed command. A request cannot name another command: that would run it.
pub(super) fn output(frame: &mut NeedCall<'_>) -> Answer {
    let Some(CommandOutput { command, succeeded, outcome, output }) = frame.sources.command else {
        return Err(Failure::about(WarningCode::UnsupportedNeed, "command.output")
            .saying("no command has run: there is no output"));
    };
    // The result also contains the command, which the need lacks.
    let room = frame.room.saturating_sub(command.len() + outcome.len());
    let lines = fit::lines(output.clone(), room);
    let truncated = lines.kept < lines.total;
    if truncated {
        frame.warn_cut("command.output", lines.kept, lines.total);
    }
    Ok(NeedResult::CommandOutput(CommandOutputResult {
        command: command.clone(),
        succeeded: *succeeded,
        outcome: outcome.clone(),
        truncated,
        total_lines: truncated.then_some(lines.total),
        content: lines.text,
    }))
}
