//! Waiting for the review of a reply.

use std::thread;
use std::time::Duration;

use change_review::{ProposalId, State};
use tagproto::UnobservedExecution;
use wap_core::CancelFlag;
use workspace_host::{
    AnsweredProposal, ApplyReply, AwaitReview, ProposeReply, SessionRefusal, SharedSessions, ShowProposal,
    Watching,
};

use crate::commands::review::at_terminal::{Ends, review_at_terminal};
use crate::exit::Failure;
use crate::views::console::Console;

/// The pause between two looks at a proposal of another process.
const PAUSE: Duration = Duration::from_millis(200);

/// The longest time that one call waits.
const WAIT: Duration = Duration::from_secs(5);

/// The end of the wait for a review.
#[derive(Debug)]
pub(crate) enum Reviewed {
    /// It has nothing to review: it may be executed.
    NothingToReview,
    /// A reviewer has decided, and the choice was carried out.
    Decided,
    /// The proposal was ended without an answer: the reply must not be executed. Holds the end, in words that follow "not executed:".
    Closed(&'static str),
    /// It would not be executed, so that there is nothing to decide.
    Refused(SessionRefusal),
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
    let mut observer = UnobservedExecution;
    let mut watching = Watching::new(&[], &mut observer);
    let proposed = match sessions.call_watched(&ProposeReply(request.clone()), cancel, &mut watching)? {
        Ok(proposed) => proposed,
        Err(_) if cancel.is_cancelled() => return Ok(Reviewed::Cancelled),
        Err(refusal) => return Ok(Reviewed::Refused(refusal)),
    };
    let Some(proposal) = proposed else {
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
            // What was adopted without an answer has no record in the session: executing the reply would do all of it.
            let is_unanswered = decision.answers.is_null();
            return Ok(match (decision.is_closed, is_unanswered) {
                (true, _) => Reviewed::Closed("its proposal was closed"),
                (false, true) => {
                    Reviewed::Closed("what was chosen of it is in the folder, but could not be answered")
                }
                (false, false) => Reviewed::Decided,
            });
        }
        if cancel.is_cancelled() {
            return Ok(Reviewed::Cancelled);
        }
        thread::sleep(PAUSE);
    }
}
