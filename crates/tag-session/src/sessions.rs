//! All sessions of one state folder, on one workspace.

mod turns;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use change_journal::{DocumentWrite, GarbageReport, GarbageRule, Journal, JournalError, JournalReader};
use rel_path::RelPath;
use sandbox_fs::FsError;
use tagproto::{
    Context, Dialect, Handover, OutboxLimits, Session, SessionId, TokenCounter, estimated_tokens,
    filtered_outbox, gather, gather_first, project_facts, render_outbox_counted, whole_outbox,
};
use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey, TaskFile, Workspace};

use crate::beginning::BeginningDocument;
use crate::documents;
use crate::error::SessionError;
use crate::folders::StateFolders;
use crate::inbox::file::InboxFile;
use crate::inbox::moving::{self, SetAside};
use crate::inbox::{Inbox, Waited};
use crate::projection;
use crate::reconcile::{self, Reconciled};
use crate::sessions::turns::Turns;

/// All sessions of one state folder, on one workspace.
#[derive(Debug)]
pub struct Sessions<W> {
    pub(crate) workspace: W,
    pub(crate) journal: Journal,
    pub(crate) folders: StateFolders,
    inbox: Mutex<Inbox>,
    /// The files of the inbox that are being executed.
    claimed: Mutex<HashSet<RelPath>>,
    pub(crate) turns: Turns,
    count_tokens: TokenCounter,
    filter: Option<TextFilter>,
}

/// A filter of texts on their way to a model, which keeps their number of lines.
#[derive(Clone)]
pub struct TextFilter(Arc<dyn Fn(&str) -> String + Send + Sync>);

impl TextFilter {
    /// Returns a filter that applies a function.
    pub fn new(filter: impl Fn(&str) -> String + Send + Sync + 'static) -> TextFilter {
        TextFilter(Arc::new(filter))
    }
}

impl fmt::Debug for TextFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TextFilter")
    }
}

/// A session to be started.
#[derive(Clone, Copy, Debug)]
pub struct NewSession<'a> {
    /// Its id.
    pub id: SessionId,
    /// The task as given by the user.
    pub task: &'a str,
    /// The dialect that the model speaks.
    pub dialect: Dialect,
    /// The maximum number of tokens of a message; `None` for no bound.
    pub token_budget: Option<u32>,
    /// The maximum number of characters of one paste; longer messages are written in parts, too. `None` for no bound.
    pub paste_characters: Option<u32>,
    /// The files that matter for the task, the most relevant first. The first message shows as many as fit; in the dialect
    /// [`Dialect::CodingAgent`] it shows none.
    pub task_files: &'a [TaskFile],
    /// Files that the first message shows whole, as if the model had requested them.
    pub read_files: &'a [String],
    /// Sentences about the surroundings of commands, for the rules of the first message; not used in the dialect
    /// [`Dialect::CodingAgent`].
    pub surroundings: &'a [String],
    /// The work that the session continues, if any.
    pub handover: Option<&'a Handover>,
}

/// A caller's claim to execute a file of the inbox, until it is dropped.
#[derive(Debug)]
pub struct Claim<'a> {
    claimed: &'a Mutex<HashSet<RelPath>>,
    name: RelPath,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.claimed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(&self.name);
    }
}

impl<W: Workspace> Sessions<W> {
    /// Opens the sessions and rewrites their missing files.
    ///
    /// # Errors
    ///
    /// If the journal or the folders cannot be used.
    pub fn open(
        workspace: W,
        journal: Journal,
        folders: StateFolders,
    ) -> Result<(Sessions<W>, Reconciled), SessionError> {
        let reconciled = reconcile::reconcile(&journal, &folders)?;
        let (inbox, claimed, turns) = (Mutex::default(), Mutex::default(), Turns::default());
        let count_tokens = estimated_tokens;
        let sessions =
            Sessions { workspace, journal, folders, inbox, claimed, turns, count_tokens, filter: None };
        Ok((sessions, reconciled))
    }

    /// Returns the sessions with a function that counts the tokens of messages instead of estimating them.
    #[must_use]
    pub fn counting_tokens_by(self, count_tokens: TokenCounter) -> Sessions<W> {
        Sessions { count_tokens, ..self }
    }

    /// Returns the sessions with a filter of every message, except for the protocol's own text. Unlike the workspace, it also
    /// sees the user's texts.
    #[must_use]
    pub fn with_filter(self, filter: TextFilter) -> Sessions<W> {
        Sessions { filter: Some(filter), ..self }
    }

    /// Applies the filter to a message of a session.
    fn filtered_outbox(&self, outbox: String, session: &Session) -> String {
        match &self.filter {
            Some(TextFilter(filter)) => filtered_outbox(&outbox, session, &**filter),
            None => outbox,
        }
    }

    /// Applies the filter to a text.
    pub(crate) fn filtered(&self, text: String) -> String {
        self.filter.as_ref().map_or_else(|| text.clone(), |TextFilter(filter)| filter(&text))
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &W {
        &self.workspace
    }

    /// Returns a reader of the journal.
    pub fn journal_reader(&self) -> &JournalReader {
        self.journal.reader()
    }

    /// Removes contents from the journal that are no longer needed; see [`Journal::collect_garbage`].
    ///
    /// # Errors
    ///
    /// Those of the disk.
    pub fn collect_garbage(&self, rule: &GarbageRule) -> Result<GarbageReport, JournalError> {
        self.journal.collect_garbage(rule)
    }

    /// Removes contents that are no longer needed while other calls run; see [`Journal::collect_in_background`].
    ///
    /// # Errors
    ///
    /// Those of the disk.
    pub fn collect_garbage_in_background(
        &self,
        rule: &GarbageRule,
        may_continue: &dyn Fn() -> bool,
    ) -> Result<GarbageReport, JournalError> {
        self.journal.collect_in_background(rule, may_continue)
    }

    /// Writes a copy of the journal into a new folder, see [`Journal::copy_to`].
    ///
    /// # Errors
    ///
    /// Those of reading and writing.
    pub fn copy_journal_to(&self, folder: &Path) -> Result<(), JournalError> {
        self.journal.copy_to(folder)
    }

    /// Returns the folders.
    pub fn folders(&self) -> &StateFolders {
        &self.folders
    }

    /// Starts a session: commits it with its first outbox and writes both files.
    ///
    /// # Errors
    ///
    /// If the workspace cannot be listed, or journal or folders cannot be written. If only the folders fail, the session
    /// exists, and opening the sessions writes its files.
    pub fn create(
        &self,
        task: &str,
        dialect: Dialect,
        token_budget: Option<u32>,
        cancel: &CancelFlag,
    ) -> Result<Session, SessionError> {
        let [first, second, third, fourth, ..] = *uuid::Uuid::new_v4().as_bytes();
        let id = SessionId::from_random([first, second, third, fourth]);
        self.create_as(
            &NewSession {
                id,
                task,
                dialect,
                token_budget,
                paste_characters: None,
                task_files: &[],
                read_files: &[],
                surroundings: &[],
                handover: None,
            },
            cancel,
        )
    }

    /// Starts a session with a given id, or returns the existing session, so that a caller may retry if the response was lost.
    ///
    /// # Errors
    ///
    /// Those of [`Sessions::create`].
    pub fn create_once(&self, new: &NewSession<'_>, cancel: &CancelFlag) -> Result<Session, SessionError> {
        let _turn = self.turns.take(new.id)?;
        match self.session(new.id) {
            Err(SessionError::Unknown { .. }) => self.create_as(new, cancel),
            existing => existing,
        }
    }

    /// Claims a file of the inbox for one caller. Other callers are refused, and so is a caller whose version of the file is
    /// gone: if two callers read a file, only one of them executes it.
    ///
    /// # Errors
    ///
    /// [`SessionError::Taken`], or if the inbox cannot be listed.
    pub fn claim(&self, file: &InboxFile) -> Result<Claim<'_>, SessionError> {
        let taken = || SessionError::Taken { name: file.name.to_string() };
        let mut claimed = self.claimed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !claimed.insert(file.name.clone()) {
            return Err(taken());
        }
        drop(claimed);
        // The claim exists before the check: the file cannot be executed and moved in between.
        let claim = Claim { claimed: &self.claimed, name: file.name.clone() };
        if file.is_still_there(&self.folders)? { Ok(claim) } else { Err(taken()) }
    }

    /// Starts a session with a given id, which must be new.
    pub(crate) fn create_as(
        &self,
        new: &NewSession<'_>,
        cancel: &CancelFlag,
    ) -> Result<Session, SessionError> {
        let NewSession {
            id,
            task,
            dialect,
            token_budget,
            paste_characters,
            task_files,
            read_files,
            surroundings,
            ..
        } = *new;
        let mut session = Session {
            paste_characters,
            handover: new.handover.cloned(),
            read_file_requests: read_files.to_vec(),
            ..Session::new(id, task, &now(), dialect, token_budget)
        };
        // Read before the listing: a change in between is then reported once too often instead of never.
        let known_changes = crate::undone::last_change(self.journal.reader())?.to_string();
        let origin = origin(&session, &uuid::Uuid::new_v4().to_string());
        let call = Call { origin: &origin, cancel, time_left: None };
        let outbox = match dialect {
            Dialect::Agentd => {
                let limits = OutboxLimits::default();
                let context = gather_first(&session, &self.workspace, &call, &limits, task_files);
                let context = context.map_err(SessionError::Workspace)?;
                session.surroundings = surroundings.to_vec();
                session.surroundings.extend(project_facts(&self.workspace, &call, &context));
                self.render_context(&mut session, &context, &call)?
            }
            Dialect::CodingAgent => self.render(&mut session, &call)?,
        };
        let beginning = BeginningDocument {
            task_files: task_files.to_vec(),
            read_files: read_files.to_vec(),
            listed: session.listed.clone(),
        };
        let beginning = serde_json::to_vec(&beginning).expect("lists of texts and numbers");
        self.journal.write_documents(&[
            DocumentWrite::Put { name: &documents::session(id), bytes: &encode(&session) },
            DocumentWrite::Put { name: &documents::outbox(id, 1), bytes: outbox.as_bytes() },
            DocumentWrite::Put { name: &documents::known_changes(id), bytes: known_changes.as_bytes() },
            DocumentWrite::Put { name: &documents::beginning(id), bytes: &beginning },
        ])?;
        self.write_files(&session, Some(&outbox))?;
        Ok(session)
    }

    /// Continues a complete session: makes its next outbox pending, with a note that the task is not complete yet. An incomplete
    /// session is returned unchanged.
    ///
    /// # Errors
    ///
    /// [`SessionError::Busy`] while a reply to it is being executed, and those of [`Sessions::session`] and
    /// [`Sessions::create`].
    pub fn reopen(&self, id: SessionId, cancel: &CancelFlag) -> Result<Session, SessionError> {
        let _turn = self.turns.take(id)?;
        let mut session = self.session(id)?;
        if !session.is_complete {
            return Ok(session);
        }
        session.reopen(&now());
        let known_changes = crate::undone::last_change(self.journal.reader())?;
        session.notes.extend(crate::undone::notes(self.journal.reader(), id, known_changes)?);
        let origin = origin(&session, &uuid::Uuid::new_v4().to_string());
        let outbox = self.render(&mut session, &Call { origin: &origin, cancel, time_left: None })?;
        self.journal.write_documents(&[
            DocumentWrite::Put { name: &documents::session(id), bytes: &encode(&session) },
            DocumentWrite::Put {
                name: &documents::outbox(id, session.sequence_number),
                bytes: outbox.as_bytes(),
            },
            DocumentWrite::Put {
                name: &documents::known_changes(id),
                bytes: known_changes.to_string().as_bytes(),
            },
        ])?;
        self.write_files(&session, Some(&outbox))?;
        Ok(session)
    }

    /// Reads a session.
    ///
    /// # Errors
    ///
    /// [`SessionError::Unknown`], or if it cannot be read.
    pub fn session(&self, id: SessionId) -> Result<Session, SessionError> {
        crate::summary::read_session(self.journal.reader(), id)
    }

    /// Returns the unfinished session that changed last.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub fn newest_unfinished(&self) -> Result<Option<Session>, SessionError> {
        let newest = crate::summary::sessions(self.journal.reader())?
            .into_iter()
            .rfind(|session| !session.is_complete);
        Ok(newest)
    }

    /// Returns the text of a session's pending or last outbox.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub fn outbox(&self, session: &Session) -> Result<Option<String>, SessionError> {
        crate::summary::read_outbox_text(self.journal.reader(), session)
    }

    /// Returns the text of a session's pending outbox for a new chat: with all rules, the current list of files, and the task.
    /// The pending outbox itself does not change.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read, or the files cannot be listed.
    pub fn whole_outbox(&self, id: SessionId, cancel: &CancelFlag) -> Result<Option<String>, SessionError> {
        let session = self.session(id)?;
        let Some(outbox) = self.outbox(&session)? else { return Ok(None) };
        // The outbox already has the files in their earlier versions, except for files to which it only refers.
        let referred_to = |path: &String| !session.read_file_ranges.contains_key(path);
        let has_references = session.whole_views.values().any(|view| view.is_referred_to);
        let read_file_requests = match has_references {
            true => session.read_file_requests.iter().filter(|path| referred_to(path)).cloned().collect(),
            false => Vec::new(),
        };
        let whole_files =
            Session { read_file_requests, read_file_ranges: BTreeMap::new(), ..session.clone() };
        let call_origin = origin(&session, "whole");
        let call = Call { origin: &call_origin, cancel, time_left: None };
        let context = gather(&whole_files, &self.workspace, &call, &OutboxLimits::default());
        let context = context.map_err(SessionError::Workspace)?;
        Ok(Some(self.filtered_outbox(whole_outbox(&outbox, &session, &context), &session)))
    }

    /// Blocks until the inbox has something to report or the flag is raised.
    ///
    /// # Errors
    ///
    /// If the inbox cannot be listed, or a file cannot be quarantined.
    pub fn wait(&self, cancel: &CancelFlag) -> Result<Waited, SessionError> {
        // Held while waiting: the observations belong to one series of listings.
        let mut inbox = self.inbox.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(inbox.wait(&self.folders, cancel)?)
    }

    /// Quarantines a reply that was not executed; `None` if another file was saved under its name since it was read. That file is
    /// another reply, and stays in the inbox.
    ///
    /// # Errors
    ///
    /// If no file has its name any longer, or it cannot be moved.
    pub fn set_aside(&self, file: &InboxFile) -> Result<Option<SetAside>, SessionError> {
        Ok(moving::set_aside(&self.folders, file)?)
    }

    /// Moves an executed reply to `inbox/processed/`. A file that was saved under its name since it was read is another reply, and
    /// stays in the inbox.
    ///
    /// # Errors
    ///
    /// If it cannot be moved.
    pub fn move_to_processed(&self, file: &InboxFile) -> Result<(), SessionError> {
        Ok(moving::move_to_processed(&self.folders, file)?)
    }

    /// Renders the pending outbox of a session and records the file versions in it.
    pub(crate) fn render(&self, session: &mut Session, call: &Call<'_>) -> Result<String, SessionError> {
        let context = gather(session, &self.workspace, call, &OutboxLimits::default());
        self.render_context(session, &context.map_err(SessionError::Workspace)?, call)
    }

    fn render_context(
        &self,
        session: &mut Session,
        context: &Context,
        call: &Call<'_>,
    ) -> Result<String, SessionError> {
        let info = self.workspace.workspace_info(call).map_err(SessionError::Workspace)?;
        let mut outbox = render_outbox_counted(session, context, &info.sandbox, self.count_tokens);
        outbox.text = self.filtered_outbox(outbox.text, session);
        session.note_outbox(&outbox, &self.workspace, call);
        Ok(outbox.text)
    }

    /// Writes the files of a session.
    pub(crate) fn write_files(&self, session: &Session, outbox: Option<&str>) -> Result<(), FsError> {
        if let Some(outbox) = outbox {
            projection::write_outbox(&self.folders.outbox, session, outbox.as_bytes())?;
            projection::write_parts(&self.folders.outbox, session, outbox)?;
        }
        projection::write(&self.folders.sessions, &session.session_file_name(), &encode(session))
    }
}

/// Returns the origin of calls that answer the pending outbox of a session.
pub(crate) fn origin(session: &Session, digest: &str) -> Origin {
    Origin {
        conversation: ConversationId(session.session_id.to_string()),
        run: RunKey { sequence: session.sequence_number, digest: digest.to_owned() },
        step: 0,
        retention: Retention::Durable,
    }
}

/// Encodes a session for its file and its document.
pub(crate) fn encode(session: &Session) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(session).expect("sessions have string keys");
    bytes.push(b'\n');
    bytes
}

/// Returns the current time in the format of sessions.
pub(crate) fn now() -> String {
    format!("{:.0}", jiff::Timestamp::now())
}
