//! Sessions: the list, single sessions, and the user's actions apart from replies.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use tag_session::{SessionSummary, StepSummary, session_page, session_steps};
use tagproto::{CommandResult, Dialect, Session, SessionId, USUAL_BUDGET};
use wap_core::CancelFlag;
use workspace_host::session_failure::explain;
use workspace_host::{AnswerModel, CreateSession, ReopenSession, SharedSessions};

use super::{message, read, session_id};
use crate::answer::{Refused, json};
use crate::bounded_text::{AnswerBudget, BoundedText, TextBounds, bounded};
use crate::page::Page;

/// The most entries of a part of a list.
const MOST_ENTRIES: usize = 100;

/// A part of a list.
#[derive(Deserialize)]
pub(crate) struct Part {
    #[serde(default)]
    skip: usize,
    limit: Option<usize>,
}

#[derive(Serialize)]
struct SessionList {
    sessions: Vec<SessionSummary>,
    total: usize,
}

/// A session, as shown by the loop view.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionView {
    session: String,
    task: String,
    sequence: u32,
    complete: bool,
    done: Option<String>,
    /// The model's question in its last reply, if any.
    question: Option<String>,
    /// The answers in the pending message.
    answers: Vec<String>,
    results: Vec<ResultView>,
    results_left_out: usize,
    held: bool,
    message: Option<message::MessageView>,
    updated_at: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultView {
    kind: &'static str,
    summary: String,
    success: bool,
    output: BoundedText,
    denied: Vec<String>,
}

impl ResultView {
    fn of(result: &CommandResult, budget: &mut AnswerBudget) -> ResultView {
        ResultView {
            kind: result.command_type.name(),
            summary: budget.take(&result.summary, TextBounds::OUTPUT).text,
            success: result.success,
            output: budget.take(&result.text(), TextBounds::OUTPUT),
            denied: result.denied.iter().take(50).cloned().collect(),
        }
    }
}

pub(super) fn view(sessions: &SharedSessions, session: &Session) -> Result<SessionView, Refused> {
    let question = session.last_results.iter().rev().find(|result| result.asks());
    let is_open = !session.is_complete;
    let message = if is_open { message::view(sessions, session)? } else { None };
    let mut budget = AnswerBudget::new();
    let results = session.last_results.iter().take(MOST_ENTRIES);
    let results = results.map(|result| ResultView::of(result, &mut budget)).collect();
    Ok(SessionView {
        session: session.session_id.to_string(),
        task: bounded(&session.task, TextBounds::OUTPUT).text,
        sequence: session.sequence_number,
        complete: session.is_complete,
        done: session.done.clone(),
        question: question
            .filter(|_| is_open)
            .map(|result| bounded(&result.summary, TextBounds::OUTPUT).text),
        answers: session.answers.clone(),
        results,
        results_left_out: session.last_results.len().saturating_sub(MOST_ENTRIES),
        held: session.held.is_some(),
        message,
        updated_at: session.updated_at.clone(),
    })
}

/// Lists a part of the sessions, the most recently changed first.
pub(crate) async fn list(State(page): State<Arc<Page>>, Query(part): Query<Part>) -> Response {
    page.answer(move |page| {
        let limit = part.limit.unwrap_or(MOST_ENTRIES).min(MOST_ENTRIES);
        let Some(reader) = page.config.paths.journal_reader()? else {
            return Ok(json(&SessionList { sessions: Vec::new(), total: 0 }));
        };
        let list = session_page(&reader, part.skip, limit).map_err(explain)?;
        Ok(json(&SessionList { sessions: list.sessions, total: list.total }))
    })
    .await
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewTask {
    task: String,
    budget: Option<u32>,
    /// The most characters of one paste.
    paste_characters: Option<u32>,
}

/// Starts a session.
pub(crate) async fn create(State(page): State<Arc<Page>>, body: Bytes) -> Response {
    page.answer(move |page| {
        let new: NewTask = read(&body)?;
        if new.task.trim().is_empty() {
            return Err(Refused::bad("the task is empty").advise("say what the model should do"));
        }
        let cancel = CancelFlag::new();
        let [first, second, third, fourth, ..] = *uuid::Uuid::new_v4().as_bytes();
        let sessions = page.sessions()?;
        let request = CreateSession {
            id: SessionId::from_random([first, second, third, fourth]),
            task_files: page.config.host.task_files(&new.task, &cancel),
            task: new.task,
            dialect: Dialect::Agentd,
            budget: new.budget.or(Some(USUAL_BUDGET)),
            paste_characters: new.paste_characters,
            read_files: Vec::new(),
            surroundings: page.config.host.surroundings(),
            from: None,
        };
        let session = sessions.call(&request, &cancel)?;
        Ok(json(&view(&sessions, &session)?))
    })
    .await
}

/// Shows a session.
pub(crate) async fn show(State(page): State<Arc<Page>>, Path(id): Path<String>) -> Response {
    page.answer(move |page| {
        let sessions = page.sessions()?;
        let session = sessions.session(session_id(&id)?)?;
        Ok(json(&view(&sessions, &session)?))
    })
    .await
}

#[derive(Serialize)]
struct Steps {
    steps: Vec<StepView>,
    total: usize,
}

#[derive(Serialize)]
struct StepView {
    sequence: u32,
    finished: bool,
    results: Vec<ResultView>,
}

/// Lists a part of the replies of a session, newest first.
pub(crate) async fn steps(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Query(part): Query<Part>,
) -> Response {
    page.answer(move |page| {
        let id = session_id(&id)?;
        let Some(reader) = page.config.paths.journal_reader()? else {
            return Ok(json(&Steps { steps: Vec::new(), total: 0 }));
        };
        let steps = session_steps(&reader, id).map_err(explain)?;
        let limit = part.limit.unwrap_or(20).min(MOST_ENTRIES);
        let total = steps.len();
        let mut budget = AnswerBudget::new();
        let step = |step: StepSummary| {
            let results = step.results.iter().take(MOST_ENTRIES);
            StepView {
                sequence: step.sequence,
                finished: step.finished,
                results: results.map(|result| ResultView::of(result, &mut budget)).collect(),
            }
        };
        let steps = steps.into_iter().rev().skip(part.skip).take(limit).map(step).collect();
        Ok(json(&Steps { steps, total }))
    })
    .await
}

#[derive(Deserialize)]
struct AnswerText {
    sequence: u32,
    text: String,
}

/// Adds the user's answer to the pending message.
pub(crate) async fn answer(State(page): State<Arc<Page>>, Path(id): Path<String>, body: Bytes) -> Response {
    page.answer(move |page| {
        let AnswerText { sequence, text } = read(&body)?;
        let sessions = page.sessions()?;
        let request = AnswerModel { id: session_id(&id)?, sequence, text };
        let session = sessions.call(&request, &CancelFlag::new())?;
        Ok(json(&view(&sessions, &session)?))
    })
    .await
}

/// Reopens a completed session.
pub(crate) async fn reopen(State(page): State<Arc<Page>>, Path(id): Path<String>) -> Response {
    page.answer(move |page| {
        let sessions = page.sessions()?;
        let session = sessions.call(&ReopenSession { id: session_id(&id)? }, &CancelFlag::new())?;
        Ok(json(&view(&sessions, &session)?))
    })
    .await
}
