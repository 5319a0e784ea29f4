//! Questions of 2026-07-28: the call is answered with the question, and repeated with the answer.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, ElicitRequest, ElicitResult, InputRequest, InputRequiredResult};
use rmcp::service::RequestContext;
use wap_calls::Client;
use wap_core::{Reason, Request, WapError};

use super::form::{form, verdict};
use super::open::{Questions, digest};
use super::source::Question;

/// The name of the question within its answer.
const KEY: &str = "review";

/// The answer that a call brings along.
pub(super) enum Answered {
    /// None, or one without effect: replayed, late or forged.
    Nothing,
    /// An answer without effect because the proposal has changed since: the question is repeated, in the conversation of the
    /// proposal.
    Outdated(Question),
    /// The person did not decide.
    Undecided(WapError),
    /// The proposal is decided, by this answer or before it; the call is made in the conversation of the proposal.
    Decided(Question),
}

impl Questions {
    /// Returns the question about a call as the answer to it.
    pub(super) async fn required(&self, client: &Arc<Client>, request: &Request) -> InputRequiredResult {
        let question = self.find(client, request).await;
        let elicitation = InputRequest::Elicitation(ElicitRequest::new(form(&question)));
        let handle = self.keep(digest(request), question);
        InputRequiredResult::new(Some([(KEY.to_owned(), elicitation)].into()), Some(handle))
    }

    /// Decides according to the answer in a call. A client that cancels its call ends the operation that its answer allowed.
    pub(super) async fn answered(
        &self,
        client: &Arc<Client>,
        params: &CallToolRequestParams,
        request: &Request,
        context: &RequestContext<RoleServer>,
    ) -> Answered {
        let Some(handle) = &params.request_state else { return Answered::Nothing };
        let Some(question) = self.take(handle, digest(request)) else { return Answered::Nothing };
        let answer = params.input_responses.as_ref().and_then(|answers| answers.get(KEY));
        let answer = answer.and_then(|answer| serde_json::from_value::<ElicitResult>(answer.clone()).ok());
        let Some(verdict) = answer.and_then(|answer| verdict(&answer)) else {
            return Answered::Undecided(undecided(&question));
        };
        match self.decide_until_given_up(client, question.clone(), verdict, context).await {
            Ok(()) => Answered::Decided(question),
            Err(error) if error.reason() == Reason::Conflict => Answered::Outdated(question),
            // Another verdict came first; the call returns its outcome.
            Err(error) if error.reason() == Reason::LeftOut => Answered::Decided(question),
            Err(error) => Answered::Undecided(error),
        }
    }
}

fn undecided(question: &Question) -> WapError {
    let id = question.proposal;
    let text = format!(
        "the user has decided nothing about this (proposal {id}); nothing was done. The user can decide with `agentd review \
         {id}` in the workspace"
    );
    WapError::new(Reason::PendingReview, text).with("proposal", id.to_string())
}
