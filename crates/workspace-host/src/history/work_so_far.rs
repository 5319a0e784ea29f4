//! The work of a conversation as text, for a session that continues it.

use std::fmt::Write;

use change_journal::{JournalReader, RunFilter, StepKind};
use local_workspace::conversation_differences;
use tag_session::read_session;
use tagproto::{Handover, SessionId, USUAL_BUDGET};
use wap_core::{ExecuteCommandResponse, WapError, visible_line};

use crate::failure::{Exit, Failure};
use crate::owner::session_call::SessionRefusal;

/// The most runs of a conversation that are looked at for its commands, the newest first.
const MOST_RUNS: u32 = 1_000;

/// The part of the token budget that the work may take, at about three characters a token.
const CHARACTERS_PER_TOKEN: usize = 1;

/// The most commands that are listed, the newest.
const MOST_COMMANDS: usize = 20;

/// The most characters of a command.
const COMMAND_CHARACTERS: usize = 200;

/// The most characters of the output of a failure, of its end.
const FAILURE_CHARACTERS: usize = 4_000;

/// Describes the work of a conversation: its task, its commands with their results, the failure that is still open, and the
/// differences that it has made to files, within a third of a message. Files for which `leaves_out` holds are only named, and of an output only
/// the end is quoted, of what `mask` makes of the whole.
///
/// # Errors
///
/// If there is no such conversation, or the journal cannot be read.
pub(crate) fn work_so_far(
    journal: &JournalReader,
    from: &str,
    budget: Option<u32>,
    leaves_out: &dyn Fn(&str) -> bool,
    mask: &dyn Fn(&str) -> String,
) -> Result<Handover, SessionRefusal> {
    let most = usize::try_from(budget.unwrap_or(USUAL_BUDGET)).unwrap_or(usize::MAX) * CHARACTERS_PER_TOKEN;
    let failed = |error: change_journal::JournalError| {
        Failure::new(Exit::Failed, format!("the journal cannot be read: {error}"))
    };
    let filter = RunFilter { conversation: Some(from.to_owned()), ..RunFilter::default() };
    let runs = journal.runs(&filter, MOST_RUNS).map_err(failed)?;
    if runs.is_empty() {
        let failure = Failure::new(Exit::Usage, format!("there is no work of a conversation '{from}'"));
        return Err(failure.advise("`agentd sessions` and `agentd log` name the conversations").into());
    }
    let mut text = String::new();
    let session = from.parse::<SessionId>().ok().and_then(|id| read_session(journal, id).ok());
    if let Some(session) = session {
        let _ = writeln!(text, "The task was: {}\n", session.task.trim());
    }
    let commands = commands(journal, &runs).map_err(failed)?;
    write_commands(&mut text, &commands, mask);
    let differences = conversation_differences(journal, from).map_err(failed)?;
    if !differences.is_empty() {
        let _ = writeln!(text, "The files that it has changed, as differences:");
    }
    let mut left_out = Vec::new();
    for difference in differences.iter().filter(|difference| !difference.diff.is_empty()) {
        if leaves_out(&difference.path) || text.len() + difference.diff.len() > most {
            left_out.push(difference.path.as_str());
            continue;
        }
        let _ = writeln!(text, "\n{}", difference.diff.trim_end());
    }
    if !left_out.is_empty() {
        let names = left_out.iter().take(50).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "\nNot shown, because they are long: {names}. Read them if they matter.");
    }
    Ok(Handover { from: from.to_owned(), text })
}

/// A command with its outcome; `None` if it is not known.
struct Ran {
    command: String,
    outcome: Option<Result<ExecuteCommandResponse, WapError>>,
}

/// Returns the newest commands, the oldest first.
fn commands(
    journal: &JournalReader,
    runs: &[change_journal::RecordedRun],
) -> Result<Vec<Ran>, change_journal::JournalError> {
    let mut commands = Vec::new();
    for run in runs {
        let steps = journal.steps(run.number)?;
        for step in steps.iter().rev().filter(|step| step.kind == StepKind::ShellCommand) {
            let outcome = step.outcome.as_deref().and_then(|bytes| serde_json::from_slice(bytes).ok());
            // What a kept trial has adopted is a step without a command of its own.
            if !step.description.starts_with('(') {
                commands.push(Ran { command: step.description.clone(), outcome });
            }
        }
        if commands.len() >= MOST_COMMANDS {
            break;
        }
    }
    commands.truncate(MOST_COMMANDS);
    commands.reverse();
    Ok(commands)
}

fn write_commands(text: &mut String, commands: &[Ran], mask: &dyn Fn(&str) -> String) {
    if commands.is_empty() {
        return;
    }
    let _ = writeln!(text, "Its last commands:");
    for Ran { command, outcome } in commands {
        let result = match outcome {
            Some(Ok(response)) => format!("exit code {}", response.exit_code),
            Some(Err(error)) => visible_line(error.message(), COMMAND_CHARACTERS),
            None => "outcome unknown".to_owned(),
        };
        let _ = writeln!(text, "- `{}`: {result}", visible_line(command, COMMAND_CHARACTERS));
    }
    if let Some(Ran { command, outcome: Some(Ok(response)) }) = commands.last()
        && response.exit_code != 0
    {
        let _ = writeln!(text, "\nThe last one, `{}`, failed:", visible_line(command, COMMAND_CHARACTERS));
        if response.is_output_truncated {
            // At the gap, a secret could have lost the part by which it is recognised.
            text.push_str("  (its output is long: run it again to see it)\n");
        } else {
            // Masked whole, before the cut takes the beginning of a secret away.
            let streams =
                [&response.stdout, &response.stderr].into_iter().filter(|stream| !stream.is_empty());
            let output: Vec<String> = streams.map(|stream| mask(stream).trim_end().to_owned()).collect();
            for line in tail(&output.join("\n")).lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
    }
    text.push('\n');
}

fn tail(output: &str) -> &str {
    let start = output.ceil_char_boundary(output.len().saturating_sub(FAILURE_CHARACTERS));
    &output[start..]
}
