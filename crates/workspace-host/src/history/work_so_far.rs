//! The work of a conversation as text, for a session that continues it.

use std::fmt::Write;

use change_journal::{JournalError, JournalReader, RecordedRun, RunFilter, RunNumber, StepKind};
use local_workspace::{FileDifferences, runs_differences};
use serde::Deserialize;
use tag_session::read_session;
use tagproto::{Handover, SessionId, USUAL_BUDGET};
use wap_core::{CancelFlag, ExecuteCommandResponse, ProcessState, StopProcessResponse, WapError};

use super::visible_diff::visible_diff;
use crate::failure::{Exit, Failure};
use crate::owner::session_call::SessionRefusal;
use crate::secret_use::SecretRules;

/// The maximum number of runs of a conversation that are examined, the newest ones.
const MOST_RUNS: u32 = 1_000;

/// The part of the token budget that the work may take, at about three characters a token.
const CHARACTERS_PER_TOKEN: usize = 1;

/// The maximum number of commands that are listed, the newest.
const MOST_COMMANDS: usize = 20;

/// The maximum number of files that are named because their differences do not fit; after these, no
/// further file is read.
const MOST_LEFT_OUT: usize = 50;

/// The maximum number of characters of a command.
const COMMAND_CHARACTERS: usize = 200;

/// The maximum number of characters quoted from the end of a failure's output.
const FAILURE_CHARACTERS: usize = 4_000;

/// Describes the work of a conversation: its task, its commands with their results, the failure that is still open, and
/// the differences that it has made to files, within a third of a message and without secrets. Files withheld from a
/// model are only named, and of an output only the end is quoted, after masking the whole.
///
/// # Errors
///
/// If there is no such conversation, the journal cannot be read, or `cancel` is raised.
pub(crate) fn work_so_far(
    journal: &JournalReader,
    from: &str,
    budget: Option<u32>,
    cancel: &CancelFlag,
    rules: &SecretRules,
) -> Result<Handover, SessionRefusal> {
    let most = usize::try_from(budget.unwrap_or(USUAL_BUDGET)).unwrap_or(usize::MAX) * CHARACTERS_PER_TOKEN;
    let filter = RunFilter { conversation: Some(from.to_owned()), ..RunFilter::default() };
    let runs = journal.runs(&filter, MOST_RUNS).map_err(failed)?;
    if runs.is_empty() {
        let failure = Failure::new(Exit::Usage, format!("there is no work of a conversation '{from}'"));
        return Err(failure.advise("`agentd log` names the conversations that have done something").into());
    }
    let mut text = String::new();
    let session = from.parse::<SessionId>().ok().and_then(|id| read_session(journal, id).ok());
    if let Some(session) = session {
        let _ = writeln!(text, "The task was: {}\n", rules.mask_rest(session.task.trim()));
    }
    let commands = commands(journal, &runs).map_err(failed)?;
    write_commands(&mut text, &commands, rules);
    let numbers: Vec<RunNumber> = runs.iter().rev().map(|run| run.number).collect();
    let is_cut = u32::try_from(runs.len()).is_ok_and(|count| count == MOST_RUNS);
    let differences = runs_differences(journal, &numbers).map_err(failed)?;
    write_differences(&mut text, differences, most, cancel, rules)?;
    if is_cut {
        let _ = writeln!(text, "\nOnly its newest {MOST_RUNS} runs are looked at.");
    }
    Ok(Handover { from: from.to_owned(), text })
}

/// Adds differences as far as they fit. A file whose difference does not fit is named, and once the text is full, no further one
/// is read.
fn write_differences(
    text: &mut String,
    mut differences: FileDifferences<'_>,
    most: usize,
    cancel: &CancelFlag,
    rules: &SecretRules,
) -> Result<(), SessionRefusal> {
    let (mut left_out, mut is_begun) = (Vec::new(), false);
    let has_changed = differences.paths_left() > 0;
    while left_out.len() < MOST_LEFT_OUT
        && let Some(difference) = differences.next()
    {
        if cancel.is_cancelled() {
            return Err(Failure::new(Exit::Interrupted, "the client has given up its request").into());
        }
        let Some(difference) = difference.map_err(failed)?.filter(|difference| !difference.diff.is_empty())
        else {
            continue;
        };
        let diff = match rules.leaves_out(&difference.path) || text.len() + difference.diff.len() > most {
            true => None,
            false => Some(visible_diff(&difference, rules)).filter(|diff| text.len() + diff.len() <= most),
        };
        let Some(diff) = diff else {
            left_out.push(rules.mask_file_text(&difference.path));
            continue;
        };
        if !is_begun {
            text.push_str("The files that it has changed, as differences:\n");
            is_begun = true;
        }
        let _ = writeln!(text, "\n{}", diff.trim_end());
    }
    if has_changed && !is_begun && left_out.is_empty() {
        text.push_str("Its changes to files have been undone, or come to nothing.\n");
    }
    if !left_out.is_empty() {
        let names = left_out.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "\nNot shown, because they are long: {names}. Read them if they matter.");
    }
    if differences.paths_left() > 0 {
        let _ = writeln!(
            text,
            "\nIt has changed {} more paths, which are not named here.",
            differences.paths_left()
        );
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
fn failed(error: JournalError) -> Failure {
    Failure::new(Exit::Failed, format!("the journal cannot be read: {error}"))
}

/// A command with its outcome; `None` if it is unknown.
struct Ran {
    command: String,
    outcome: Option<Result<Answer, WapError>>,
}

/// The answer to a step that is recorded as a command.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Ended(ExecuteCommandResponse),
    /// A background process was stopped.
    Stopped(StopProcessResponse),
}

impl Answer {
    /// Returns how it ended, in a few words.
    fn ending(&self) -> String {
        match self {
            Answer::Ended(ExecuteCommandResponse { background: Some(process), .. })
                if process.state != ProcessState::Ended =>
            {
                format!("started in the background as '{}'", process.name)
            }
            Answer::Ended(response) => format!("exit code {}", response.exit_code),
            Answer::Stopped(StopProcessResponse { had_ended, exit_code, .. }) => {
                let what = if *had_ended { "it had ended before" } else { "stopped" };
                exit_code.map_or_else(|| what.to_owned(), |code| format!("{what} (exit code {code})"))
            }
        }
    }
}

/// Returns the newest commands, the oldest first.
fn commands(journal: &JournalReader, runs: &[RecordedRun]) -> Result<Vec<Ran>, JournalError> {
    let mut commands = Vec::new();
    for run in runs {
        let steps = journal.steps(run.number)?;
        for step in steps.iter().rev().filter(|step| step.kind == StepKind::ShellCommand) {
            let outcome = step.outcome.as_deref().and_then(|bytes| serde_json::from_slice(bytes).ok());
            // The adoption of a kept trial is a step without a command.
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

fn write_commands(text: &mut String, commands: &[Ran], rules: &SecretRules) {
    if commands.is_empty() {
        return;
    }
    let _ = writeln!(text, "Its last commands:");
    for Ran { command, outcome } in commands {
        let result = match outcome {
            Some(Ok(answer)) => answer.ending(),
            Some(Err(error)) => rules.mask_line(error.message(), COMMAND_CHARACTERS),
            None => "outcome unknown".to_owned(),
        };
        let _ = writeln!(text, "- `{}`: {result}", rules.mask_line(command, COMMAND_CHARACTERS));
    }
    if let Some(Ran { command, outcome: Some(Ok(Answer::Ended(response))) }) = commands.last()
        && response.exit_code != 0
    {
        write_failure(text, command, response, rules);
    }
    text.push('\n');
}

/// Adds the end of the output of the last command, which has failed.
fn write_failure(text: &mut String, command: &str, response: &ExecuteCommandResponse, rules: &SecretRules) {
    let quoted = rules.mask_line(command, COMMAND_CHARACTERS);
    let streams = [&response.stdout, &response.stderr].into_iter().filter(|stream| !stream.is_empty());
    // Masked whole, before the cut removes the beginning of a secret.
    let output: Vec<String> =
        streams.map(|stream| rules.mask_output(command, stream).trim_end().to_owned()).collect();
    let output = output.join("\n");
    if response.is_output_truncated {
        // At the gap, a secret could have lost the part by which it is recognised.
        let _ =
            writeln!(text, "\nThe last one, `{quoted}`, failed. Its output is long: run it again to see it.");
    } else if output.trim().is_empty() {
        let _ = writeln!(text, "\nThe last one, `{quoted}`, failed and printed nothing.");
    } else {
        let _ = writeln!(text, "\nThe last one, `{quoted}`, failed:");
        for line in tail(&output).lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
}

fn tail(output: &str) -> &str {
    let start = output.ceil_char_boundary(output.len().saturating_sub(FAILURE_CHARACTERS));
    &output[start..]
}
