//! One round: executes a reply and makes the next outbox pending.

mod begun_run;

use std::time::Duration;

use change_journal::{ContentHash, DocumentWrite, Run, RunKey, RunState};
use tagproto::{
    BaseVersions, Block, CommandResult, ExecutionObserver, HeldReply, Incoming, Item, RepairSet, Reply,
    ReplyTo, Session, SessionId, Strictness, base_versions, execute,
};
use wap_core::{Call, CancelFlag, ConversationId, Origin, Workspace};

use crate::applied::{Applied, ApplyOptions, Executed, Review};
use crate::documents;
use crate::error::SessionError;
use crate::inbox::file::InboxFile;
use crate::outcome::{RunOutcome, results};
use crate::round::begun_run::{Arrived, Begun, Wish};
use crate::sessions::{Sessions, encode, now, origin};
use crate::stopped::is_of_held;
use crate::undone;

impl<W: Workspace> Sessions<W> {
    /// Executes a reply to the pending outbox of a session, or the rest of the reply, and makes the next outbox pending.
    ///
    /// `timeout` applies to each command. When this returns, results and next outbox are on disk.
    ///
    /// If another reply to the same outbox was interrupted, its rest is abandoned, and the next outbox reports its results before
    /// those of this reply.
    ///
    /// # Errors
    ///
    /// No part of the reply was executed, except for [`SessionError::Interrupted`], [`SessionError::Workspace`] and failures of
    /// the journal in the middle: finished blocks then stay done and recorded, and applying the same reply again executes the
    /// rest. A failure to write the session's files is not an error, since the reply is already executed: see
    /// [`Executed::not_written`].
    pub fn apply(
        &self,
        id: SessionId,
        text: &str,
        timeout: Duration,
        options: ApplyOptions<'_>,
        cancel: &CancelFlag,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<Applied, SessionError> {
        // Before the session is read. Without the turn, earlier results can still be reported.
        let turn = self.turns.take(id);
        let session = self.session(id)?;
        let hash = identity(text);
        let quoted = ReplyTo::find(text);
        let file = options.file;
        if text.trim().is_empty() {
            return Err(SessionError::Empty);
        }
        // Before the token is checked: an outbox that was pasted back by mistake has a token too, but is not a reply.
        let incoming = session.incoming(text);
        let reply = tagproto::read_in(incoming.text().unwrap_or(text), Strictness::Repair, session.dialect);
        if let Some(refusal) = reply.refused {
            return Err(SessionError::Refused(refusal));
        }
        // Before the run begins, since a reply to an earlier message must not leave an unfinished run.
        if let Some(answering) = options.answering.filter(|answering| *answering != session.sequence_number) {
            return match self.finished_before(id, answering, text)? {
                Some(results) => Ok(Applied::AlreadyDone { sequence: answering, results }),
                None => Err(SessionError::MovedOn { answering, pending: session.sequence_number }),
            };
        }
        let wish = Wish::new(&incoming, options.again, options.run_complete);
        let arrived = Arrived { hash, quoted, wish, is_of_held: is_of_held(&session, &incoming) };
        let (run, was_resumed) = match self.begin(&session, arrived)? {
            Begun::Run(run, was_resumed) => (run, was_resumed),
            Begun::Done(sequence, results) => return Ok(Applied::AlreadyDone { sequence, results }),
        };
        let turn = turn?;
        turn.execute();
        // A reply is no longer held once its complete blocks were executed.
        if incoming.is_held(options.run_complete || was_resumed) {
            let call = Call { origin: &origin(&session, &hash.to_string()), cancel, time_left: None };
            self.take_turn(&session, hash, text, timeout)?;
            let repairs = reply.repairs;
            let received = Received { text, hash, file, repairs, was_resumed, user_review: "" };
            let executed = self.finish(session, &run, &received, Round::Held(incoming.into_held()), &call)?;
            return Ok(Applied::Executed(Box::new(executed)));
        }
        let is_confirmed = options.again || options.confirmed || options.review.is_some();
        if !is_confirmed && runs_commands(&reply) && self.has_lost_history(id)? {
            return Err(SessionError::HistoryLost);
        }
        if let Some(review) = options.review
            && review(&reply) == Review::Decline
        {
            return Err(SessionError::Declined);
        }
        let call_origin = origin(&session, &hash.to_string());
        let call = Call { origin: &call_origin, cancel, time_left: None };
        self.take_turn(&session, hash, text, timeout)?;
        let base = self.base_versions(&session, &hash, &reply, &call)?;
        let execution = match options.through {
            Some(view) => execute(&reply.items, session.dialect, base, timeout, view, &call, observer),
            None => execute(&reply.items, session.dialect, base, timeout, &self.workspace, &call, observer),
        };
        let execution = execution.map_err(SessionError::Workspace)?;
        if !execution.not_begun.is_empty() {
            // Lazy writes wait for the next commit. A workspace with its own record may not have caused one.
            self.journal.flush()?;
            // The remaining blocks keep their step numbers, so applying the reply again only executes them.
            return Err(SessionError::Interrupted);
        }
        let user_review = options.user_review;
        let received = Received { text, hash, file, repairs: reply.repairs, was_resumed, user_review };
        // Every block is done: a cancellation at the last moment must not keep the results from being reported.
        let call = Call { cancel: &CancelFlag::new(), ..call };
        let round = Round::executed(execution, &incoming);
        let executed = self.finish(session, &run, &received, round, &call)?;
        Ok(Applied::Executed(Box::new(executed)))
    }

    /// Checks whether [`Sessions::apply`] would execute a reply: false if it already did. Changes nothing.
    ///
    /// # Errors
    ///
    /// The errors with which `apply` would refuse it before reading its blocks.
    pub fn would_execute(
        &self,
        id: SessionId,
        text: &str,
        again: bool,
        run_complete: bool,
    ) -> Result<bool, SessionError> {
        let session = self.session(id)?;
        let incoming = session.incoming(text);
        let wish = Wish::new(&incoming, again, run_complete);
        let is_of_held = is_of_held(&session, &incoming);
        let arrived = Arrived { hash: identity(text), quoted: ReplyTo::find(text), wish, is_of_held };
        let begun = self.begin(&session, arrived)?;
        Ok(matches!(begun, Begun::Run(..)))
    }

    /// Returns the results of a text that was executed as the answer to this message of a session; `None` if it was not.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub fn finished_before(
        &self,
        id: SessionId,
        answering: u32,
        text: &str,
    ) -> Result<Option<Vec<CommandResult>>, SessionError> {
        let (conversation, content) = (id.to_string(), identity(text));
        let key = RunKey { conversation, sequence: u64::from(answering), content };
        Ok(match self.journal.begin_run(&key)? {
            RunState::Finished { outcome, .. } => Some(results(&outcome)),
            _ => None,
        })
    }

    /// Returns the origin of the calls with which [`Sessions::apply`] would execute a reply to the pending outbox.
    ///
    /// # Errors
    ///
    /// Those of reading the session.
    pub fn call_origin(&self, id: SessionId, text: &str) -> Result<Origin, SessionError> {
        Ok(origin(&self.session(id)?, &identity(text).to_string()))
    }

    /// Checks whether the journal with the record of the pending reply was lost.
    fn has_lost_history(&self, id: SessionId) -> Result<bool, SessionError> {
        Ok(self.journal.reader().document(&documents::lost_history(id))?.is_some())
    }

    /// Returns the file versions to which the reply's line numbers refer, as of its first application.
    fn base_versions(
        &self,
        session: &Session,
        hash: &ContentHash,
        reply: &Reply<'_>,
        call: &Call<'_>,
    ) -> Result<BaseVersions, SessionError> {
        if let Some(base) = self.recorded_base_versions(session, hash)? {
            return Ok(base);
        }
        let name = documents::base_versions(session.session_id, session.sequence_number, hash);
        let base =
            base_versions(&reply.items, session, &self.workspace, call).map_err(SessionError::Workspace)?;
        // The session keeps the versions that its messages showed. Only versions that were looked up now must be kept with the
        // run.
        if base != BaseVersions::of_session(session) {
            let bytes = serde_json::to_vec(&base).expect("versions have string keys");
            self.journal.write_documents(&[DocumentWrite::Put { name: &name, bytes: &bytes }])?;
        }
        Ok(base)
    }

    /// Returns the versions recorded when a reply was first applied; `None` if the versions of the session suffice.
    pub(crate) fn recorded_base_versions(
        &self,
        session: &Session,
        hash: &ContentHash,
    ) -> Result<Option<BaseVersions>, SessionError> {
        let name = documents::base_versions(session.session_id, session.sequence_number, hash);
        let document = self.journal.reader().document(&name)?;
        // A fault is an error: once a part of the reply is done, looking the versions up again would yield different ones.
        let damaged = |source| SessionError::Damaged { id: session.session_id.to_string(), source };
        document.map(|document| serde_json::from_slice(&document.bytes).map_err(damaged)).transpose()
    }

    /// Records the versions to which a reply's line numbers refer, before its trial on a copy of the journal: so the kept part of
    /// the trial has exactly the same requests.
    ///
    /// # Errors
    ///
    /// Those of reading the session and of the journal. A refused reply has no versions.
    pub fn record_base_versions(
        &self,
        id: SessionId,
        text: &str,
        cancel: &CancelFlag,
    ) -> Result<(), SessionError> {
        let session = self.session(id)?;
        let hash = identity(text);
        let incoming = session.incoming(text);
        let reply = tagproto::read_in(incoming.text().unwrap_or(text), Strictness::Repair, session.dialect);
        let call_origin = origin(&session, &hash.to_string());
        let call = Call { origin: &call_origin, cancel, time_left: None };
        self.base_versions(&session, &hash, &reply, &call).map(drop)
    }

    /// Forgets the versions that were recorded for a discarded trial.
    ///
    /// # Errors
    ///
    /// Those of reading the session and of the journal.
    pub fn forget_base_versions(&self, id: SessionId, text: &str) -> Result<(), SessionError> {
        let session = self.session(id)?;
        let name = documents::base_versions(id, session.sequence_number, &identity(text));
        self.journal.write_documents_lazily(&[DocumentWrite::Remove { name: &name }])?;
        Ok(())
    }

    /// Commits results, session and next outbox together, and writes the files.
    fn finish(
        &self,
        mut session: Session,
        run: &Run,
        received: &Received<'_>,
        round: Round,
        call: &Call<'_>,
    ) -> Result<Executed, SessionError> {
        let Received { text, hash, file, repairs, was_resumed, user_review } = *received;
        let id = session.session_id;
        let sequence = session.sequence_number;
        // Bounded once, so that the journal, the session and the next outbox agree.
        let RunOutcome { results, done } = match &round {
            Round::Executed { execution, .. } => {
                RunOutcome::of(execution.results.clone(), execution.done.clone())
            }
            Round::Held(_) => RunOutcome::of(Vec::new(), None),
        };
        let outcome = RunOutcome { results: results.clone(), done: done.clone() }.encode();
        let stopped = self.stopped(&session)?;
        let known_changes = undone::last_change(self.journal.reader())?;
        let mut notes: Vec<String> = stopped.note().into_iter().collect();
        notes.extend(undone::notes(self.journal.reader(), id, known_changes)?);
        let taken_over = stopped.results;
        match round {
            Round::Executed { execution, dropped } => {
                session.advance(tagproto::Execution { results: results.clone(), done, ..execution }, &now());
                // If blocks of it had run, the results of the stopped reply report that.
                session.notes.extend(dropped.filter(|_| !stopped.of_held).map(str::to_owned));
            }
            // Blocks that ran must not run again as part of a held reply. A stopped reply may be the same text, cut at another
            // byte.
            Round::Held(held) if stopped.of_held || held.is_some() && !taken_over.is_empty() => {
                session.drop_held(&now());
            }
            Round::Held(held) => session.hold(held, &now()),
        }
        // After `advance`: a failure in the interrupted reply must not keep this reply's DONE from ending the session.
        session.last_results.splice(..0, taken_over.iter().cloned());
        session.notes.extend(notes);
        user_review.clone_into(&mut session.review);
        let outbox = if session.is_complete { None } else { Some(self.render(&mut session, call)?) };
        let (session_name, session_bytes) = (documents::session(id), encode(&session));
        let (reply_name, base_name) =
            (documents::reply(id, sequence), documents::base_versions(id, sequence, &hash));
        let outbox_name = documents::outbox(id, session.sequence_number);
        let lost_name = documents::lost_history(id);
        let (begun_name, stopped_name) = (documents::begun(id, sequence), documents::stopped(id, sequence));
        let (known_name, known_changes) = (documents::known_changes(id), known_changes.to_string());
        let mut writes = vec![
            DocumentWrite::Put { name: &session_name, bytes: &session_bytes },
            DocumentWrite::Put { name: &reply_name, bytes: text.as_bytes() },
            DocumentWrite::Remove { name: &base_name },
            DocumentWrite::Remove { name: &lost_name },
            DocumentWrite::Remove { name: &begun_name },
            DocumentWrite::Remove { name: &stopped_name },
            DocumentWrite::Put { name: &known_name, bytes: known_changes.as_bytes() },
        ];
        let taken_name = documents::taken_file(id);
        let taken = file.map(|file| serde_json::to_vec(&file.stamp).expect("a stamp is plain data"));
        if let Some(taken) = &taken {
            writes.push(DocumentWrite::Put { name: &taken_name, bytes: taken });
        }
        if let Some(outbox) = &outbox {
            writes.push(DocumentWrite::Put { name: &outbox_name, bytes: outbox.as_bytes() });
        }
        // One commit: after a crash before it, the whole round is repeated from the record; after it, only the files are written.
        self.journal.finish_run(run.number(), &outcome, &writes)?;
        if session.is_complete {
            self.workspace.end_conversation(&ConversationId(id.to_string()));
        }
        let not_written = self.write_files(&session, outbox.as_deref()).err();
        Ok(Executed { session, sequence, results, repairs, was_resumed, taken_over, not_written })
    }
}

/// A reply with the circumstances of its arrival.
struct Received<'a> {
    text: &'a str,
    hash: ContentHash,
    file: Option<&'a InboxFile>,
    repairs: RepairSet,
    was_resumed: bool,
    /// The user's review of the reply.
    user_review: &'a str,
}

/// Returns the identity of a reply: the hash of its text, without the characters that editors and chat windows add or drop: a
/// byte-order mark, CR before LF, and whitespace at the ends.
pub(crate) fn identity(text: &str) -> ContentHash {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    ContentHash::of(text.trim().as_bytes())
}

/// The end of a round.
enum Round {
    Executed {
        execution: tagproto::Execution,
        /// The note about a held reply that is dropped for this reply.
        dropped: Option<&'static str>,
    },
    /// Nothing was executed: the reply was cut off, or with `None`, did not continue the held reply.
    Held(Option<HeldReply>),
}

impl Round {
    /// Returns the end of a reply that was carried out. If it is unrelated to the held reply, its DONE was written without
    /// knowing that the held reply was not carried out, so it does not end the session.
    fn executed(mut execution: tagproto::Execution, incoming: &Incoming<'_>) -> Round {
        let dropped = match incoming {
            Incoming::Instead(_) if execution.done.take().is_some() => Some(HeldReply::DROPPED_BEFORE_DONE),
            Incoming::Instead(_) | Incoming::Anew(_) => Some(HeldReply::DROPPED),
            _ => None,
        };
        Round::Executed { execution, dropped }
    }
}

fn runs_commands(reply: &Reply<'_>) -> bool {
    reply
        .items
        .iter()
        .any(|item| matches!(item, Item::Block(block) if matches!(block.value, Block::RunCommand { .. })))
}
