//! Waiting for the review of a reply.

use std::thread;
use std::time::Duration;

use change_review::{ProposalId, State};
use wap_core::CancelFlag;
use workspace_host::{AnsweredProposal, ApplyReply, AwaitReview, ProposeReply, SharedSessions, ShowProposal};

use crate::commands::review::at_terminal::{Ends, review_at_terminal};
use crate::exit::Failure;
use crate::views::console::Console;

/// The pause between two looks at a proposal of another process.
const PAUSE: Duration = Duration::from_millis(200);

/// The longest time for which one call waits.
const WAIT: Duration = Duration::from_secs(5);

/// The end of the wait for a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reviewed {
    /// It has nothing to review: it may be executed.
    NothingToReview,
    /// A reviewer has decided, and the choice was carried out.
    Decided,
    /// The proposal was ended without a choice: the reply must not be executed.
    Closed,
    /// This process was asked to end; the proposal waits on.
    Cancelled,
}

/// Puts a reply into the queue and waits until a reviewer has decided: here, in the view of the queue, or elsewhere.
pub(crate) fn reviewed(
    console: Console,
    sessions: &SharedSessions,
    request: &ApplyReply,
    opens_view: bool,
    cancel: &CancelFlag,
) -> Result<Reviewed, Failure> {
    let Some(proposal) = sessions.call(&ProposeReply(request.clone()), cancel)? else {
        // A plan that was stopped has no steps either.
        let is_stopped = cancel.is_cancelled();
        return Ok(if is_stopped { Reviewed::Cancelled } else { Reviewed::NothingToReview });
    };
    let id = proposal.id;
    let mut is_pending = proposal.is_pending();
    if is_pending && opens_view {
        review_at_terminal(console, sessions, Some(id), Ends::WithTheDecision, cancel)?;
        is_pending = sessions.call(&ShowProposal(id), cancel)?.proposal.is_pending();
    }
    if is_pending {
        console.notice(&format!(
            "the reply waits for your review: `agentd review {id}`, or the page of `agentd ui`"
        ));
    }
    wait(sessions, id, cancel)
}

fn wait(sessions: &SharedSessions, id: ProposalId, cancel: &CancelFlag) -> Result<Reviewed, Failure> {
    loop {
        let proposal = sessions.call(&AwaitReview { id, longest: WAIT }, cancel)?;
        if let State::Decided(decision) = proposal.state {
            sessions.call(&AnsweredProposal(id), cancel)?;
            return Ok(if decision.is_closed { Reviewed::Closed } else { Reviewed::Decided });
        }
        if cancel.is_cancelled() {
            return Ok(Reviewed::Cancelled);
        }
        thread::sleep(PAUSE);
    }
}
