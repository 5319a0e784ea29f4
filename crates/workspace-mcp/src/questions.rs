//! The review of a server's workspace, by questions to the person at a client.

mod app;
mod description;
mod text;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use change_journal::ContentHash;
use change_review::{Content, ProposalId, ProposalSummary, ProposedCall, StepEffect, steps_mark};
use wap_core::{Call, ConversationId, Reason, Request, Tool, WapError};
use wap_mcp::{Question, ReviewQuestions, ShownReview, Verdict, Wanted};
use workspace_host::{
    DecideProposal, ListProposals, ReviewPolicy, SaveDraft, SecretRules, SessionCall, SharedWorkspace,
    ShowProposal, ShownProposal, TryProposal,
};

use crate::asking::ask;

/// The review of the workspace that a server serves.
pub struct ServedQuestions {
    workspace: Arc<SharedWorkspace>,
    rules: SecretRules,
    policy: ReviewPolicy,
    most_deletions: Option<usize>,
    /// The proposals whose answer is being carried out: no questions are asked about them, and further answers
    /// are ignored.
    deciding: Mutex<HashSet<u64>>,
}

/// A proposal whose answer is being carried out, until it is dropped.
struct Deciding<'a> {
    questions: &'a ServedQuestions,
    proposal: u64,
}

impl Drop for Deciding<'_> {
    fn drop(&mut self) {
        self.questions.deciding().remove(&self.proposal);
    }
}

impl ReviewQuestions for ServedQuestions {
    fn reviewed_tools(&self) -> &'static [Tool] {
        match self.policy {
            ReviewPolicy::All => &[Tool::WriteFile, Tool::ModifyFile, Tool::DeleteFile, Tool::ExecuteCommand],
            ReviewPolicy::Commands => &[Tool::ExecuteCommand],
            ReviewPolicy::None if self.most_deletions.is_some() => &[Tool::ExecuteCommand],
            ReviewPolicy::None => &[],
        }
    }

    fn question(&self, call: &Call<'_>, request: &Request) -> Result<Option<Question>, WapError> {
        Ok(self.waiting(call, request, true)?.map(|review| self.question_of(&review)))
    }

    fn review(&self, call: &Call<'_>, wanted: &Wanted) -> Result<Option<ShownReview>, WapError> {
        let review = match wanted {
            Wanted::About { request, is_own } => self.waiting(call, request, *is_own)?,
            Wanted::Numbered(number) => {
                let all = self.request(&ListProposals, call)?;
                match all.iter().find(|one| one.id.0 == *number && one.fault.is_none()) {
                    Some(summary) => Some(self.request(&ShowProposal(summary.id), call)?),
                    None => None,
                }
            }
        };
        Ok(review.map(|review| {
            let question = Question { text: String::new(), ..self.question_of(&review) };
            app::drawn(&review, question, &self.rules, self.deciding().contains(&review.proposal.id.0))
        }))
    }

    fn decide(&self, call: &Call<'_>, question: &Question, verdict: &Verdict) -> Result<(), WapError> {
        let id = ProposalId(question.proposal);
        if !self.deciding().insert(question.proposal) {
            let text = format!("another answer about proposal {id} came first and is being carried out");
            return Err(WapError::new(Reason::LeftOut, text));
        }
        let _deciding = Deciding { questions: self, proposal: question.proposal };
        let review = self.request(&ShowProposal(id), call)?;
        if !review.proposal.is_pending() {
            let text = format!("proposal {id} was decided before this answer came");
            return Err(WapError::new(Reason::LeftOut, text));
        }
        if digest(&review) != question.digest || review.proposal.conversation != question.conversation.0 {
            let text = format!("proposal {id} has changed since it was asked about; nothing was done");
            return Err(WapError::new(Reason::Conflict, text));
        }
        let mut mark = steps_mark(&review.proposal.steps);
        let mut draft = review.draft.clone();
        let sends_back = match verdict {
            Verdict::CarryOut => {
                // A command that is left running cannot be tried: landing starts it.
                let is_command = |effect: &StepEffect| matches!(effect, StepEffect::Command(command) if command.background.is_none());
                // If the question was about a trial with its deletions, that trial lands and is not repeated.
                let is_untried = self.policy != ReviewPolicy::None || review.held_trial().is_none();
                if is_untried && review.proposal.steps.iter().any(|step| is_command(&step.effect)) {
                    // A choice lands as it was tried, so commands are tried first.
                    self.request(&TryProposal { id, selection: draft.selection.clone() }, call)?;
                    mark = steps_mark(&self.request(&ShowProposal(id), call)?.proposal.steps);
                }
                false
            }
            Verdict::SendBack { comment } => {
                if !comment.is_empty() {
                    draft.summary.clone_from(comment);
                    draft = self.request(&SaveDraft { id, draft }, call)?;
                }
                true
            }
        };
        // The revision of the draft in the question: a window that has saved it since wins.
        self.request(&DecideProposal { id, sends_back, revision: draft.revision, mark }, call).map(drop)
    }
}

impl ServedQuestions {
    /// Serves the review of a workspace, without the secrets that `rules` recognise.
    ///
    /// `most_deletions` is the number of files up to which a command may delete without a question; `None` for any number.
    #[must_use]
    pub fn new(
        workspace: Arc<SharedWorkspace>,
        rules: SecretRules,
        policy: ReviewPolicy,
        most_deletions: Option<usize>,
    ) -> ServedQuestions {
        ServedQuestions { workspace, rules, policy, most_deletions, deciding: Mutex::default() }
    }

    fn deciding(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.deciding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request<C: SessionCall>(&self, request: &C, call: &Call<'_>) -> Result<C::Answer, WapError> {
        ask(&self.workspace, &self.rules, request, call)
    }

    /// Returns the newest waiting proposal about a request, of the calling conversation or of any.
    fn waiting(
        &self,
        call: &Call<'_>,
        request: &Request,
        is_own: bool,
    ) -> Result<Option<ShownProposal>, WapError> {
        let conversation = &call.origin.conversation;
        let all = self.request(&ListProposals, call)?;
        let meant = |one: &&ProposalSummary| {
            one.is_pending && one.fault.is_none() && (!is_own || one.conversation == conversation.0)
        };
        for summary in all.iter().rev().filter(meant) {
            if self.deciding().contains(&summary.id.0) {
                continue;
            }
            let review = self.request(&ShowProposal(summary.id), call)?;
            // Another window's draft already leaves something out: a question about everything would differ from the
            // decision.
            let is_chosen_from = !review.draft.selection.0.is_empty();
            let is_asked_about = !is_chosen_from && self.asks_about(&review);
            if review.proposal.is_pending() && is_asked_about && self.is_about(&review, request) {
                return Ok(Some(review));
            }
        }
        Ok(None)
    }

    /// Reports whether a person is asked about a proposal: about any under a review, otherwise about one that deletes
    /// many files, or one left running, whose deletions are unknown.
    fn asks_about(&self, review: &ShownProposal) -> bool {
        let Content::Calls { calls, .. } = &review.proposal.content else { return true };
        let is_left_running =
            matches!(calls.as_slice(), [ProposedCall::Command(command)] if command.background.is_some());
        match (self.policy, self.most_deletions) {
            (ReviewPolicy::None, Some(most)) => is_left_running || review.deletions().len() > most,
            _ => true,
        }
    }

    fn question_of(&self, review: &ShownProposal) -> Question {
        Question {
            proposal: review.proposal.id.0,
            conversation: ConversationId(review.proposal.conversation.clone()),
            digest: digest(review),
            text: text::of(review, &self.rules),
        }
    }

    /// Reports whether a proposal is the one that a request has made.
    fn is_about(&self, review: &ShownProposal, request: &Request) -> bool {
        let Content::Calls { calls, .. } = &review.proposal.content else { return false };
        match (calls.as_slice(), request) {
            ([ProposedCall::Command(proposed)], Request::ExecuteCommand(command)) => {
                let restored = self.rules.over(Arc::clone(&self.workspace)).restored_command(command);
                restored.is_ok_and(|restored| restored.command == proposed.command)
            }
            ([ProposedCall::Changes(changes)], Request::WriteFile(write)) => {
                changes.iter().any(|change| change.path() == write.path)
            }
            ([ProposedCall::Changes(changes)], Request::ModifyFile(modify)) => {
                changes.iter().any(|change| change.path() == modify.path)
            }
            ([ProposedCall::Changes(changes)], Request::DeleteFile(delete)) => {
                changes.iter().any(|change| change.path() == delete.path)
            }
            _ => false,
        }
    }
}

/// Returns the digest of everything that an answer decides: the requested actions, their planned or tried changes, and
/// the current draft.
fn digest(review: &ShownProposal) -> String {
    let tried = review.held_trial().map(|tried| &tried.files);
    let decided =
        (&review.proposal.id, &review.proposal.content, &review.proposal.steps, &review.draft, tried);
    let bytes = serde_json::to_vec(&decided).expect("proposals have string keys");
    ContentHash::of(&bytes).to_string()
}
