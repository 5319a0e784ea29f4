//! Reads sessions from a journal, even if another process owns it.

use change_journal::{JournalReader, RunFilter};
use serde::Serialize;
use tagproto::{CommandResult, Session, SessionId};

use crate::documents;
use crate::error::SessionError;
use crate::outcome::results;

/// A summary of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// The session's id.
    pub session: String,
    /// Its task.
    pub task: String,
    /// The number of the pending or last outbox.
    pub sequence: u32,
    /// True if it is complete.
    pub complete: bool,
    /// The time at which it began.
    pub created_at: String,
    /// The time of its last change.
    pub updated_at: String,
}

/// An executed reply of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepSummary {
    /// The sequence that the reply answered.
    pub sequence: u32,
    /// True if it was executed to its end.
    pub finished: bool,
    /// The results of its blocks; empty while it is not finished.
    pub results: Vec<CommandResult>,
}

/// Reads one session.
///
/// # Errors
///
/// [`SessionError::Unknown`], [`SessionError::Damaged`], or if the journal cannot be read.
pub fn read_session(journal: &JournalReader, id: SessionId) -> Result<Session, SessionError> {
    let document = journal.document(&documents::session(id))?;
    let document = document.ok_or_else(|| SessionError::Unknown { id: id.to_string() })?;
    serde_json::from_slice(&document.bytes)
        .map_err(|source| SessionError::Damaged { id: id.to_string(), source })
}

/// Lists the sessions, most recently changed first.
///
/// # Errors
///
/// If the journal cannot be read.
pub fn session_summaries(journal: &JournalReader) -> Result<Vec<SessionSummary>, SessionError> {
    Ok(sessions(journal)?.into_iter().rev().map(summary).collect())
}

fn summary(session: Session) -> SessionSummary {
    SessionSummary {
        session: session.session_id.to_string(),
        task: session.task,
        sequence: session.sequence_number,
        complete: session.is_complete,
        created_at: session.created_at,
        updated_at: session.updated_at,
    }
}

/// A part of the list of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionPage {
    /// The readable sessions of this part, most recently changed first.
    pub sessions: Vec<SessionSummary>,
    /// The number of all sessions.
    pub total: usize,
    /// A number that grows whenever a session changes; 0 without any.
    pub version: u64,
}

/// Lists at most `limit` sessions after the first `skip`; the others are not read.
///
/// # Errors
///
/// If the journal cannot be read.
pub fn session_page(journal: &JournalReader, skip: usize, limit: usize) -> Result<SessionPage, SessionError> {
    let mut heads = journal.documents(documents::SESSIONS)?;
    heads.sort_by_key(|head| std::cmp::Reverse(head.version));
    let (total, version) = (heads.len(), heads.first().map_or(0, |head| head.version.0));
    let mut sessions = Vec::new();
    for head in heads.into_iter().skip(skip).take(limit) {
        if let Some(document) = journal.document(&head.name)?
            && let Ok(session) = serde_json::from_slice(&document.bytes)
        {
            sessions.push(summary(session));
        }
    }
    Ok(SessionPage { sessions, total, version })
}

/// Lists the replies of a session, oldest first.
///
/// # Errors
///
/// If the journal cannot be read.
pub fn session_steps(journal: &JournalReader, id: SessionId) -> Result<Vec<StepSummary>, SessionError> {
    let filter = RunFilter { conversation: Some(id.to_string()), ..RunFilter::default() };
    let mut steps: Vec<_> = journal
        .runs(&filter, u32::MAX)?
        .into_iter()
        .map(|run| StepSummary {
            sequence: u32::try_from(run.key.sequence).unwrap_or(u32::MAX),
            finished: run.outcome.is_some(),
            results: run.outcome.as_deref().map(results).unwrap_or_default(),
        })
        .collect();
    steps.reverse();
    Ok(steps)
}

/// Returns all readable sessions, most recently changed last.
///
/// The versions of their documents determine the order, since the clock may have been set back.
pub(crate) fn sessions(journal: &JournalReader) -> Result<Vec<Session>, SessionError> {
    let mut heads = journal.documents(documents::SESSIONS)?;
    heads.sort_by_key(|head| head.version);
    let mut sessions = Vec::new();
    for head in heads {
        if let Some(document) = journal.document(&head.name)?
            // A damaged session must not hide the others; reading it by its id reports the damage.
            && let Ok(session) = serde_json::from_slice(&document.bytes)
        {
            sessions.push(session);
        }
    }
    Ok(sessions)
}

/// Returns the text of a session's pending or last outbox.
///
/// # Errors
///
/// If the journal cannot be read.
pub fn read_outbox_text(journal: &JournalReader, session: &Session) -> Result<Option<String>, SessionError> {
    let name = documents::outbox(session.session_id, session.sequence_number);
    let document = journal.document(&name)?;
    Ok(document.map(|document| String::from_utf8_lossy(&document.bytes).into_owned()))
}
