//! The sessions of a state folder, through its owner: this process, or another one that carries out the calls.

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
use crate::state::{Opened, WorkspacePaths};

/// The sessions of a state folder. Reading them needs no owner; everything else is done by the owner.
pub struct SharedSessions {
    workspace: Arc<SharedWorkspace>,
    paths: WorkspacePaths,
    folders: StateFolders,
}

impl SharedSessions {
    /// Opens the sessions, as the owner of the state folder or as its client. With `stays`, this process serves others
    /// while it owns the folder.
    ///
    /// # Errors
    ///
    /// Those of opening a state folder.
    pub fn open(
        options: &HostOptions,
        paths: WorkspacePaths,
        notices: &SharedNotices,
        stays: bool,
    ) -> Result<SharedSessions, Failure> {
        let workspace = match stays {
            true => SharedWorkspace::staying(options, &paths, notices),
            false => SharedWorkspace::new(options, &paths, notices),
        };
        SharedSessions::over(Arc::new(workspace), paths)
    }

    /// Opens the sessions of a workspace that this process uses already.
    ///
    /// # Errors
    ///
    /// Those of opening a state folder.
    pub fn over(workspace: Arc<SharedWorkspace>, paths: WorkspacePaths) -> Result<SharedSessions, Failure> {
        workspace.open()?;
        let folders = StateFolders::open(&paths.base).map_err(|error| {
            Failure::new(Exit::Failed, format!("the state folder {}: {error}", paths.base.display()))
        })?;
        Ok(SharedSessions { workspace, paths, folders })
    }

    /// Returns the workspace folder and the state folder.
    pub fn paths(&self) -> &WorkspacePaths {
        &self.paths
    }

    /// Returns the folders within the state folder.
    pub fn folders(&self) -> &StateFolders {
        &self.folders
    }

    /// Returns the workspace of the sessions.
    pub fn workspace(&self) -> &SharedWorkspace {
        &self.workspace
    }

    /// Returns the open state folder if this process owns it, otherwise a description of the owner.
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
    /// If there is no connection to the owner. A refusal is an answer.
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
    /// If there is no session with this id, or the journal cannot be read.
    pub fn session(&self, id: SessionId) -> Result<Session, Failure> {
        read_session(&self.reader()?, id).map_err(explain)
    }

    /// Returns the session with this id, or else the unfinished one that changed last.
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
        // The summaries begin with the session that changed last.
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

    /// Returns the report of the confinement of commands, or the error that prevents it.
    pub fn sandbox(&self, cancel: &CancelFlag) -> String {
        let origin = origin();
        let info = self.workspace.workspace_info(&Call { origin: &origin, cancel, time_left: None });
        info.map_or_else(|error| error.to_string(), |info| info.sandbox)
    }

    /// Waits until the commands of clients have ended, then releases the state folder.
    pub fn leave(&self, end_requested: &CancelFlag) {
        self.workspace.leave(end_requested);
    }

    fn reader(&self) -> Result<JournalReader, Failure> {
        self.paths.journal_reader()?.ok_or_else(nothing_to_resume)
    }
}

/// Returns the origin of a call that belongs to no run: each has a key of its own.
fn origin() -> Origin {
    Origin {
        conversation: ConversationId("session".to_owned()),
        // A fresh key, so that no such call is answered from the record of another.
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    }
}
