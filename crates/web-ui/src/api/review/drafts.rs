//! Drafts: saved as a whole, with the revision that was read, so that two windows do not overwrite each other.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{Response as HttpResponse, StatusCode};
use axum::response::Response;
use change_review::{Comment, Draft, ProposalId, Side};
use serde::{Deserialize, Serialize};
use wap_core::CancelFlag;
use workspace_host::{SaveDraft, SharedSessions};

use super::{Outdated, current};
use crate::answer::{Answer, Refused, json};
use crate::api::read;
use crate::page::Page;

/// The most characters of a comment, the most lines that it covers, and the most comments.
const MOST_CHARACTERS: usize = 20_000;
const MOST_LINES: usize = 200;
const MOST_COMMENTS: usize = 500;

#[derive(Serialize)]
struct Saved {
    draft: Draft,
}

/// Saves choices and comments.
pub(super) async fn save(State(page): State<Arc<Page>>, Path(id): Path<u64>, body: Bytes) -> Response {
    page.answer(move |page| {
        let draft: Draft = read(&body)?;
        let texts = draft.comments.iter().map(|comment| &comment.text).chain([&draft.summary]);
        texts.into_iter().try_for_each(|text| check(text))?;
        put(&*page.sessions()?, ProposalId(id), draft)
    })
    .await
}

/// A comment that has no anchor yet.
#[derive(Deserialize)]
struct NewComment {
    /// The revision that the page has read.
    revision: u64,
    step: u32,
    #[serde(default)]
    side: Side,
    /// The first and the last line; `None` for the step as a whole.
    lines: Option<(usize, usize)>,
    text: String,
}

/// Adds a comment, anchored to its lines.
pub(super) async fn comment(State(page): State<Arc<Page>>, Path(id): Path<u64>, body: Bytes) -> Response {
    page.answer(move |page| {
        let NewComment { revision, step, side, lines, text } = read(&body)?;
        check(&text)?;
        if text.trim().is_empty() {
            return Err(Refused::bad("the comment is empty"));
        }
        let sessions = page.sessions()?;
        let review = current(&sessions, ProposalId(id))?;
        if review.draft.revision != revision {
            return Ok(outdated(&review.draft));
        }
        let step = review.proposal.steps.iter().find(|one| one.step == step);
        let step = step.ok_or_else(|| Refused::missing("the folder has changed: that step is gone"))?;
        let comment = match lines {
            None => Comment::on_step(step, text),
            Some((first, last)) if last.saturating_sub(first) >= MOST_LINES => {
                return Err(Refused::bad(format!("a comment is about at most {MOST_LINES} lines")));
            }
            Some(lines) => Comment::on_lines(step, side, lines, text)
                .ok_or_else(|| Refused::bad(format!("there are no lines {} to {}", lines.0, lines.1)))?,
        };
        let mut draft = review.draft;
        if draft.comments.len() >= MOST_COMMENTS {
            return Err(Refused::bad(format!("a review has at most {MOST_COMMENTS} comments")));
        }
        draft.comments.push(comment);
        put(&sessions, ProposalId(id), draft)
    })
    .await
}

fn check(text: &str) -> Result<(), Refused> {
    if text.len() > MOST_CHARACTERS && text.chars().count() > MOST_CHARACTERS {
        return Err(Refused::bad(format!("a comment has at most {MOST_CHARACTERS} characters")));
    }
    Ok(())
}

/// Saves a draft, or answers with the draft that another window has saved.
fn put(sessions: &SharedSessions, id: ProposalId, draft: Draft) -> Answer {
    let revision = draft.revision;
    let failure = match sessions.call(&SaveDraft { id, draft }, &CancelFlag::new()) {
        Ok(draft) => return Ok(json(&Saved { draft })),
        Err(failure) => failure,
    };
    let review = current(sessions, id)?;
    if review.proposal.is_pending() && review.draft.revision != revision {
        return Ok(outdated(&review.draft));
    }
    Err(failure.into())
}

/// Answers a request with a draft that another window has changed since.
pub(super) fn outdated(draft: &Draft) -> HttpResponse<Body> {
    let mut response = json(&Outdated {
        error: "another window has changed this review",
        advice: "its state is review now; what you did last here was not saved",
        draft,
    });
    *response.status_mut() = StatusCode::CONFLICT;
    response
}
