//! Running a reply, and watching it.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use serde_json::json as value;
use workspace_host::{ApplyReply, SessionReply};

use super::plan::Submitted;
use super::{read, session_id};
use crate::answer::{Refused, json};
use crate::bounded_text::{TextBounds, bounded};
use crate::page::Page;

/// The bounds of a reply of the inbox: enough to read it in the box.
const REPLY: TextBounds = TextBounds { lines: 20_000, line_characters: 4_000, bytes: 512 * 1024 };

/// Begins to run a reply.
pub(crate) async fn begin(State(page): State<Arc<Page>>, Path(id): Path<String>, body: Bytes) -> Response {
    page.answer(move |page| {
        let mut submitted: Submitted = read(&body)?;
        let (text, file) = submitted.take(page)?;
        let sessions = page.sessions()?;
        let session = sessions.session(session_id(&id)?)?;
        let Submitted { again, run_complete, sequence, .. } = submitted;
        let request = ApplyReply {
            reply: SessionReply { session: session.session_id, text, again, run_complete },
            file,
            // A reply that was planned for an earlier message answers that message: it has been run, or is refused.
            answering: sequence.unwrap_or(session.sequence_number),
            // The user has seen the plan.
            confirmed: true,
            timeout: page.timeout(),
        };
        let (ended, of) = (Arc::downgrade(page), Arc::clone(&sessions));
        let run = page.runs.begin(&sessions, request, move || {
            if let Some(page) = ended.upgrade() {
                page.publish_inbox(&of);
            }
        })?;
        Ok(json(&value!({ "run": run })))
    })
    .await
}

/// Returns the newest run of a session, or null.
pub(crate) async fn newest(State(page): State<Arc<Page>>, Path(id): Path<String>) -> Response {
    page.answer(move |page| {
        let run = page.runs.newest(session_id(&id)?);
        Ok(json(&run.map(|run| run.view())))
    })
    .await
}

/// Requests the end of a run.
pub(crate) async fn stop(State(page): State<Arc<Page>>, Path(run): Path<u64>) -> Response {
    page.answer(move |page| {
        let run = page.runs.find(run).ok_or_else(|| Refused::missing("there is no such run"))?;
        run.stop();
        Ok(json(&value!({})))
    })
    .await
}

/// Returns the text of a reply that waits in the inbox.
pub(crate) async fn inbox_reply(State(page): State<Arc<Page>>, Path(name): Path<String>) -> Response {
    page.answer(move |page| {
        let file = page.waiting_reply(&name);
        let file = file.ok_or_else(|| Refused::missing(format!("inbox/{name} is not there any more")))?;
        Ok(json(&bounded(&file.text, REPLY)))
    })
    .await
}
