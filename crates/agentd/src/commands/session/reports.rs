//! Reports of an executed reply that are not results of its blocks.

use tagproto::{BlockKind, CommandType, HeldReply};
use workspace_host::AppliedReply;

use crate::views::console::{Console, Tone};
use crate::views::progress::one_line;

/// Reports that a reply held nothing to do, or that its DONE did not end the session.
pub(crate) fn report_unexpected(console: Console, applied: &AppliedReply) {
    if applied.is_executed && applied.session.held.is_some() {
        console.notice("  the reply was cut off, or does not go on where an earlier one was: nothing was done, and the next message asks the model to go on");
        return;
    }
    if applied.is_executed && applied.session.notes.iter().any(|note| note == HeldReply::HAS_RUN) {
        console.notice("  the reply was cut off, and blocks that may be its own ran before it was stopped: nothing was done, and the next message has their results");
        return;
    }
    if applied.is_executed && applied.results.is_empty() {
        console.notice("  no block was found in this reply, so nothing was done; the next message tells the model how blocks are written");
    }
    let done = CommandType::Block(BlockKind::Done);
    let says_done = applied.results.iter().any(|result| result.success && result.command_type == done);
    let failed = failed_blocks(applied);
    if applied.is_executed && says_done && failed > 0 && !applied.session.is_complete {
        let blocks = if failed == 1 {
            "1 block of the reply failed".to_owned()
        } else {
            format!("{failed} blocks of the reply failed")
        };
        console.notice(&format!(
            "  the model said DONE, but {blocks}: the session continues, and the next message has the results"
        ));
    }
}

/// Returns the number of blocks of a reply that failed.
pub(super) fn failed_blocks(applied: &AppliedReply) -> usize {
    applied.results.iter().filter(|result| !result.success).count()
}

/// Names the repairs of a pasted reply.
pub(crate) fn report_repairs(console: Console, executed: &AppliedReply) {
    if !executed.repairs.is_empty() {
        let repairs = executed.repairs.join(", ");
        console.styled(Tone::Faint, &format!("  read despite: {repairs}"));
    }
}

/// Reports a reply that was held and is dropped, and the results of an interrupted reply that this one supersedes.
pub(crate) fn report_superseded(console: Console, executed: &AppliedReply) {
    let notes = &executed.session.notes;
    if notes.iter().any(|note| note == HeldReply::DROPPED || note == HeldReply::DROPPED_BEFORE_DONE) {
        console.notice("  the reply before this one was cut off and is dropped: nothing of it was done");
    }
    if executed.taken_over.is_empty() {
        return;
    }
    console.notice("  another reply to the same message was stopped earlier: its rest is dropped, and the next message reports its results to the model");
    for result in &executed.taken_over {
        let mark = if result.success { "OK" } else { "FAILED" };
        console.notice(&format!("    [{mark}] {}: {}", result.command_type, one_line(&result.summary)));
    }
}
