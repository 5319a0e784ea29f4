//! The sessions of a state folder, whichever process owns that: this one, or another one that carries out its calls.

use std::sync::Arc;

use change_journal::JournalReader;
use tag_session::{SessionError, StateFolders, read_outbox_text, read_session, session_summaries};
use tagproto::{Session, SessionId, UnobservedExecution};
use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey, Workspace};

use crate::failure::{Exit, Failure};
use crate::notices::SharedNotices;
use crate::options::HostOptions;
use crate::owner::protocol::Welcome;
use crate::owner::session_call::{SessionCall, SessionRefusal};
use crate::owner::session_progress::Watching;
use crate::owner::shared_workspace::SharedWorkspace;
use crate::session_failure::explain;
use crate::session_failure::nothing_to_resume;
use crate::state::{Opened, Places};

/// The sessions of a state folder. Reading them needs no owner; the rest is done by it.
pub struct SharedSessions {
    workspace: SharedWorkspace,
    places: Places,
    folders: StateFolders,
}

impl SharedSessions {
    /// Opens the sessions, as the owner of the state folder or as its client. With `stays` this process serves others
    /// while it owns the folder.
    ///
    /// # Errors
    ///
    /// Those of opening a state folder.
    pub fn open(
        options: &HostOptions,
        places: Places,
        notices: &SharedNotices,
        stays: bool,
    ) -> Result<SharedSessions, Failure> {
        let workspace = match stays {
            true => SharedWorkspace::staying(options, &places, notices),
            false => SharedWorkspace::new(options, &places, notices),
        };
        workspace.open()?;
        let folders = StateFolders::open(&places.base).map_err(|error| {
            Failure::new(Exit::Failed, format!("the state folder {}: {error}", places.base.display()))
        })?;
        Ok(SharedSessions { workspace, places, folders })
    }

    /// Returns the workspace folder and the state folder.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Returns the folders within the state folder.
    pub fn folders(&self) -> &StateFolders {
        &self.folders
    }

    /// Returns the sessions if this process owns them, else the owner.
    pub fn owned(&self) -> Result<Result<Arc<Opened>, Welcome>, Failure> {
        self.workspace.owned()
    }

    /// Makes a call about sessions.
    ///
    /// # Errors
    ///
    /// A refusal as a failure of the program, and those of [`SharedSessions::call_watched`].
    pub fn call<C: SessionCall>(&self, request: &C, cancel: &CancelFlag) -> Result<C::Answer, Failure> {
        let mut observer = UnobservedExecution;
        let mut watching = Watching::new(&[], &mut observer);
        self.call_watched(request, cancel, &mut watching)?.map_err(SessionRefusal::into_failure)
    }

    /// Makes a call about sessions and watches it.
    ///
    /// # Errors
    ///
    /// If the owner cannot be had. A refusal is an answer.
    pub fn call_watched<C: SessionCall>(
        &self,
        request: &C,
        cancel: &CancelFlag,
        watching: &mut Watching<'_>,
    ) -> Result<Result<C::Answer, SessionRefusal>, Failure> {
        let origin = origin();
        self.workspace.session_call(request, &Call { origin: &origin, cancel, time_left: None }, watching)
    }

    /// Reads a session.
    ///
    /// # Errors
    ///
    /// If there is none of this id, or the journal cannot be read.
    pub fn session(&self, id: SessionId) -> Result<Session, Failure> {
        read_session(&self.reader()?, id).map_err(explain)
    }

    /// Returns the session of this id, or else the unfinished one that changed last.
    ///
    /// # Errors
    ///
    /// If there is none, or the journal cannot be read.
    pub fn chosen(&self, id: Option<SessionId>) -> Result<Session, Failure> {
        if let Some(id) = id {
            return self.session(id);
        }
        let reader = self.reader()?;
        let summaries = session_summaries(&reader).map_err(explain)?;
        let newest = summaries.into_iter().find(|summary| !summary.complete).ok_or_else(nothing_to_resume)?;
        let id = newest.session.parse().map_err(|_| explain(SessionError::Unknown { id: newest.session }))?;
        read_session(&reader, id).map_err(explain)
    }

    /// Returns the text of a session's pending outbox, or its last one.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub fn outbox(&self, session: &Session) -> Result<Option<String>, Failure> {
        read_outbox_text(&self.reader()?, session).map_err(explain)
    }

    /// Returns the report of the confinement of commands, or why there is none.
    pub fn sandbox(&self, cancel: &CancelFlag) -> String {
        let origin = origin();
        let info = self.workspace.workspace_info(&Call { origin: &origin, cancel, time_left: None });
        info.map_or_else(|error| error.to_string(), |info| info.sandbox)
    }

    /// Waits until what runs for others has ended, then lets go of the state folder.
    pub fn leave(&self, asked_to_end: &CancelFlag) {
        self.workspace.leave(asked_to_end);
    }

    fn reader(&self) -> Result<JournalReader, Failure> {
        self.places.journal_reader()?.ok_or_else(nothing_to_resume)
    }
}

/// The origin of a call that stands for itself.
fn origin() -> Origin {
    Origin {
        conversation: ConversationId("session".to_owned()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    }
}
