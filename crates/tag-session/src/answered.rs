//! The user's answers to a question of the model.

use change_journal::DocumentWrite;
use tagproto::{Session, SessionId, with_answers};
use wap_core::Workspace;

use crate::documents;
use crate::error::SessionError;
use crate::sessions::{Sessions, encode, now};

/// The maximum number of characters of all answers to one message.
const LIMIT_CHARACTERS: usize = 20_000;

impl<W: Workspace> Sessions<W> {
    /// Adds an answer of the user to message `sequence` of a session, which must be pending, and rewrites its files. An answer
    /// that is already the last one is not repeated.
    ///
    /// # Errors
    ///
    /// [`SessionError::Unknown`], [`SessionError::Complete`], [`SessionError::MovedOn`] if another message is now pending,
    /// [`SessionError::Busy`] while a reply to it is being executed, [`SessionError::AnswerLength`], or if journal or folders
    /// cannot be written.
    pub fn answer(&self, id: SessionId, sequence: u32, text: &str) -> Result<Session, SessionError> {
        let _turn = self.turns.take(id)?;
        let mut session = self.session(id)?;
        if session.is_complete {
            return Err(SessionError::Complete { id });
        }
        if session.sequence_number != sequence {
            return Err(SessionError::MovedOn { answering: sequence, pending: session.sequence_number });
        }
        // Filtered from here on: `with_answers` compares the earlier answers with their text in the message.
        let text = self.filtered(text.trim().to_owned());
        let text = text.as_str();
        if session.answers.last().is_some_and(|last| last == text) {
            // An earlier call may have failed to write the files.
            self.write_files(&session, self.outbox(&session)?.as_deref())?;
            return Ok(session);
        }
        let characters: usize = session.answers.iter().map(|answer| answer.chars().count()).sum();
        if text.is_empty() || characters + text.chars().count() > LIMIT_CHARACTERS {
            return Err(SessionError::AnswerLength { limit: LIMIT_CHARACTERS });
        }
        let before = session.answers.clone();
        session.answers.push(text.to_owned());
        session.updated_at = now();
        let outbox = self.outbox(&session)?;
        let outbox = outbox.and_then(|outbox| with_answers(&outbox, &before, &session.answers));
        // A session that was imported after its journal was lost may have no message.
        let Some(outbox) = outbox else { return Err(SessionError::Unrecorded { id }) };
        self.journal.write_documents(&[
            DocumentWrite::Put { name: &documents::session(id), bytes: &encode(&session) },
            DocumentWrite::Put { name: &documents::outbox(id, sequence), bytes: outbox.as_bytes() },
        ])?;
        self.write_files(&session, Some(&outbox))?;
        Ok(session)
    }
}
