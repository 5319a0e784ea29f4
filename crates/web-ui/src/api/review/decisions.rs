//! Trying a choice, landing it, and sending a proposal back.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use change_review::{ProposalEnd, ProposalId, steps_mark};
use serde::{Deserialize, Serialize};
use serde_json::json as value;
use wap_core::CancelFlag;
use workspace_host::{DecideProposal, DropProposal, ShownProposal, TryProposal};

use super::drafts::outdated;
use super::{current, proposal_view};
use crate::answer::{Answer, Refused, json};
use crate::api::read;
use crate::page::Page;

/// The state that the page showed when the user decided.
#[derive(Deserialize)]
struct LookedAt {
    /// The revision of the draft.
    revision: u64,
    /// The mark of the steps.
    mark: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Decided {
    end: Option<ProposalEnd>,
    outcomes: Vec<proposal_view::OutcomeView>,
    review: String,
}

/// Tries the choice of the draft, until it is done or stopped.
pub(super) async fn try_out(State(page): State<Arc<Page>>, Path(id): Path<u64>, body: Bytes) -> Response {
    page.answer_long(move |page| {
        let request: LookedAt = read(&body)?;
        let id = ProposalId(id);
        let sessions = page.sessions()?;
        let now = current(&sessions, id)?;
        if now.draft.revision != request.revision {
            return Ok(outdated(&now.draft));
        }
        let trial = page.begin_trial(id)?;
        page.publish_reviews(&sessions);
        let tried = sessions.call(&TryProposal { id, selection: now.draft.selection }, &trial.cancel);
        let was_stopped = trial.cancel.is_cancelled();
        drop(trial);
        page.publish_reviews(&sessions);
        match tried {
            Err(_) if was_stopped => Ok(json(&value!({ "stopped": true }))),
            Err(failure) => Err(failure.into()),
            Ok(_) => Ok(json(&value!({ "stopped": false }))),
        }
    })
    .await
}

/// Stops a trial.
pub(super) async fn stop(State(page): State<Arc<Page>>, Path(id): Path<u64>) -> Response {
    page.answer(move |page| {
        let trial = page.trial(ProposalId(id)).ok_or_else(|| Refused::missing("nothing is being tried"))?;
        trial.cancel();
        Ok(json(&value!({})))
    })
    .await
}

/// Lands the choice of the draft.
pub(super) async fn land(State(page): State<Arc<Page>>, Path(id): Path<u64>, body: Bytes) -> Response {
    page.answer_long(move |page| decide(page, ProposalId(id), &body, false)).await
}

/// Lands nothing; the comments go to the model.
pub(super) async fn send_back(State(page): State<Arc<Page>>, Path(id): Path<u64>, body: Bytes) -> Response {
    page.answer_long(move |page| decide(page, ProposalId(id), &body, true)).await
}

/// Removes the unreadable data of a proposal.
pub(super) async fn drop_unreadable(State(page): State<Arc<Page>>, Path(id): Path<u64>) -> Response {
    page.answer(move |page| {
        let sessions = page.sessions()?;
        let dropped = sessions.call(&DropProposal(ProposalId(id)), &CancelFlag::new());
        page.publish_reviews(&sessions);
        dropped?;
        Ok(json(&value!({})))
    })
    .await
}

fn decide(page: &Arc<Page>, id: ProposalId, body: &[u8], sends_back: bool) -> Answer {
    let request: LookedAt = read(body)?;
    let sessions = page.sessions()?;
    let now: ShownProposal = current(&sessions, id)?;
    if !now.proposal.is_pending() {
        return Err(Refused::new(StatusCode::CONFLICT, format!("proposal {id} is over already")));
    }
    // Only the steps that the user has seen may land, not a newer plan on a changed folder. Checked before the revision, which
    // planning again raises as well.
    if !sends_back && steps_mark(&now.proposal.steps) != request.mark {
        let message = match now.proposal.is_tried {
            true => {
                "another window has tried all of it since you looked: the differences are the real ones now"
            }
            false => "the folder has changed since you looked: it was planned again, and nothing has landed",
        };
        return Err(Refused::new(StatusCode::CONFLICT, message).advise("look at it again"));
    }
    if now.draft.revision != request.revision {
        return Ok(outdated(&now.draft));
    }
    let request = DecideProposal { id, sends_back, revision: request.revision, mark: request.mark };
    let decided = sessions.call(&request, &CancelFlag::new());
    page.publish_reviews(&sessions);
    let decided = decided?;
    Ok(json(&Decided {
        end: decided.proposal.end(),
        outcomes: decided.carried.steps.iter().map(|step| proposal_view::outcome(&step.outcome)).collect(),
        review: proposal_view::review_of(&decided.proposal).unwrap_or_default(),
    }))
}
