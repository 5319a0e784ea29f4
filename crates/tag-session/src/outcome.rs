//! The outcome of a reply, as kept in the journal.

use serde::{Deserialize, Serialize};
use tagproto::CommandResult;

/// The maximum number of characters kept of one summary. A summary is only long if it repeats text of the model.
const SUMMARY_CHARACTERS: usize = 64 << 10;

/// The maximum number of bytes kept of all texts of a reply's results, so that the journal can record any reply.
const RESULTS_BYTES: usize = 2 << 20;

/// The replacement for a text that is not kept.
const LEFT_OUT: &str = "[left out: the results of this reply are too long together]";

/// The outcome of a run, as kept in the journal.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RunOutcome {
    pub results: Vec<CommandResult>,
    #[serde(default)]
    pub done: Option<String>,
}

impl RunOutcome {
    /// Returns the outcome of a reply, cut to the limits.
    pub(crate) fn of(results: Vec<CommandResult>, done: Option<String>) -> RunOutcome {
        RunOutcome { results: bounded(results), done: done.map(|done| shortened(done, SUMMARY_CHARACTERS)) }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("results have string keys")
    }
}

/// Returns the results in the outcome of a finished run; empty if it cannot be read.
pub(crate) fn results(outcome: &[u8]) -> Vec<CommandResult> {
    serde_json::from_slice::<RunOutcome>(outcome).map(|outcome| outcome.results).unwrap_or_default()
}

/// Checks whether a finished run did nothing: it has no results. An unreadable outcome may have some.
pub(crate) fn is_without_results(outcome: &[u8]) -> bool {
    serde_json::from_slice::<RunOutcome>(outcome)
        .is_ok_and(|outcome| outcome.results.is_empty() && outcome.done.is_none())
}

/// Cuts long summaries, and leaves out texts once they are too long in total: outputs first, those of successes before those of
/// failures, since a model needs the output of a failure to continue.
pub(crate) fn bounded(mut results: Vec<CommandResult>) -> Vec<CommandResult> {
    for result in &mut results {
        result.summary = shortened(std::mem::take(&mut result.summary), SUMMARY_CHARACTERS);
    }
    let bytes = |result: &CommandResult| result.summary.len() + result.output.len() + notes_bytes(result);
    let mut total: usize = results.iter().map(bytes).sum();
    leave_out(&mut results, &mut total, |result| result.success.then_some(&mut result.output));
    leave_out(&mut results, &mut total, |result| Some(&mut result.output));
    leave_out_notes(&mut results, &mut total);
    leave_out(&mut results, &mut total, |result| Some(&mut result.summary));
    results
}

fn notes_bytes(result: &CommandResult) -> usize {
    result.notes.iter().map(String::len).sum()
}

/// Leaves out the notes of results, from the last to the first, until the rest is within the limit.
fn leave_out_notes(results: &mut [CommandResult], total: &mut usize) {
    for result in results.iter_mut().rev() {
        if *total <= RESULTS_BYTES {
            return;
        }
        let bytes = notes_bytes(result);
        if bytes > LEFT_OUT.len() {
            *total -= bytes - LEFT_OUT.len();
            result.notes = vec![LEFT_OUT.to_owned()];
        }
    }
}

/// Leaves out texts, from the last to the first, until the rest is within the limit.
fn leave_out(
    results: &mut [CommandResult],
    total: &mut usize,
    text: impl Fn(&mut CommandResult) -> Option<&mut String>,
) {
    for result in results.iter_mut().rev() {
        if *total <= RESULTS_BYTES {
            return;
        }
        if let Some(text) = text(result).filter(|text| text.len() > LEFT_OUT.len()) {
            *total -= text.len() - LEFT_OUT.len();
            LEFT_OUT.clone_into(text);
        }
    }
}

/// Returns a text without its middle, if it is too long.
fn shortened(text: String, most_characters: usize) -> String {
    // A text never has more characters than bytes, so most texts need not be counted.
    if text.len() <= most_characters {
        return text;
    }
    let characters = text.chars().count();
    if characters <= most_characters {
        return text;
    }
    let offset = |character: usize| text.char_indices().nth(character).map_or(text.len(), |(at, _)| at);
    let tail_characters = most_characters / 4;
    let head = &text[..offset(most_characters - tail_characters)];
    let tail = &text[offset(characters - tail_characters)..];
    format!("{head}\n[... {} characters left out ...]\n{tail}", characters - most_characters)
}

#[cfg(test)]
mod tests {
    use tagproto::{BlockKind, CommandType};

    use super::*;

    fn result(summary: usize, output: usize, success: bool) -> CommandResult {
        CommandResult {
            command_type: CommandType::Block(BlockKind::RunCommand),
            summary: "\u{1}".repeat(summary),
            success,
            output: "\u{1}".repeat(output),
            notes: Vec::new(),
            denied: Vec::new(),
        }
    }

    #[test]
    fn results_that_fit_are_kept_as_they_are() {
        let results = vec![result(1_000, 4_000, true); 100];
        assert_eq!(bounded(results.clone()), results);
    }

    #[test]
    fn the_results_of_any_reply_can_be_recorded() {
        let limit = change_journal::JournalLimits::default().outcome_bytes;
        for results in [
            vec![result(100, 4_000, true); 10_000],
            vec![result(4_000, 4_000, false); 10_000],
            vec![result(16 << 20, 0, true)],
        ] {
            let count = results.len();
            let outcome = RunOutcome::of(results, Some("\u{1}".repeat(16 << 20)));
            assert_eq!(outcome.results.len(), count);
            assert!(outcome.encode().len() <= limit, "{} bytes", outcome.encode().len());
        }
    }

    #[test]
    fn failures_keep_their_outputs_longest() {
        let mut results = vec![result(10, 4_000, true); 1_000];
        results[999].success = false;
        let bounded = bounded(results);
        assert_eq!((bounded[0].output.len(), bounded[999].output.len()), (4_000, 4_000));
        assert_eq!(bounded[998].output, LEFT_OUT);
    }

    #[test]
    fn notes_without_end_are_left_out_too() {
        let noted =
            |notes: usize| CommandResult { notes: vec!["n".repeat(2_000); notes], ..result(10, 0, true) };
        let few = bounded(vec![noted(2); 100]);
        assert!(few.iter().all(|result| result.notes.len() == 2), "the control");
        let many = bounded(vec![noted(2); 10_000]);
        let bytes: usize = many.iter().map(|result| result.summary.len() + notes_bytes(result)).sum();
        assert!(bytes <= RESULTS_BYTES, "{bytes}");
        assert_eq!((many[0].notes.len(), &*many[9_999].notes), (2, &[LEFT_OUT.to_owned()][..]));
        assert!(many.iter().all(|result| result.summary.len() == 10));
    }
}
