//! The answer to a command: its end, its output, or the reason for which it did not run.

use change_journal::JournalError;
use sandbox_exec::{CommandError, Ending, Outcome, SpawnError, WaitError};
use serde_json::Value;
use wap_core::{Denied, ExecuteCommandResponse, Reason, WapError, is_invisible};

pub(crate) type CommandOutcome = Result<ExecuteCommandResponse, WapError>;

/// Turns a command's end into an answer.
pub(crate) fn answer(
    outcome: &Outcome,
    whole_output: Option<String>,
    report: &str,
    warnings: Vec<String>,
) -> CommandOutcome {
    let gap = |omitted: u64| match &whole_output {
        Some(name) => format!("\n… {omitted} bytes left out; '{name}' has the whole output …\n"),
        None => format!("\n… {omitted} bytes left out …\n"),
    };
    let stdout = collapse_progress(&outcome.stdout.text(gap));
    let stderr = collapse_progress(&outcome.stderr.text(gap));
    let is_output_truncated = outcome.stdout.omitted_bytes() + outcome.stderr.omitted_bytes() > 0;
    let duration_ms = u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX);
    let denied: Vec<Denied> = outcome.denied.iter().map(denied).collect();
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
                background: None,
                whole_output,
                sandbox: report.to_owned(),
                warnings,
                denied,
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
    if !denied.is_empty() {
        error = error.with(Denied::DETAIL, serde_json::json!(denied));
    }
    Err(error)
}

/// Returns a receipt for an answer. A command chooses the names and paths in it, so bidirectional and invisible
/// characters are made visible. An option with such a character is left out: it could not be copied from the displayed
/// text.
pub(crate) fn denied(denied: &sandbox_exec::Denied) -> Denied {
    let sandbox_exec::Denied { what, why, allow, count, .. } = denied;
    let visible = |text: &str| text.replace(is_invisible, "\u{fffd}");
    let allow = allow.clone().filter(|allow| !allow.contains(is_invisible));
    Denied { what: visible(what), why: visible(why), allow, count: *count }
}

/// The same outcome, shortened for a record with limited space.
pub(crate) fn without_output(outcome: CommandOutcome) -> CommandOutcome {
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

/// The error for a command that has run without a record of its end.
pub(crate) fn unrecorded(error: &JournalError, outcome: &CommandOutcome) -> WapError {
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

/// Reduces a line that was rewritten with carriage returns to its last state.
pub(crate) fn collapse_progress(text: &str) -> String {
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

pub(crate) fn outcome_unknown() -> WapError {
    WapError::new(
        Reason::OutcomeUnknown,
        "the daemon stopped while this command ran; it was not run again: look at what it has done before repeating it",
    )
}

/// The same for a command that ran on a layer, of which nothing was adopted.
pub(crate) fn outcome_dropped() -> WapError {
    WapError::new(
        Reason::OutcomeUnknown,
        "the daemon stopped while this command ran; it was not run again, and nothing that it changed was kept",
    )
    .with(WAS_DROPPED, true)
}

/// The detail of an outcome whose layer was dropped.
const WAS_DROPPED: &str = "layerDropped";

/// Checks whether the changes of a command with this outcome are known.
pub(crate) fn has_known_effects(outcome: &CommandOutcome) -> bool {
    match outcome {
        Err(error) if error.reason() == Reason::OutcomeUnknown => error.detail(WAS_DROPPED).is_some(),
        _ => true,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
pub(crate) fn command_error(error: CommandError) -> WapError {
    let reason = match &error {
        CommandError::Empty => Reason::EmptyCommand,
        CommandError::VariableRefused { .. } => Reason::EnvironmentNotAllowed,
        CommandError::TooLong { .. } | CommandError::EnvironmentTooLong { .. } => Reason::RequestTooLarge,
        _ => Reason::InvalidField,
    };
    WapError::new(reason, error.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
pub(crate) fn spawn_error(error: SpawnError) -> WapError {
    match error {
        SpawnError::Unconfirmed => ending_unknown(&error.to_string()),
        _ => WapError::new(Reason::SpawnFailed, format!("the command was not started: {error}")),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
pub(crate) fn wait_error(error: WaitError) -> WapError {
    ending_unknown(&error.to_string())
}

/// The command is over, but its outcome is unknown. The workspace is fine.
fn ending_unknown(cause: &str) -> WapError {
    let text =
        format!("how the command ended is not known: {cause}; look at what it has done before repeating it");
    WapError::new(Reason::OutcomeUnknown, text).with("cause", cause)
}

#[cfg(test)]
mod tests {
    use super::{collapse_progress, denied};

    #[test]
    fn a_receipt_hides_nothing() {
        let receipt = |what: &str, allow: &str| {
            denied(&sandbox_exec::Denied::new(what.into(), "network is off".into(), Some(allow.into()), 1))
        };
        let hidden = receipt("look up \u{202e}abc.x\u{200b}", "--cache '/o/\u{2066}a'");
        assert_eq!((hidden.what.as_str(), hidden.allow), ("look up \u{fffd}abc.x\u{fffd}", None));
        // The control: letters of other languages stay.
        let plain = receipt("write /o/über", "--cache /o/über");
        assert_eq!((plain.what.as_str(), plain.allow.as_deref()), ("write /o/über", Some("--cache /o/über")));
    }

    #[test]
    fn a_rewritten_line_shows_what_stood_there_last() {
        assert_eq!(collapse_progress("10%\r50%\r100%\ndone\n"), "100%\ndone\n");
        assert_eq!(collapse_progress("dos\r\nlines\r\n"), "dos\r\nlines\r\n");
        assert_eq!(collapse_progress("50%\r"), "50%");
    }
}
