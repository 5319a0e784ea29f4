//! The calls about the queue, as plain values that the owner of the state folder carries out for every process.

use std::time::Duration;

use change_review::{
    CommentPosition, Content, Draft, Proposal, ProposalId, ProposalSummary, ProposedCall, Selection,
    SinceReview, State, Tried,
};
use serde::{Deserialize, Serialize};
use tag_session::SessionError;
use tagproto::ExecutionObserver;
use wap_core::{Call, Tool};

use crate::owner::reply_calls::{ApplyReply, SessionReply};
use crate::owner::session_call::{Caller, SessionCall, SessionRefusal};
use crate::review::CarriedOut;
use crate::state::LocalSessions;

/// The longest time for which one call waits for a reviewer; a caller that waits longer calls again.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// Proposes a reply to a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProposeReply(pub ApplyReply);

impl SessionCall for ProposeReply {
    const METHOD: &'static str = "agentd/proposeReply";
    const TOOL: Tool = Tool::ReadFile;
    /// `None` if there is nothing to review: the reply changes nothing and runs nothing, or was executed before.
    type Answer = Option<Proposal>;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Option<Proposal>, SessionRefusal> {
        let reply = &self.0;
        let SessionReply { session, text, again, run_complete } = &reply.reply;
        // A refused reply is not for a reviewer, and an executed one needs none.
        match sessions.would_execute(*session, text, *again, *run_complete) {
            // A trial of the same proposal, which another process waits for, counts as one that is being executed.
            Ok(true) | Err(SessionError::Busy) => {}
            Ok(false) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let session = sessions.session(*session)?;
        let subject = format!("reply to message {}: {}", reply.answering, first_line(&session.task));
        let content = Content::Reply(serde_json::to_value(reply).expect("replies have string keys"));
        let from = (session.session_id.to_string(), "session", subject);
        sessions.reviews().propose(sessions, (&from.0, from.1, &from.2), content, call.cancel)
    }
}

/// Proposes calls of tools.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProposeCalls {
    /// The client that makes them.
    pub conversation: String,
    /// The front end that it uses.
    pub front_end: String,
    /// The calls.
    pub calls: Vec<ProposedCall>,
    /// The name of their run, random, chosen by the client.
    pub run: String,
}

impl SessionCall for ProposeCalls {
    const METHOD: &'static str = "agentd/proposeCalls";
    const TOOL: Tool = Tool::ReadFile;
    /// `None` if there is nothing to review.
    type Answer = Option<Proposal>;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Option<Proposal>, SessionRefusal> {
        let ProposeCalls { conversation, front_end, calls, run } = self.clone();
        let subject = match calls.first() {
            Some(ProposedCall::Command(command)) => {
                let text = command.recorded_command.as_ref().unwrap_or(&command.command);
                format!("run {}", first_line(text))
            }
            Some(ProposedCall::Changes(changes)) => match changes.as_slice() {
                [only] => format!("change {}", only.path()),
                several => format!("change {} files", several.len()),
            },
            None => String::new(),
        };
        let content = Content::Calls { run, calls };
        sessions.reviews().propose(sessions, (&conversation, &front_end, &subject), content, call.cancel)
    }
}

/// Lists the proposals, the oldest first.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ListProposals;

impl SessionCall for ListProposals {
    const METHOD: &'static str = "agentd/listProposals";
    const TOOL: Tool = Tool::ReadFile;
    const IS_CONFINED: bool = false;
    type Answer = Vec<ProposalSummary>;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        _: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Vec<ProposalSummary>, SessionRefusal> {
        Ok(sessions.reviews().queue.list()?)
    }
}

/// Returns a proposal with its draft and its last trial. If the folder has changed in the meantime, the steps are
/// planned again.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ShowProposal(pub ProposalId);

/// A proposal as a reviewer sees it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownProposal {
    /// The proposal, with its steps planned on the current folder.
    pub proposal: Proposal,
    /// The draft.
    pub draft: Draft,
    /// The position of each comment of the draft, in their order.
    pub positions: Vec<CommentPosition>,
    /// The outcome of the last trial; `None` if there was none. Its `is_held` says whether landing adopts it.
    pub tried: Option<Tried>,
    /// The news since the last review of the same conversation; `None` if nothing was sent back before.
    #[serde(default)]
    pub since: Option<SinceReview>,
}

impl SessionCall for ShowProposal {
    const METHOD: &'static str = "agentd/showProposal";
    const TOOL: Tool = Tool::ReadFile;
    const IS_CONFINED: bool = false;
    type Answer = ShownProposal;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<ShownProposal, SessionRefusal> {
        let reviews = sessions.reviews();
        let proposal = reviews.current(sessions, self.0, call.cancel)?;
        let draft = reviews.queue.draft(self.0)?;
        let positions = draft.comments.iter().map(|comment| comment.position(&proposal.steps)).collect();
        let mut tried = reviews.queue.tried(self.0)?;
        if let Some(tried) = &mut tried {
            tried.is_held = reviews.holds(self.0);
        }
        let since = match proposal.is_pending() {
            true => SinceReview::of(&proposal.steps, &reviews.queue.earlier(&proposal)?),
            false => None,
        };
        Ok(ShownProposal { proposal, draft, positions, tried, since })
    }
}

/// Saves the draft of a proposal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SaveDraft {
    /// The proposal.
    pub id: ProposalId,
    /// The draft, with the revision that was read.
    pub draft: Draft,
}

impl SessionCall for SaveDraft {
    const METHOD: &'static str = "agentd/saveDraft";
    const TOOL: Tool = Tool::WriteFile;
    const IS_CONFINED: bool = false;
    /// The draft with its next revision.
    type Answer = Draft;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        _: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Draft, SessionRefusal> {
        Ok(sessions.reviews().queue.save_draft(self.id, self.draft.clone())?)
    }
}

/// Tries a choice on an overlay. Nothing of it reaches the folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TryProposal {
    /// The proposal.
    pub id: ProposalId,
    /// The choice.
    pub selection: Selection,
}

impl SessionCall for TryProposal {
    const METHOD: &'static str = "agentd/tryProposal";
    const TOOL: Tool = Tool::ExecuteCommand;
    type Answer = Tried;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Tried, SessionRefusal> {
        sessions.reviews().try_out(sessions, self.id, &self.selection, call)
    }
}

/// Lands the choice of the draft as it was tried, or sends everything back.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DecideProposal {
    /// The proposal.
    pub id: ProposalId,
    /// True if nothing of it lands.
    pub sends_back: bool,
    /// The revision of the draft that the reviewer saw: if it differs now, because another window has saved it or the
    /// folder has changed, nothing is decided.
    pub revision: u64,
    /// The mark of the steps that the reviewer saw ([`steps_mark`](change_review::steps_mark)): if they differ now,
    /// because the folder has changed or another window has tried everything, nothing lands.
    #[serde(default)]
    pub mark: String,
}

/// The end of a proposal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecidedProposal {
    /// The proposal.
    pub proposal: Proposal,
    /// The steps with their outcomes.
    pub carried: CarriedOut,
}

impl SessionCall for DecideProposal {
    const METHOD: &'static str = "agentd/decideProposal";
    const TOOL: Tool = Tool::ExecuteCommand;
    type Answer = DecidedProposal;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<DecidedProposal, SessionRefusal> {
        let reviews = sessions.reviews();
        let decision = (self.id, self.revision);
        let (proposal, carried) = match self.sends_back {
            true => reviews.send_back(sessions, decision, call)?,
            false => reviews.land(sessions, (decision, &self.mark), call, observer)?,
        };
        Ok(DecidedProposal { proposal, carried })
    }
}

/// Removes the unreadable parts of a proposal.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct DropProposal(pub ProposalId);

impl SessionCall for DropProposal {
    const METHOD: &'static str = "agentd/dropProposal";
    const TOOL: Tool = Tool::WriteFile;
    const IS_CONFINED: bool = false;
    type Answer = ();

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        _: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<(), SessionRefusal> {
        Ok(sessions.reviews().queue.drop_unreadable(self.0)?)
    }
}

/// Waits for a while until a proposal is over, and returns its current state. In processes other than the owner of the
/// state folder it does not wait.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct AwaitReview {
    /// The proposal.
    pub id: ProposalId,
    /// The longest wait; at most 20 seconds.
    pub longest: Duration,
}

impl SessionCall for AwaitReview {
    const METHOD: &'static str = "agentd/awaitReview";
    const TOOL: Tool = Tool::ReadFile;
    const IS_CONFINED: bool = false;
    type Answer = Proposal;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        caller: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Proposal, SessionRefusal> {
        let longest = match caller {
            Caller::Owner => self.longest.min(LONGEST_WAIT),
            // The threads for other processes are few, and a reviewer may take hours: a client asks again.
            Caller::Client => Duration::ZERO,
        };
        Ok(sessions.reviews().queue.wait(self.id, longest, &|| call.cancel.is_cancelled())?)
    }
}

/// Records that the model's end has received the outcome of a proposal: the same request is then a new one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct AnsweredProposal(pub ProposalId);

impl SessionCall for AnsweredProposal {
    const METHOD: &'static str = "agentd/answeredProposal";
    const TOOL: Tool = Tool::WriteFile;
    const IS_CONFINED: bool = false;
    type Answer = ();

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        _: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<(), SessionRefusal> {
        let queue = &sessions.reviews().queue;
        if let State::Decided(mut decision) = queue.proposal(self.0)?.state {
            decision.is_answered = true;
            queue.advance(self.0, State::Decided(decision), |_| true)?;
        }
        Ok(())
    }
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}
