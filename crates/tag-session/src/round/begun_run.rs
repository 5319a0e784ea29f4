//! Beginning or resuming the run of a reply.

use std::time::Duration;

use change_journal::{ContentHash, RecordedRun, Run, RunFilter, RunKey, RunState};
use tagproto::{CommandResult, Incoming, ReplyTo, Session, SessionId};
use wap_core::Workspace;

use crate::documents;
use crate::error::SessionError;
use crate::outcome::{is_without_results, results};
use crate::round::identity;
use crate::sessions::Sessions;
use crate::stopped::{Recorded, is_of_held};

/// The user's intention for a text that may have arrived before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// It is to run again.
    Again,
    /// It ends inside a block, and its complete blocks are to run.
    Complete,
    /// It ends inside a block, and the model is to continue it.
    Continued,
    /// It is whole, perhaps as the rest of the held reply, or it should have been that rest.
    Whole,
    /// It is unrelated to the held reply.
    Other,
}

impl Wish {
    pub(super) fn new(incoming: &Incoming<'_>, again: bool, run_complete: bool) -> Wish {
        match incoming {
            _ if again => Wish::Again,
            Incoming::CutOff { .. } if run_complete => Wish::Complete,
            Incoming::CutOff { .. } => Wish::Continued,
            Incoming::Whole(_) | Incoming::Anew(_) | Incoming::NotContinued => Wish::Whole,
            Incoming::Instead(_) => Wish::Other,
        }
    }
}

/// The properties of a reply that matter for its run.
pub(super) struct Arrived {
    pub(super) hash: ContentHash,
    /// The message named by its token.
    pub(super) quoted: Option<ReplyTo>,
    pub(super) wish: Wish,
    /// True if it has blocks of the held reply.
    pub(super) is_of_held: bool,
}

/// The outcome of beginning a run.
pub(super) enum Begun {
    /// The run is to be carried out; true if an earlier call had begun it.
    Run(Run, bool),
    /// The run was already carried out as the answer to this message, with these results.
    Done(u32, Vec<CommandResult>),
}

impl<W: Workspace> Sessions<W> {
    /// Begins the run of a reply, resumes it, or returns the results of an earlier run.
    pub(super) fn begin(&self, session: &Session, arrived: Arrived) -> Result<Begun, SessionError> {
        let Arrived { hash, quoted, wish, is_of_held } = arrived;
        let again = wish == Wish::Again;
        let pending = session.sequence_number;
        if let Some(quoted) = quoted.filter(|quoted| quoted.session != session.session_id) {
            let pending = session.session_id;
            return Err(match self.session(quoted.session) {
                Err(SessionError::Unknown { .. }) => SessionError::UnknownSession { quoted, pending },
                _ => SessionError::OtherSession { quoted, pending },
            });
        }
        // A reply to an earlier message with the text of an executed reply is a repetition, not a mistake.
        let answered = quoted.map_or(pending, |quoted| quoted.sequence);
        let key = |sequence: u32| RunKey {
            conversation: session.session_id.to_string(),
            sequence: u64::from(sequence),
            content: hash,
        };
        // A token that names the pending message is unambiguous: the same text is meant to run again.
        let is_meant = again || quoted.is_some_and(|quoted| quoted.sequence == pending);
        let held_at = if is_meant { None } else { self.held_at(session, hash, wish)? };
        if let Some(sequence) = held_at.filter(|sequence| *sequence != pending && wish != Wish::Complete) {
            return Err(SessionError::StillHeld { sequence });
        }
        if !again && wish != Wish::Other && self.has_begun_held(session, hash)? {
            return Err(SessionError::HeldHasBegun);
        }
        // A chat that continues its answer itself names the message of the held reply, which was not carried out.
        let is_continued = is_of_held
            && wish != Wish::Complete
            && session.held.as_ref().is_some_and(|held| held.includes_reply_to(answered));
        let is_of_pending = answered == pending || again || held_at.is_some() || is_continued;
        if session.is_complete || !is_of_pending {
            return match self.journal.begin_run(&key(answered))? {
                RunState::Finished { outcome, .. } => Ok(Begun::Done(answered, results(&outcome))),
                _ if session.is_complete => Err(SessionError::Complete { id: session.session_id }),
                _ => {
                    let quoted = ReplyTo { session: session.session_id, sequence: answered };
                    Err(SessionError::OtherSequence { quoted, pending })
                }
            };
        }
        let state = if is_meant || held_at.is_some() {
            self.journal.begin_run_again(&key(pending))?
        } else {
            self.journal.begin_run(&key(pending))?
        };
        match state {
            RunState::New(run) => {
                // A token names the intended session. Without a token, a reply that was interrupted in another session would run
                // a second time here.
                if !is_meant && let Some(session) = self.begun_elsewhere(session, hash)? {
                    return Err(SessionError::BegunElsewhere { session });
                }
                Ok(Begun::Run(run, false))
            }
            RunState::Resumed { run, .. } => Ok(Begun::Run(run, true)),
            RunState::Finished { outcome, .. } => Ok(Begun::Done(pending, results(&outcome))),
            RunState::InProgress { .. } => Err(SessionError::Busy),
            RunState::KnownElsewhere { key, finished, .. } => {
                let sequence = u32::try_from(key.sequence).unwrap_or(u32::MAX);
                if !finished {
                    return Err(SessionError::KnownUnfinished { sequence });
                }
                Err(match self.journal.begin_run(&key)? {
                    RunState::Finished { outcome, .. } if is_without_results(&outcome) => {
                        SessionError::KnownWithoutResults { sequence }
                    }
                    _ => SessionError::KnownText { sequence },
                })
            }
        }
    }

    /// Returns the message that a text without effects answered last, if it is part of the held reply; the pending message if its
    /// complete blocks were begun as the answer to that message.
    ///
    /// Once any part of the held reply is carried out, the session no longer holds it, and this returns `None`.
    fn held_at(&self, session: &Session, hash: ContentHash, wish: Wish) -> Result<Option<u32>, SessionError> {
        let is_cut_off = matches!(wish, Wish::Complete | Wish::Continued);
        let Some(held) = session.held.as_ref().filter(|_| is_cut_off) else { return Ok(None) };
        let same = self.runs_of(session, hash)?;
        let sequence = |run: &RecordedRun| u32::try_from(run.key.sequence).unwrap_or(u32::MAX);
        // All runs count: a text that ran once does not run again because it was held another time.
        let is_unused = same.iter().all(|run| match &run.outcome {
            Some(outcome) => held.includes_reply_to(sequence(run)) && is_without_results(outcome),
            None => sequence(run) == session.sequence_number,
        });
        Ok(same.first().filter(|_| is_unused).map(sequence))
    }

    /// Checks whether blocks of the held reply ran in another reply that was stopped. Joined to the held reply, this reply would
    /// run them again, and the next message would claim that they were not run.
    fn has_begun_held(&self, session: &Session, hash: ContentHash) -> Result<bool, SessionError> {
        if session.held.is_none() {
            return Ok(false);
        }
        let of_pending = |run: &RecordedRun| run.key.sequence == u64::from(session.sequence_number);
        if self.stopped(session)?.of_held {
            // The stopped reply itself is answered with its results.
            let same = self.runs_of(session, hash)?;
            return Ok(!same.iter().any(|run| of_pending(run) && run.outcome.is_some()));
        }
        let name = documents::begun(session.session_id, session.sequence_number);
        let Some(begun) = self.journal.reader().document(&name)? else { return Ok(false) };
        let begun = String::from_utf8_lossy(&begun.bytes);
        if identity(&begun) == hash || !is_of_held(session, &session.incoming(&begun)) {
            return Ok(false);
        }
        let recorded = self.recorded(session, &begun, Duration::ZERO)?;
        Ok(matches!(recorded, Recorded::Results { .. }))
    }

    /// Returns the runs of a text in a session, the newest first.
    fn runs_of(&self, session: &Session, hash: ContentHash) -> Result<Vec<RecordedRun>, SessionError> {
        let conversation = Some(session.session_id.to_string());
        let filter = RunFilter { conversation, ..RunFilter::default() };
        let runs = self.journal.reader().runs(&filter, u32::MAX)?;
        Ok(runs.into_iter().filter(|run| run.key.content == hash).collect())
    }

    /// Returns the other session that began this text but did not finish it.
    fn begun_elsewhere(
        &self,
        session: &Session,
        hash: ContentHash,
    ) -> Result<Option<SessionId>, SessionError> {
        let unfinished = RunFilter { unfinished: true, ..RunFilter::default() };
        let runs = self.journal.reader().runs(&unfinished, u32::MAX)?;
        let same = runs.into_iter().filter(|run| run.key.content == hash);
        Ok(same.filter_map(|run| run.key.conversation.parse().ok()).find(|id| *id != session.session_id))
    }
}
