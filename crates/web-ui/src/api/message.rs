//! The pending message of a session, to be copied into the chat.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use tagproto::{Session, estimated_tokens};
use wap_core::CancelFlag;
use workspace_host::{SharedSessions, WholeOutbox};

use super::session_id;
use crate::answer::{Refused, text};
use crate::bounded_text::{BoundedText, TextBounds, bounded};
use crate::page::Page;

/// A message without its whole text.
#[derive(Serialize)]
pub(super) struct MessageView {
    characters: usize,
    /// An estimate: counting takes a vocabulary of 40 MB in memory.
    tokens: u64,
    /// The parts, if it is longer than one paste: the characters of each.
    parts: Vec<usize>,
    /// The file that holds it, within the state folder.
    file: String,
    preview: BoundedText,
}

pub(super) fn view(sessions: &SharedSessions, session: &Session) -> Result<Option<MessageView>, Refused> {
    let Some(text) = sessions.outbox(session)? else { return Ok(None) };
    let parts = session.outbox_parts(&text);
    Ok(Some(MessageView {
        characters: text.chars().count(),
        tokens: estimated_tokens(&text),
        parts: parts.iter().map(|(_, part)| part.chars().count()).collect(),
        file: format!("outbox/{}", session.outbox_file_name()),
        preview: bounded(&text, TextBounds::OUTPUT),
    }))
}

#[derive(Deserialize)]
pub(crate) struct Wanted {
    /// The part, counted from 1; without it the whole message.
    part: Option<usize>,
    /// True for the message with all rules, for a new chat.
    #[serde(default)]
    full: bool,
}

/// Returns the text of the pending message, byte for byte.
pub(crate) async fn message(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Response {
    page.answer(move |page| {
        let sessions = page.sessions()?;
        let session = sessions.session(session_id(&id)?)?;
        let missing = || Refused::missing("this session has no pending message");
        if wanted.full {
            let request = WholeOutbox { id: session.session_id };
            let whole = sessions.call(&request, &CancelFlag::new())?;
            return Ok(text(whole.ok_or_else(missing)?));
        }
        let whole = sessions.outbox(&session)?.ok_or_else(missing)?;
        let Some(number) = wanted.part else { return Ok(text(whole)) };
        let part =
            number.checked_sub(1).and_then(|index| session.outbox_parts(&whole).into_iter().nth(index));
        Ok(text(part.ok_or_else(|| Refused::missing(format!("the message has no part {number}")))?.1))
    })
    .await
}
