//! The queue of changes that wait for review: shown, commented, tried, landed and sent back.

mod decisions;
mod drafts;
mod proposal_view;

use std::sync::{Arc, PoisonError};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use change_review::{Draft, ProposalId, ProposalSummary};
use serde::Serialize;
use serde_json::json as value;
use wap_core::CancelFlag;
use workspace_host::{ListProposals, SharedSessions, ShowProposal, ShownProposal};

use crate::answer::{Refused, json};
use crate::bounded_text::cut;
use crate::page::Page;

/// The most finished proposals in a list, and the most characters of a subject.
const MOST_OVER: usize = 20;
const SUBJECT_CHARACTERS: usize = 300;

/// The most concurrent trials. The rest of the page's long calls are left for landing.
const MOST_TRIALS: usize = 8;

/// Returns the routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
        .route("/ui/api/review", get(list))
        .route("/ui/api/review/{id}", get(show))
        .route("/ui/api/review/{id}/steps/{step}", get(show_step))
        .route("/ui/api/review/{id}/draft", post(drafts::save))
        .route("/ui/api/review/{id}/comment", post(drafts::comment))
        .route("/ui/api/review/{id}/try", post(decisions::try_out))
        .route("/ui/api/review/{id}/stop", post(decisions::stop))
        .route("/ui/api/review/{id}/land", post(decisions::land))
        .route("/ui/api/review/{id}/send-back", post(decisions::send_back))
        .route("/ui/api/review/{id}/drop", post(decisions::drop_unreadable))
}

/// The current draft, with the reason that a request with an outdated one is refused.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outdated<'a> {
    error: &'a str,
    advice: &'a str,
    /// The current draft, with which the page continues.
    draft: &'a Draft,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    /// The waiting proposals, and those that cannot be read.
    waiting: Vec<ProposalSummary>,
    /// The latest finished proposals, the newest first.
    over: Vec<ProposalSummary>,
}

/// Lists the waiting proposals, the oldest first, and the latest finished ones.
async fn list(State(page): State<Arc<Page>>) -> Response {
    page.answer(|page| {
        let mut all = page.sessions()?.call(&ListProposals, &CancelFlag::new())?;
        for proposal in &mut all {
            proposal.fault =
                proposal.fault.as_deref().map(|fault| cut(fault, SUBJECT_CHARACTERS).0.to_owned());
            proposal.subject = cut(&proposal.subject, SUBJECT_CHARACTERS).0.to_owned();
        }
        let (waiting, mut over): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|one| one.is_pending || one.fault.is_some());
        over.reverse();
        over.truncate(MOST_OVER);
        Ok(json(&Listed { waiting, over }))
    })
    .await
}

/// Shows a proposal against the folder's current state, within bounds.
async fn show(State(page): State<Arc<Page>>, Path(id): Path<u64>) -> Response {
    page.answer(move |page| {
        let review = current(&*page.sessions()?, ProposalId(id))?;
        Ok(json(&proposal_view::view(page, review)))
    })
    .await
}

/// Shows one step with the widest bounds.
async fn show_step(State(page): State<Arc<Page>>, Path((id, step)): Path<(u64, u32)>) -> Response {
    page.answer(move |page| {
        let review = current(&*page.sessions()?, ProposalId(id))?;
        let wanted = review.proposal.steps.iter().find(|one| one.step == step);
        let wanted = wanted.ok_or_else(|| Refused::missing(format!("there is no step {step}")))?;
        Ok(json(&proposal_view::whole_step(wanted)))
    })
    .await
}

fn current(sessions: &SharedSessions, id: ProposalId) -> Result<ShownProposal, Refused> {
    Ok(sessions.call(&ShowProposal(id), &CancelFlag::new())?)
}

/// A running trial, with its cancel flag. Once it is dropped, even by a panic, the proposal can be tried again.
struct RunningTrial<'p> {
    page: &'p Page,
    id: ProposalId,
    cancel: CancelFlag,
}

impl Drop for RunningTrial<'_> {
    fn drop(&mut self) {
        self.page.trials.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl Page {
    /// Returns the number of proposals that wait.
    pub(crate) fn waiting_reviews(&self, sessions: &SharedSessions) -> usize {
        let all = sessions.call(&ListProposals, &CancelFlag::new()).unwrap_or_default();
        all.iter().filter(|proposal| proposal.is_pending).count()
    }

    /// Notifies every open page that the queue has changed.
    pub(crate) fn publish_reviews(&self, sessions: &SharedSessions) {
        self.events.publish(&value!({ "type": "review", "waiting": self.waiting_reviews(sessions) }));
    }

    /// Marks a proposal as being tried until the returned value is dropped.
    fn begin_trial(&self, id: ProposalId) -> Result<RunningTrial<'_>, Refused> {
        let mut trials = self.trials.lock().unwrap_or_else(PoisonError::into_inner);
        if trials.contains_key(&id) {
            return Err(Refused::new(StatusCode::CONFLICT, "it is being tried already"));
        }
        if trials.len() >= MOST_TRIALS {
            let text = format!("{MOST_TRIALS} proposals are being tried already, one after the other");
            return Err(Refused::new(StatusCode::CONFLICT, text).advise("wait for one of them, or stop it"));
        }
        let cancel = CancelFlag::new();
        trials.insert(id, cancel.clone());
        Ok(RunningTrial { page: self, id, cancel })
    }

    /// Stops every trial.
    pub(crate) fn stop_trials(&self) {
        let trials = self.trials.lock().unwrap_or_else(PoisonError::into_inner);
        trials.values().for_each(CancelFlag::cancel);
    }

    /// Returns the flag that ends the trial of a proposal, if there is one.
    fn trial(&self, id: ProposalId) -> Option<CancelFlag> {
        self.trials.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }
}
