//! Outputs of commands that were too long for one answer, kept for a while for further reading.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wap_core::{OUTPUT_PREFIX, ReadFile, Reason, WapError};

/// The bound on the bytes of all kept outputs. An output beyond the engine's own limit is kept by the engine, in a file.
const MOST_BYTES: usize = 8 << 20;

/// Outputs by their names, oldest first.
#[derive(Debug, Default)]
pub struct RecentOutputs {
    kept: Mutex<VecDeque<(String, String)>>,
}

/// A part of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutputPart {
    pub content: String,
    /// First line, 1-based.
    pub first: u64,
    pub total_lines: u64,
}

impl RecentOutputs {
    /// Keeps an output and returns the name to read it by.
    pub(crate) fn keep(&self, output: &str) -> String {
        // Use a random name: clients of one server share the store, and must not read each other's outputs by counting.
        let name = format!("{OUTPUT_PREFIX}recent-{}", uuid::Uuid::new_v4().simple());
        let mut kept = self.lock();
        kept.push_back((name.clone(), output.to_owned()));
        let mut bytes: usize = kept.iter().map(|(_, output)| output.len()).sum();
        // The newest is kept even if it alone exceeds the bound: the answer names it.
        while bytes > MOST_BYTES && kept.len() > 1 {
            let Some((_, oldest)) = kept.pop_front() else { break };
            bytes -= oldest.len();
        }
        name
    }

    /// Reads from an output; `None` if the request is for something else.
    pub(crate) fn read(&self, request: &ReadFile) -> Option<Result<OutputPart, WapError>> {
        let name = request.path.as_str();
        name.strip_prefix(OUTPUT_PREFIX)?.strip_prefix("recent-")?;
        let kept = self.lock();
        let Some((_, output)) = kept.iter().find(|(kept_name, _)| kept_name == name) else {
            let text = format!("'{name}' is not kept any more");
            let hint =
                "run the command again, with its output in a file or through a filter such as tail or grep";
            return Some(Err(WapError::new(Reason::FileNotFound, text).with("hint", hint)));
        };
        Some(part(output, request))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, String)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn part(output: &str, request: &ReadFile) -> Result<OutputPart, WapError> {
    let lines: Vec<&str> = output.split_inclusive('\n').collect();
    let total_lines = lines.len() as u64;
    let first = request.start_line.unwrap_or(1);
    let last = request.end_line.unwrap_or(i64::MAX);
    if first < 1 || last < first || first.cast_unsigned() > total_lines.max(1) {
        let text = format!("there is no range {first}..{last} in {total_lines} lines");
        return Err(WapError::new(Reason::InvalidRange, text).with("totalLines", total_lines));
    }
    let from = usize::try_from(first - 1).unwrap_or(usize::MAX).min(lines.len());
    let to = usize::try_from(last).unwrap_or(usize::MAX).min(lines.len());
    Ok(OutputPart { content: lines[from..to.max(from)].concat(), first: first.cast_unsigned(), total_lines })
}
