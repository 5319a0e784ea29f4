//! Interrupted replies that a later reply supersedes.
//!
//! The finished blocks of such a reply stay done, so the model needs their results. The reply is executed again with a call that
//! is already cancelled: recorded steps are answered from the record, and no other step begins.

use std::time::Duration;

use change_journal::{ContentHash, DocumentWrite, Run, RunKey, RunState};
use serde::{Deserialize, Serialize};
use tagproto::{
    BaseVersions, CommandResult, Execution, Incoming, Item, Session, Strictness, UnobservedExecution,
    execute, read_in,
};
use wap_core::{Call, CancelFlag, Workspace};

use crate::documents;
use crate::error::SessionError;
use crate::outcome::{RunOutcome, bounded};
use crate::round::identity;
use crate::sessions::{Sessions, origin};

/// The results of interrupted replies to one message, until the next message reports them.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Stopped {
    pub results: Vec<CommandResult>,
    /// The number of blocks that were not carried out.
    pub not_carried_out: usize,
    /// True if the held reply, or a part of it, was one of the interrupted replies.
    pub of_held: bool,
}

impl Stopped {
    /// Returns the note in the next message; `None` if there are no results.
    pub(crate) fn note(&self) -> Option<String> {
        let results = match self.results.len() {
            0 => return None,
            1 => "result is".to_owned(),
            count => format!("{count} results are"),
        };
        let rest = match self.not_carried_out {
            0 => String::new(),
            1 => "; 1 block of it was not carried out".to_owned(),
            blocks => format!("; {blocks} blocks of it were not carried out"),
        };
        let text = "an earlier reply to the same message was stopped before this one: the first";
        Some(format!("{text} {results} of what it had done{rest}"))
    }
}

impl<W: Workspace> Sessions<W> {
    /// Records that a reply to the pending outbox is under way, and finishes the run of another reply that it supersedes.
    pub(crate) fn take_turn(
        &self,
        session: &Session,
        hash: ContentHash,
        text: &str,
        timeout: Duration,
    ) -> Result<(), SessionError> {
        let name = documents::begun(session.session_id, session.sequence_number);
        if let Some(begun) = self.journal.reader().document(&name)? {
            let begun = String::from_utf8_lossy(&begun.bytes);
            if identity(&begun) == hash {
                return Ok(());
            }
            self.end_stopped(session, &begun, timeout)?;
        }
        // Lazily: it is committed with the first step of the reply, so no step is recorded without it.
        self.journal.write_documents_lazily(&[DocumentWrite::Put { name: &name, bytes: text.as_bytes() }])?;
        Ok(())
    }

    /// Returns the results of interrupted replies to the pending outbox.
    pub(crate) fn stopped(&self, session: &Session) -> Result<Stopped, SessionError> {
        let name = documents::stopped(session.session_id, session.sequence_number);
        match self.journal.reader().document(&name)? {
            None => Ok(Stopped::default()),
            Some(document) => serde_json::from_slice(&document.bytes)
                .map_err(|source| SessionError::Damaged { id: session.session_id.to_string(), source }),
        }
    }

    /// Finishes the run of an interrupted reply with its recorded results.
    fn end_stopped(&self, session: &Session, text: &str, timeout: Duration) -> Result<(), SessionError> {
        let (id, sequence, hash) = (session.session_id, session.sequence_number, identity(text));
        let (run, done, execution) = match self.recorded(session, text, timeout)? {
            Recorded::Busy => return Err(SessionError::Busy),
            // Without effects there is nothing to report, and the same reply may still be applied later.
            Recorded::Nothing => return Ok(()),
            Recorded::Results { run, done, execution } => (run, done, execution),
        };
        let mut stopped = self.stopped(session)?;
        // Added to earlier results: several replies to one message may have been interrupted.
        stopped.results.extend(done);
        stopped.results = bounded(stopped.results);
        stopped.not_carried_out += execution.not_begun.len();
        stopped.of_held |= is_of_held(session, &session.incoming(text));
        let outcome = RunOutcome::of(execution.results, None).encode();
        let stopped = serde_json::to_vec(&stopped).expect("results have string keys");
        let stopped_name = documents::stopped(id, sequence);
        let base_name = documents::base_versions(id, sequence, &hash);
        let writes = [
            DocumentWrite::Put { name: &stopped_name, bytes: &stopped },
            DocumentWrite::Remove { name: &base_name },
        ];
        self.journal.finish_run(run.number(), &outcome, &writes)?;
        Ok(())
    }

    /// Collects the recorded results of an interrupted reply to the pending outbox, without beginning another block.
    pub(crate) fn recorded(
        &self,
        session: &Session,
        text: &str,
        timeout: Duration,
    ) -> Result<Recorded, SessionError> {
        let (id, sequence, hash) = (session.session_id, session.sequence_number, identity(text));
        let key = RunKey { conversation: id.to_string(), sequence: u64::from(sequence), content: hash };
        let run = match self.journal.begin_run_again(&key)? {
            RunState::New(run) | RunState::Resumed { run, .. } => run,
            RunState::InProgress { .. } => return Ok(Recorded::Busy),
            // Already finished, by a process that was killed right afterwards.
            RunState::Finished { .. } | RunState::KnownElsewhere { .. } => return Ok(Recorded::Nothing),
        };
        let incoming = session.incoming(text);
        let reply = read_in(incoming.text().unwrap_or_default(), Strictness::Repair, session.dialect);
        let base = self.recorded_base_versions(session, &hash)?;
        let base = base.unwrap_or_else(|| BaseVersions::of_session(session));
        let call_origin = origin(session, &hash.to_string());
        // Cancelled from the start: the execution collects recorded results and begins nothing.
        let cancel = CancelFlag::new();
        cancel.cancel();
        let call = Call { origin: &call_origin, cancel: &cancel, time_left: None };
        let observer = &mut UnobservedExecution;
        let execution =
            execute(&reply.items, session.dialect, base, timeout, &self.workspace, &call, observer)
                .map_err(SessionError::Workspace)?;
        let done = done(&reply.items, &execution);
        Ok(if done.is_empty() { Recorded::Nothing } else { Recorded::Results { run, done, execution } })
    }
}

/// The recorded results of an interrupted reply.
pub(crate) enum Recorded {
    /// The reply is being carried out right now.
    Busy,
    /// No block had an effect.
    Nothing,
    /// Blocks were carried out.
    Results {
        run: Run,
        /// The results of these blocks.
        done: Vec<CommandResult>,
        execution: Execution,
    },
}

/// Checks whether a reply has blocks of the held reply: as its continuation, a part of it, or the same reply written anew.
pub(crate) fn is_of_held(session: &Session, incoming: &Incoming<'_>) -> bool {
    session.held.is_some()
        && matches!(incoming, Incoming::Whole(_) | Incoming::Anew(_) | Incoming::CutOff { .. })
}

/// Returns the results of the blocks that were carried out. Blocks that only report or read have no effect to report.
fn done(items: &[Item<'_>], execution: &Execution) -> Vec<CommandResult> {
    let acts = |item: &Item<'_>| matches!(item, Item::Block(_)) && item.kind().acts();
    let was_begun = |index: &usize| execution.not_begun.binary_search(index).is_err();
    let results = items.iter().zip(&execution.results).enumerate();
    results
        .filter(|(index, (item, _))| acts(item) && was_begun(index))
        .map(|(_, (_, result))| result.clone())
        .collect()
}
