//! The progress of one run: its blocks, within bounds, and its end.

use serde::Serialize;
use tagproto::CommandResult;
use workspace_host::AppliedReply;

use super::live_output::{LiveOutput, OutputState};
use crate::bounded_text::{BoundedText, TextBounds, bounded};

/// The kept bytes of a run's outputs and explanations. Blocks beyond the limit keep a few thousand bytes each.
const RUN_BYTES: usize = 8 << 20;

/// The bounds of a note, and of the explanation of a block once the bytes of its run are used up.
const NOTE: TextBounds = TextBounds { lines: 50, line_characters: 2_000, bytes: 4 * 1024 };
const LEAST_BYTES: usize = 4 * 1024;

/// The visible state of a run.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) blocks: Vec<BlockProgress>,
    pub(super) blocks_left_out: usize,
    pub(super) ended: Option<Ended>,
    /// The number of the last event about this run.
    pub(super) last_event: u64,
}

/// The visible state of a block.
#[derive(Debug)]
pub(super) struct BlockProgress {
    pub(super) kind: String,
    pub(super) title: String,
    /// `None` while it runs.
    pub(super) success: Option<bool>,
    pub(super) summary: String,
    pub(super) counts: Option<(i64, i64)>,
    pub(super) denied: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) result_output: BoundedText,
    pub(super) output: LiveOutput,
}

/// A run, as read by a page.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunView {
    pub(super) run: u64,
    pub(super) session: String,
    pub(super) blocks: Vec<BlockView>,
    pub(super) blocks_left_out: usize,
    pub(super) ended: Option<Ended>,
    /// The number of the last event that is included.
    pub(super) last_event: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockView {
    kind: String,
    title: String,
    success: Option<bool>,
    summary: String,
    lines_added: Option<i64>,
    lines_removed: Option<i64>,
    denied: Vec<String>,
    notes: Vec<String>,
    result_output: BoundedText,
    output: OutputState,
}

/// The end of a run.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ended {
    /// The reason that the reply was refused or stopped; `None` if it was executed.
    pub(super) error: Option<String>,
    pub(super) advice: Option<String>,
    /// False if it was executed before, so that nothing was done.
    pub(super) is_executed: bool,
    pub(super) complete: bool,
    pub(super) failed: usize,
    pub(super) repairs: Vec<String>,
    /// Results of an earlier, interrupted reply that this one supersedes.
    pub(super) superseded: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl Progress {
    /// Returns the number of kept bytes.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.iter().map(BlockProgress::bytes).sum()
    }

    /// Returns the remaining budget for outputs of the run.
    pub(super) fn bytes_left(&self) -> usize {
        RUN_BYTES.saturating_sub(self.bytes())
    }
}

impl BlockProgress {
    pub(super) fn view(&self) -> BlockView {
        BlockView {
            kind: self.kind.clone(),
            title: self.title.clone(),
            success: self.success,
            summary: self.summary.clone(),
            lines_added: self.counts.map(|(added, _)| added),
            lines_removed: self.counts.map(|(_, removed)| removed),
            denied: self.denied.clone(),
            notes: self.notes.clone(),
            result_output: self.result_output.clone(),
            output: self.output.state(),
        }
    }

    fn bytes(&self) -> usize {
        let notes = self.notes.iter().chain(&self.denied).map(String::len).sum::<usize>();
        self.output.bytes() + self.result_output.text.len() + self.summary.len() + notes
    }

    pub(super) fn finish(&mut self, result: &CommandResult, bytes_left: usize) {
        let within = |bounds: TextBounds| TextBounds {
            bytes: bounds.bytes.min(bytes_left.max(LEAST_BYTES)),
            ..bounds
        };
        self.success = Some(result.success);
        self.summary = bounded(&result.summary, within(TextBounds::OUTPUT)).text;
        self.denied = result.denied.iter().take(50).cloned().collect();
        let notes = result.notes.iter().take(50);
        self.notes = notes.map(|note| bounded(note, NOTE).text).collect();
        // A command's output was shown as it arrived.
        if self.output.is_empty() {
            self.result_output = bounded(&result.output, within(TextBounds::OUTPUT));
        }
    }
}

impl Ended {
    pub(super) fn of(applied: &AppliedReply) -> Ended {
        let line = |result: &CommandResult| {
            let mark = if result.success { "OK" } else { "FAILED" };
            format!("[{mark}] {}: {}", result.command_type, result.summary)
        };
        let mut notes = applied.late.clone();
        notes.extend(applied.left_undone.as_ref().map(|refusal| refusal.message.clone()));
        if applied.is_executed && applied.session.held.is_some() {
            notes.push(
                "the reply was cut off: nothing was done, and the next message asks the model to go on"
                    .to_owned(),
            );
        } else if applied.is_executed && applied.results.is_empty() {
            notes.push(
                "no block was found in this reply, so nothing was done; the next message tells the model how blocks are \
                 written"
                    .to_owned(),
            );
        }
        Ended {
            error: None,
            advice: None,
            is_executed: applied.is_executed,
            complete: applied.session.is_complete,
            failed: applied.results.iter().filter(|result| !result.success).count(),
            repairs: applied.repairs.clone(),
            superseded: applied.taken_over.iter().map(line).collect(),
            notes,
        }
    }
}
