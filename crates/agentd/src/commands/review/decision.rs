//! Deciding on a proposal that the user has looked at.

use change_review::{Draft, ProposalEnd, ProposalId};
use wap_core::CancelFlag;
use workspace_host::{DecideProposal, DecidedProposal, SharedSessions};

use crate::exit::Failure;

/// Lands a draft, or sends the proposal back, if the draft and, by their mark, the steps are still those that the user has looked
/// at.
///
/// # Errors
///
/// If another window has saved the draft or tried all of it since, or the folder has changed, and the errors of landing. The
/// proposal then stays in the queue.
pub(super) fn decide(
    sessions: &SharedSessions,
    id: ProposalId,
    (draft, mark): (&Draft, String),
    sends_back: bool,
    cancel: &CancelFlag,
) -> Result<DecidedProposal, Failure> {
    sessions.call(&DecideProposal { id, sends_back, revision: draft.revision, mark }, cancel)
}

/// Returns the result of a decision, in one line.
pub(super) fn in_one_line(decided: &DecidedProposal) -> String {
    let id = decided.proposal.id;
    if !has_landed_now(decided) {
        return format!("proposal {id} {}", end_without_landing(decided));
    }
    let outcomes = || decided.carried.steps.iter().map(|step| &step.outcome);
    let left_out = outcomes().filter(|outcome| outcome.is_left_out).count();
    let done = outcomes().filter(|outcome| outcome.success).count();
    let failed = decided.carried.steps.len() - left_out - done;
    let mut line = format!("proposal {id} landed: {done} done");
    for (count, word) in [(left_out, "left out"), (failed, "failed")] {
        if count > 0 {
            line.push_str(&format!(", {count} {word}"));
        }
    }
    line
}

/// Checks whether the decision carried something out.
fn has_landed_now(decided: &DecidedProposal) -> bool {
    decided.proposal.end() == Some(ProposalEnd::Landed) && !decided.carried.steps.is_empty()
}

/// Returns the words for the end of a proposal if the decision landed nothing of it.
fn end_without_landing(decided: &DecidedProposal) -> &'static str {
    match decided.proposal.end() {
        Some(ProposalEnd::Closed) => {
            "closed without an answer: its session has moved on, or its file is another reply"
        }
        Some(ProposalEnd::Landed) => "executed before: nothing was done now",
        Some(ProposalEnd::SentBack) | None => "sent back",
    }
}
