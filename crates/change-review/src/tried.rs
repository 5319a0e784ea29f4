//! The outcome of carrying out a choice on an overlay.

use serde::{Deserialize, Serialize};
use wap_core::{ExecuteCommandResponse, FileChange, FileChanged, Reason, WapError};

use crate::resolution::Resolution;
use crate::step::FileStep;
use crate::verdict::Selection;

/// The longest output of a step that is kept, in bytes of each stream.
const MOST_OUTPUT_BYTES: usize = 64 << 10;

/// The outcome of carrying out a choice on an overlay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    /// The choice.
    pub selection: Selection,
    /// The choice as it was carried out.
    pub resolution: Resolution,
    /// The outcome of each step, in their order.
    pub steps: Vec<StepOutcome>,
    /// The differences between the folder and the overlay afterwards, path by path: of edits and commands together.
    pub files: Vec<FileStep>,
    /// True if this process still holds the overlay, so that landing adopts it.
    #[serde(default)]
    pub is_held: bool,
}

/// The outcome of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepOutcome {
    /// The number of the step, 0-based.
    #[serde(default)]
    pub step: u32,
    /// True if it was carried out; of a command, if its exit code was 0.
    pub success: bool,
    /// True if the reviewer left it out.
    #[serde(default)]
    pub is_left_out: bool,
    /// The outcome in one line.
    pub summary: String,
    /// Standard output, then standard error; of a change, its warnings.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// The exit code of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The run time of a command in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

impl StepOutcome {
    /// Checks whether the step was carried out: also a command that ran and failed has been.
    #[must_use]
    pub fn was_carried_out(&self) -> bool {
        self.success || self.exit_code.is_some()
    }

    /// Describes the answer to a change.
    pub(crate) fn of_change(change: &FileChange, answer: &Result<FileChanged, WapError>) -> StepOutcome {
        match answer {
            Err(error) => StepOutcome::of_error(error),
            Ok(answer) => {
                let (verb, warnings) = match answer {
                    FileChanged::Written(written) if written.created => ("created", &written.warnings),
                    FileChanged::Written(written) => ("wrote", &written.warnings),
                    FileChanged::Modified(modified) => ("changed", &modified.warnings),
                    FileChanged::Deleted(_) => ("deleted", &Vec::new()),
                };
                let summary = format!("{verb} {}", change.path());
                StepOutcome { success: true, summary, output: warnings.join("\n"), ..StepOutcome::default() }
            }
        }
    }

    /// Describes the answer to a command.
    pub(crate) fn of_command(answer: &Result<ExecuteCommandResponse, WapError>) -> StepOutcome {
        let response = match answer {
            Err(error) => return StepOutcome::of_error(error),
            Ok(response) => response,
        };
        let streams = [&response.stdout, &response.stderr].map(|stream| shortened(stream));
        let streams: Vec<&str> = streams.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        StepOutcome {
            success: response.exit_code == 0,
            summary: format!("exit code {}", response.exit_code),
            output: streams.join("\n"),
            exit_code: Some(response.exit_code),
            duration_ms: Some(response.duration_ms),
            ..StepOutcome::default()
        }
    }

    fn of_error(error: &WapError) -> StepOutcome {
        StepOutcome {
            success: false,
            is_left_out: error.reason() == Reason::LeftOut,
            summary: error.message().to_owned(),
            ..StepOutcome::default()
        }
    }
}

/// Returns the head and the tail of a text that is too long.
fn shortened(text: &str) -> String {
    let text = text.trim_end();
    if text.len() <= MOST_OUTPUT_BYTES {
        return text.to_owned();
    }
    let half = MOST_OUTPUT_BYTES / 2;
    let (head, tail) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len() - half));
    format!("{}\n… {} bytes left out …\n{}", &text[..head], tail - head, &text[tail..])
}
