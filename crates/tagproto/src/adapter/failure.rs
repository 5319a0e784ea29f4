//! Failures as results: the wording of the protocol, then advice for the model.

use std::time::Duration;

use serde_json::Value;
use wap_core::{
    Denied, LineConflict, LineDoubt, PROCESS_PREFIX, Reason, WapError, doubt_text, numbered_view,
};

use super::command_output;
use super::excerpt::{Excerpt, text_detail};
use super::process_result::lines;
use super::summary;
use crate::{Block, Dialect, IfExists, ParseError, TextHunk};

/// The result of a failed block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) summary: String,
    pub(super) output: String,
    /// The refusals of a command's confinement.
    pub(super) denied: Vec<String>,
    /// The excerpt of the file in `output`; `None` if there is none.
    pub(super) excerpt: Option<Excerpt>,
}

impl Failure {
    fn of(summary: String) -> Failure {
        Failure { summary, output: String::new(), denied: Vec::new(), excerpt: None }
    }

    /// Returns the result of a malformed block.
    pub(super) fn of_parse(error: &ParseError) -> Failure {
        Failure::of(error.to_string())
    }

    /// Returns the result of a block that was not begun because the user had cancelled the reply.
    pub(super) fn not_begun() -> Failure {
        Failure::of("CANCELLED: not carried out, because the user stopped this reply".to_owned())
    }

    /// Returns the result of a block for whose change the workspace returned another kind of change.
    pub(super) fn of_wrong_answer(path: &str) -> Failure {
        with_advice(
            format!("the outcome for '{path}' is unknown: the workspace answered another kind of change"),
            "look at the file with READ_FILE",
        )
    }

    /// Returns the result of a READ_FILE with a malformed range.
    pub(super) fn of_malformed_range() -> Failure {
        with_advice(
            "READ_FILE start_line/end_line must be integers, each given once".to_owned(),
            "count lines from 1, or leave both out to see the whole file",
        )
    }

    /// Returns the result of a READ_FILE for lines beyond the end of the file.
    pub(super) fn of_read_range(first: u64, last: u64, total_lines: u64) -> Failure {
        let range = if last == u64::MAX { format!("{first}-") } else { format!("{first}-{last}") };
        with_advice(
            format!("Invalid line range {range} for file with {total_lines} lines"),
            "ask for lines that the file has, the first one first",
        )
    }

    /// Returns the result of a block with a path.
    pub(super) fn of_file(block: &Block<'_>, path: &str, error: &WapError) -> Failure {
        let is_create = matches!(block, Block::CreateFile { .. });
        match (error.reason(), block) {
            // The order of the arms matters.
            (Reason::Cancelled, _) => Failure::not_begun(),
            (Reason::PathEscapeAttempt, _) => with_advice(
                format!("REJECTED: Path '{path}' is outside workspace"),
                "use a path relative to the root of the workspace",
            ),
            (Reason::Protected, _) => match text_detail(error, "why") {
                Some(why) => with_advice(
                    format!("REJECTED: Path '{path}' is protected: {why}"),
                    "leave it as it is, or ask the user with MESSAGE",
                ),
                // The path is protected for its secrets, and the error itself has the advice.
                None => Failure::of(format!("REJECTED: {}", error.message())),
            },
            // CREATE_FILE creates missing folders: for it, these reasons do not mean that a file was not found.
            (Reason::NotAFile, _) if !is_create => with_advice(
                format!("File '{path}' not found"),
                "the path leads to a folder, or to something else that is not a regular file",
            ),
            _ if is_root_gone(error) => with_advice(
                format!("Failed to {} '{path}': {}", verb(block), error.message()),
                "nothing can be read or changed any more: tell the user with MESSAGE",
            ),
            // Not a file: it is not in the list of files, and the error names the existing processes.
            (Reason::FileNotFound, Block::ReadFile { .. }) if path.starts_with(PROCESS_PREFIX) => {
                with_advice(
                    format!("Failed to read '{path}': {}", error.message()),
                    "start it again if its output is needed",
                )
            }
            (
                Reason::FileNotFound
                | Reason::PathNotFound
                | Reason::DirectoryNotFound
                | Reason::NotADirectory,
                _,
            ) if !is_create => {
                with_advice(format!("File '{path}' not found"), "see Workspace Files for what there is")
            }
            (Reason::FileExists, Block::CreateFile { if_exists: IfExists::Refuse, .. }) => with_advice(
                format!("Failed to create '{path}': {}", error.message()),
                "to change the file, send the lines to change with lines of the file around them; to replace all of it, use \
                 CREATE_FILE",
            ),
            (Reason::InvalidRange, Block::EditFile { start_line, end_line, .. }) => {
                invalid_range(*start_line, *end_line, error)
            }
            (Reason::Conflict, Block::EditFile { start_line, end_line, .. }) => {
                conflict(path, *start_line, *end_line, error)
            }
            (Reason::Conflict, Block::EditText { .. }) => {
                let reason = summary::of_hunks(error.message());
                let assumed = assumed_file(block, error);
                let summary =
                    format!("Failed to edit '{path}': {reason}; nothing of this block was done{assumed}");
                let mut failure = Failure::of(summary);
                failure.show(Excerpt::of(error));
                failure
            }
            _ => {
                let reason = match block {
                    Block::EditText { .. } => summary::of_hunks(error.message()),
                    _ => error.message().into(),
                };
                let mut failure = with_advice(
                    format!("Failed to {} '{path}': {reason}{}", verb(block), assumed_file(block, error)),
                    advice(error.reason()),
                );
                failure.show(Excerpt::of(error));
                failure
            }
        }
    }

    /// Returns the result of a STOP_PROCESS that ended nothing.
    pub(super) fn of_process(name: &str, error: &WapError) -> Failure {
        Failure::of(format!("Failed to stop '{name}': {}", error.message()))
    }

    /// Returns the result of a command that did not end by itself.
    pub(super) fn of_command(
        command: &str,
        error: &WapError,
        timeout: Duration,
        dialect: Dialect,
    ) -> Failure {
        let summary = match error.reason() {
            Reason::Timeout => format!("Command timed out ({}s): {command}", timeout.as_secs_f64()),
            Reason::KilledForMemory => format!("Command killed for using too much memory: {command}"),
            Reason::Cancelled => format!("Command cancelled by the user: {command}"),
            // The command may have run to its end, so only the model can decide whether it runs again.
            Reason::OutcomeUnknown => match text_detail(error, "cause") {
                None => format!(
                    "UNKNOWN: the daemon stopped while this command ran; it was not run again; look at what it left \
                     before you run it once more: {command}"
                ),
                Some(cause) => format!(
                    "UNKNOWN: how this command ended is not known ({cause}); look at what it left before you run it \
                     once more: {command}"
                ),
            },
            reason => {
                let summary = format!("Failed to run '{command}': {}", error.message());
                return with_advice(summary, advice(reason));
            }
        };
        let (stdout, stderr) = (text_detail(error, "stdout"), text_detail(error, "stderr"));
        let output = command_output::joined(stdout.unwrap_or_default(), stderr.unwrap_or_default());
        let whole_output = text_detail(error, "wholeOutput");
        let is_cut = error.detail("isOutputTruncated").and_then(Value::as_bool).unwrap_or(false);
        let output = command_output::bounded(output, whole_output, is_cut, dialect);
        Failure { summary, output, denied: lines(&Denied::of_error(error)), excerpt: None }
    }

    /// Appends an excerpt of the file to the output.
    fn show(&mut self, excerpt: Option<Excerpt>) {
        if let Some(excerpt) = excerpt {
            self.output.push_str("The text is now:\n");
            self.output.push_str(&excerpt.text);
            self.excerpt = Some(excerpt);
        }
    }
}

fn invalid_range(start_line: i32, end_line: i32, error: &WapError) -> Failure {
    let total = error.detail("totalLines").and_then(Value::as_u64);
    let excerpt = Excerpt::of(error);
    let summary = match total {
        Some(total) => format!("Invalid line range {start_line}-{end_line} for file with {total} lines"),
        None => format!("Invalid line range {start_line}-{end_line}: {}", error.message()),
    };
    let is_next = |total: u64| u64::try_from(start_line).is_ok_and(|line| line == total + 1);
    let next = match (total, &excerpt) {
        (Some(0), _) => "the file is empty: write it with CREATE_FILE",
        (Some(total), Some(_)) if is_next(total) => {
            "to add lines at the end, replace the last line with itself and the new ones; the file as it is now is below"
        }
        (_, Some(_)) => "the file as it is now is below",
        (_, None) => "lines count from 1, and the last is not before the first; READ_FILE shows the file",
    };
    let mut failure = with_advice(summary, next);
    failure.show(excerpt);
    failure
}

/// Returns the result of an edit with ambiguous line numbers.
fn doubtful(
    path: &str,
    start_line: i32,
    end_line: i32,
    conflict: &LineConflict,
    error: &WapError,
) -> Failure {
    let lines = format!("lines {start_line}-{end_line}");
    let what = match conflict.doubt {
        LineDoubt::WasDiffers => format!("the first of {lines} is not what was=\"...\" says"),
        doubt => doubt_text(doubt, &lines, &conflict.candidates),
    };
    let next = match conflict.doubt {
        LineDoubt::TwoPlaces => "both are below; send the edit again with the numbers that it has there",
        _ => "the text as it is now is below; send the edit again with its numbers",
    };
    let mut failure = with_advice(format!("Failed to edit '{path}': {what}"), next);
    failure.show(Excerpt::of(error));
    failure
}

fn conflict(path: &str, start_line: i32, end_line: i32, error: &WapError) -> Failure {
    if let Some(conflict) = LineConflict::of(error) {
        return doubtful(path, start_line, end_line, &conflict, error);
    }
    let expected = text_detail(error, "expectedText");
    let excerpt = Excerpt::of(error);
    let Some(expected) = expected else {
        let summary = format!("Failed to edit '{path}': {}", error.message());
        let next = match &excerpt {
            Some(_) => "the file as it is now is below",
            None => "ask for the file with READ_FILE and edit it then",
        };
        let mut failure = with_advice(summary, next);
        failure.show(excerpt);
        return failure;
    };
    let next = match (moved_to(error), &excerpt) {
        (Some((first, last)), _) => format!("the same lines are now at {first}-{last}"),
        (None, Some(_)) => {
            "both texts are below; send the edit again with the line numbers of the text as it is now"
                .to_owned()
        }
        (None, None) => "ask for the file with READ_FILE and edit it then".to_owned(),
    };
    let summary = format!(
        "Failed to edit '{path}': lines {start_line}-{end_line} are not what they were when you saw them"
    );
    let mut failure = with_advice(summary, &next);
    // With the numbers that the edit used, from the view that it referred to.
    let quoted = numbered_view(&format!("{expected}\n"), u64::try_from(start_line).unwrap_or(1).max(1));
    failure.output = format!("You were shown:\n{quoted}");
    failure.show(excerpt);
    failure
}

/// Returns a clause about the failed hunk if no line before it names its file: it may be meant for another one.
fn assumed_file(block: &Block<'_>, error: &WapError) -> String {
    let Block::EditText { hunks, .. } = block else { return String::new() };
    let hunk = match hunks.as_slice() {
        [only] => Some(only),
        // An error of one of several operations begins with its number.
        _ => summary::hunk_index(error.message()).and_then(|index| hunks.get(index)),
    };
    let clause = |hunk: &TextHunk| {
        let line = hunk.line_number;
        format!(
            "; the line before the hunk at line {line} does not name a file, so the one named above was assumed"
        )
    };
    hunk.filter(|hunk| hunk.has_assumed_file).map(clause).unwrap_or_default()
}

/// Returns the current lines, 1-based and inclusive, of the text that an edit referred to; `None` if the engine did not find
/// them.
fn moved_to(error: &WapError) -> Option<(u64, u64)> {
    let lines = error.detail("movedTo")?.as_array()?;
    let [first, last] = lines.as_slice() else { return None };
    first.as_u64().zip(last.as_u64())
}

/// Checks whether the workspace's own folder is gone.
fn is_root_gone(error: &WapError) -> bool {
    error.detail("rootGone").and_then(Value::as_bool).unwrap_or(false)
}

/// Appends advice to a summary. The engine's own advice is about its tools, which a model in a chat does not have.
fn with_advice(mut summary: String, advice: &str) -> Failure {
    if !advice.is_empty() {
        summary.push_str("; ");
        summary.push_str(advice);
    }
    Failure::of(summary)
}

/// Returns the advice for an error that the engine's own text explains.
fn advice(reason: Reason) -> &'static str {
    match reason {
        Reason::ReadOnly => "nothing can be changed here: tell the user with MESSAGE what you would change",
        Reason::IsSymlink => "name the file that the link points to",
        Reason::NotAFile | Reason::NotADirectory | Reason::FileExists | Reason::InvalidName => {
            "use another path"
        }
        Reason::BinaryFile => "use RUN_COMMAND to look at it or to replace it",
        Reason::FileTooLarge | Reason::RequestTooLarge => "use RUN_COMMAND, or smaller blocks",
        Reason::SandboxUnavailable => "go on without commands, and tell the user with MESSAGE what to run",
        Reason::NoSpace => "tell the user with MESSAGE",
        Reason::Busy => "send the block again",
        Reason::Conflict => "look at the file with READ_FILE before you change it",
        _ => "",
    }
}

fn verb(block: &Block<'_>) -> &'static str {
    match block {
        Block::CreateFile { .. } => "create",
        Block::EditFile { .. } | Block::EditText { .. } => "edit",
        Block::DeleteFile { .. } => "delete",
        _ => "read",
    }
}
