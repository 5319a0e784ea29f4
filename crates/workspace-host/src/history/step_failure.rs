//! The failure of a recorded step, in a few words for the log.

use serde::Deserialize;
use wap_core::{Reason, WapError};

/// Returns how a step failed; `None` if it was carried out, or if its outcome cannot be read.
pub(super) fn step_failure(outcome: &[u8]) -> Option<String> {
    // A command's outcome stands alone, that of a change is one of several fields.
    let (Recorded::Field { outcome } | Recorded::Alone(outcome)) = serde_json::from_slice(outcome).ok()?;
    match outcome {
        Ok(Answer { exit_code: None | Some(0), .. } | Answer { had_ended: Some(_), .. }) => None,
        Ok(Answer { exit_code: Some(code), .. }) => Some(format!("exit code {code}")),
        Err(error) => Some(match error.reason() {
            Reason::OutcomeUnknown => "outcome unknown".to_owned(),
            Reason::Timeout => "timed out".to_owned(),
            Reason::Cancelled => "cancelled".to_owned(),
            _ => "failed".to_owned(),
        }),
    }
}

/// An outcome as the engine writes it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Recorded {
    Field { outcome: Result<Answer, WapError> },
    Alone(Result<Answer, WapError>),
}

/// The part of an answer that the log names.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    exit_code: Option<i64>,
    /// Only the answer to the stop of a process has it, and the exit code there is that of the process.
    #[serde(default)]
    had_ended: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_of_commands_and_changes_are_read() {
        let error = |reason| Err::<(), _>(WapError::new(reason, "why"));
        let alone = |reason| step_failure(&serde_json::to_vec(&error(reason)).unwrap());
        assert_eq!(alone(Reason::OutcomeUnknown).as_deref(), Some("outcome unknown"));
        assert_eq!(alone(Reason::Timeout).as_deref(), Some("timed out"));
        assert_eq!(alone(Reason::Cancelled).as_deref(), Some("cancelled"));
        let field = serde_json::json!({ "outcome": error(Reason::Protected), "request": "x" });
        assert_eq!(step_failure(field.to_string().as_bytes()).as_deref(), Some("failed"));
        for (outcome, failure) in [
            (r#"{"Ok":{"stdout":"","exitCode":3}}"#, Some("exit code 3")),
            (r#"{"Ok":{"stdout":"","exitCode":0}}"#, None),
            (r#"{"outcome":{"Ok":{"Written":{"path":"a"}}}}"#, None),
            (r#"{"Ok":{"name":"web","hadEnded":false,"exitCode":143}}"#, None),
            ("of a later version", None),
        ] {
            assert_eq!(step_failure(outcome.as_bytes()).as_deref(), failure, "{outcome}");
        }
    }
}
