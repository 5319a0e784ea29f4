//! The workspace of a state folder, through its owner: this process, or another one that carries out the calls.

mod asking;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use file_index::{ChangeFeed, FeedCursor, FeedPage};
use local_workspace::{FileIndex, IndexLimits, IndexReport};
use wap_core::{
    Call, CancelFlag, CommandObserver, ConversationId, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, FileChange, FileChanged, FileStates, Moment, ReadFile, ReadFileResponse, Reason,
    SearchFiles, SearchFilesResponse, StopProcess, StopProcessResponse, Tool, Unobserved, WapError,
    Workspace, WorkspaceInfo,
};

use crate::failure::{Exit, Failure};
use crate::notices::SharedNotices;
use crate::options::HostOptions;
use crate::owner::owner_connection::{CallLimit, ConnectError, OwnerConnection};
use crate::owner::protocol::{CHANGE_FILES, FILE_STATES, FileStatesRequest, UNDO, Welcome};
use crate::owner::session_call::{Caller, SessionCall, SessionRefusal};
use crate::owner::session_progress::Watching;
use crate::owner::shared_workspace::asking::{NotAnswered, OwnerRequest, failure, silence, silent};
use crate::owner::undo_request::{self, UndoAnswer, UndoRefusal, UndoRequest};
use crate::state::{self, Opened, WorkspacePaths};

/// The time for which another process may hold the state folder without accepting clients.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time that clients' commands have to end once this process is requested to end.
const HURRY: Duration = Duration::from_secs(10);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// The workspace of a state folder. The first process owns it; the others are its clients, and one of them becomes the
/// owner when it ends. A call that was pending then is repeated as the same step: the engine answers from its record if
/// the step was carried out.
#[derive(Debug)]
pub struct SharedWorkspace {
    options: HostOptions,
    paths: WorkspacePaths,
    notices: SharedNotices,
    /// True if this process stays, and so may serve others as their owner.
    stays: bool,
    /// True once a background process was requested from any owner.
    has_processes: AtomicBool,
    access: Mutex<Access>,
}

#[derive(Clone, Debug)]
enum Access {
    None,
    Owner(Arc<Opened>),
    Client(Arc<OwnerConnection>),
    /// The owner did not answer the last call; calls until that instant fail at once instead of waiting again.
    Silent {
        until: Instant,
        owner: String,
    },
}

impl SharedWorkspace {
    /// Returns a workspace that its first call opens, for a process that is about to end and serves no others.
    pub fn new(options: &HostOptions, paths: &WorkspacePaths, notices: &SharedNotices) -> SharedWorkspace {
        let (options, paths, notices) = (options.clone(), paths.clone(), Arc::clone(notices));
        let (has_processes, access) = (AtomicBool::new(false), Mutex::new(Access::None));
        SharedWorkspace { options, paths, notices, stays: false, has_processes, access }
    }

    /// Returns the same for a process that stays.
    pub fn staying(
        options: &HostOptions,
        paths: &WorkspacePaths,
        notices: &SharedNotices,
    ) -> SharedWorkspace {
        SharedWorkspace { stays: true, ..SharedWorkspace::new(options, paths, notices) }
    }

    /// Opens the workspace, unless it is open.
    ///
    /// # Errors
    ///
    /// Those of opening a state folder; a later call tries again.
    pub fn open(&self) -> Result<(), Failure> {
        match self.access() {
            Ok(_) => Ok(()),
            Err(not_answered) => Err(failure(not_answered)),
        }
    }

    /// Waits until the tasks and the commands of clients have ended, then releases the state folder. A client becomes the owner.
    ///
    /// Once `end_requested` is set, the wait is short: tasks are cancelled, and the commands that are left end with this
    /// process.
    pub fn leave(&self, end_requested: &CancelFlag) {
        let mut access = self.lock();
        if let Access::Owner(opened) = &*access {
            let began = Instant::now();
            // Before the door closes: while tasks run, this process is an owner like any other.
            opened.tasks().wait_until_idle(&|| end_requested.is_cancelled());
            let is_hurried = || end_requested.is_cancelled() && began.elapsed() > HURRY;
            opened.door.wait_for_commands(&is_hurried);
            // Another task may have begun before new ones were refused.
            opened.tasks().wait_until_idle(&|| end_requested.is_cancelled());
        }
        *access = Access::None;
    }

    /// Returns a command with this process's own timeout: the owner may have been started with another one.
    ///
    /// # Errors
    ///
    /// [`WapError`] if this process may change nothing.
    pub fn as_run_here(&self, mut command: ExecuteCommand) -> Result<ExecuteCommand, WapError> {
        self.may_change()?;
        // A process without a text to wait for is only watched briefly.
        if command.background.is_none() || command.ready.is_some() {
            command.timeout.get_or_insert_with(|| milliseconds(self.options.command_timeout).cast_signed());
        }
        Ok(command)
    }

    /// Reverts changes.
    ///
    /// # Errors
    ///
    /// If the workspace cannot be opened or reached. A refusal is an answer.
    pub fn undo(
        &self,
        request: &UndoRequest,
        call: &Call<'_>,
    ) -> Result<Result<UndoAnswer, UndoRefusal>, Failure> {
        self.may_change().map_err(|error| Failure::new(Exit::Refused, error.message()))?;
        self.undo_by_owner(request, call).map_err(failure)
    }

    /// As [`SharedWorkspace::undo`], for a client.
    ///
    /// # Errors
    ///
    /// If the workspace is read-only, or cannot be opened or reached. The details are reported to the person at the terminal.
    pub fn undo_for_client(
        &self,
        request: &UndoRequest,
        call: &Call<'_>,
    ) -> Result<Result<UndoAnswer, UndoRefusal>, WapError> {
        self.may_change()?;
        self.undo_by_owner(request, call).map_err(|not_answered| self.for_client(not_answered))
    }

    fn undo_by_owner(
        &self,
        request: &UndoRequest,
        call: &Call<'_>,
    ) -> Result<Result<UndoAnswer, UndoRefusal>, NotAnswered> {
        let owner_request = OwnerRequest { method: UNDO, request, limit: CallLimit::Ordinary };
        let here = |opened: &Opened| {
            Ok(undo_request::carry_out(
                opened.journal_reader(),
                opened.engine(),
                opened.rules(),
                request,
                call,
            ))
        };
        self.ask_owner(call, &owner_request, &mut (), |(), _, _| {}, |opened, ()| here(opened))
    }

    /// Lets the owner of the state folder carry out a call about its sessions. If the owner ends in the meantime, the
    /// call is repeated at the next one, which answers completed steps from the record.
    ///
    /// # Errors
    ///
    /// If the workspace cannot be opened or reached. A refusal is an answer.
    pub fn session_call<C: SessionCall>(
        &self,
        request: &C,
        call: &Call<'_>,
        observer: &mut Watching<'_>,
    ) -> Result<Result<C::Answer, SessionRefusal>, Failure> {
        self.session_call_by_owner(request, call, observer).map_err(failure)
    }

    /// As [`SharedWorkspace::session_call`], for a client.
    ///
    /// # Errors
    ///
    /// If the workspace cannot be opened or reached. The details are reported to the person at the terminal.
    pub fn session_call_for_client<C: SessionCall>(
        &self,
        request: &C,
        call: &Call<'_>,
        observer: &mut Watching<'_>,
    ) -> Result<Result<C::Answer, SessionRefusal>, WapError> {
        self.session_call_by_owner(request, call, observer)
            .map_err(|not_answered| self.for_client(not_answered))
    }

    fn session_call_by_owner<C: SessionCall>(
        &self,
        request: &C,
        call: &Call<'_>,
        observer: &mut Watching<'_>,
    ) -> Result<Result<C::Answer, SessionRefusal>, NotAnswered> {
        let owner_request = OwnerRequest { method: C::METHOD, request, limit: CallLimit::None };
        let here = |opened: &Opened, observer: &mut Watching<'_>| {
            Ok(request.carry_out(opened, Caller::Owner, call, observer.observer()))
        };
        self.ask_owner(call, &owner_request, observer, Watching::notify, here)
    }

    /// Returns the open state folder if this process owns it, otherwise a description of the owner.
    ///
    /// # Errors
    ///
    /// As [`SharedWorkspace::open`].
    pub fn owned(&self) -> Result<Result<Arc<Opened>, Welcome>, Failure> {
        match self.access().map_err(failure)? {
            Access::Owner(opened) => Ok(Ok(opened)),
            Access::Client(connection) => Ok(Err(connection.owner.clone())),
            Access::None | Access::Silent { .. } => Err(silent("another process is using the state folder")),
        }
    }

    /// Returns the state of the index; `None` if this process keeps none, or is just opening the workspace. It never blocks.
    pub fn index_report(&self) -> Option<IndexReport> {
        // Opening the workspace holds the lock for long, and a report must not wait for it.
        match &*self.access.try_lock().ok()? {
            Access::Owner(opened) => opened.engine().index_report(),
            Access::None | Access::Client(_) | Access::Silent { .. } => None,
        }
    }

    /// Returns the index with its feed of changes; `None` if this process keeps none.
    fn file_index(&self) -> Option<Arc<FileIndex>> {
        match &*self.lock() {
            Access::Owner(opened) => opened.engine().keep_index(IndexLimits::default()).ok(),
            Access::None | Access::Client(_) | Access::Silent { .. } => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Access> {
        self.access.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn access(&self) -> Result<Access, NotAnswered> {
        let mut access = self.lock();
        match &*access {
            Access::Silent { until, owner } if Instant::now() < *until => {
                return Err(NotAnswered::Silent(silent(owner)));
            }
            Access::None | Access::Silent { .. } => {}
            Access::Owner(_) | Access::Client(_) => return Ok(access.clone()),
        }
        // Under the lock: two threads that both open the state folder would find it held by their own process.
        *access = self.find().map_err(NotAnswered::Unavailable)?;
        match &*access {
            Access::Silent { owner, .. } => Err(NotAnswered::Silent(silent(owner))),
            opened => Ok(opened.clone()),
        }
    }

    /// Becomes the owner of the state folder, or a client of it.
    fn find(&self) -> Result<Access, Failure> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            // Opening comes before connecting: the journal's lock decides which process is the owner, not the socket.
            let held = match state::open(&self.options, &self.paths, &self.notices) {
                Ok(opened) => {
                    if self.stays {
                        opened.door.stay(self.options.history_limit_bytes, &self.notices);
                    } else {
                        opened.workspace().inner().mark_short_lived();
                    }
                    return Ok(Access::Owner(Arc::new(opened)));
                }
                Err(failure) if failure.exit == Exit::Held => failure,
                Err(failure) => return Err(failure),
            };
            let hello = state::hello(&self.options, &self.paths);
            match OwnerConnection::connect(&self.paths.base, &hello) {
                Ok(connection) => {
                    state::report_lowered(&self.options, &self.notices);
                    let owner = connection.owner.process_id;
                    self.notices.detail(&format!("process {owner} owns the state folder: calls go to it"));
                    return Ok(Access::Client(Arc::new(connection)));
                }
                Err(ConnectError::Mismatch(why)) => {
                    return Err(Failure::new(Exit::Held, format!("{}: {why}", held.message)));
                }
                // The owner's process lives and holds the folder, and resumes where it was suspended: this one must
                // not become the owner.
                Err(ConnectError::Silent) => return Ok(silence(held.message)),
                // The owner may be starting or ending at this moment.
                Err(ConnectError::Absent) if Instant::now() < deadline => thread::sleep(PAUSE),
                Err(ConnectError::Absent) => return Err(held),
            }
        }
    }

    /// Gives up a connection whose owner is gone, or does not answer.
    fn forget(&self, given_up: &Arc<OwnerConnection>, next: Access) {
        let mut access = self.lock();
        // Another thread may have connected to the next owner already: that connection stays.
        if matches!(&*access, Access::Client(connection) if Arc::ptr_eq(connection, given_up)) {
            *access = next;
        }
    }

    fn may_change(&self) -> Result<(), WapError> {
        // Checked on this side, since the owner may have been started without `--read-only`.
        if self.options.read_only {
            return Err(WapError::new(Reason::ReadOnly, "the workspace is read-only"));
        }
        Ok(())
    }
}

/// The feed of changes, which only the owner of a state folder has. Clients get no events, and have to check files
/// themselves.
impl ChangeFeed for SharedWorkspace {
    fn cursor(&self) -> Option<FeedCursor> {
        self.file_index()?.cursor()
    }

    fn changes_since(&self, after: FeedCursor, limit: usize) -> FeedPage {
        self.file_index().map_or(FeedPage::Lost, |files| files.changes_since(after, limit))
    }

    fn wait(&self, after: FeedCursor, time: Duration) -> bool {
        match self.file_index() {
            Some(files) => files.wait(after, time),
            None => {
                thread::sleep(time);
                false
            }
        }
    }
}

impl Workspace for SharedWorkspace {
    fn workspace_info(&self, call: &Call<'_>) -> Result<WorkspaceInfo, WapError> {
        let owner_request = OwnerRequest {
            method: Tool::GetWorkspaceInfo.name(),
            request: serde_json::json!({}),
            limit: CallLimit::Ordinary,
        };
        let mut info: WorkspaceInfo = self
            .ask(call, &owner_request, &mut Unobserved, |opened, _| opened.engine().workspace_info(call))?;
        // This process sends its own timeout with each command, whatever the owner's is.
        info.limits.max_execution_time = milliseconds(self.options.command_timeout);
        Ok(info)
    }

    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        let owner_request =
            OwnerRequest { method: Tool::ExploreFiles.name(), request, limit: CallLimit::Ordinary };
        self.ask(call, &owner_request, &mut Unobserved, |opened, _| {
            opened.engine().explore_files(call, request)
        })
    }

    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        let owner_request =
            OwnerRequest { method: Tool::ReadFile.name(), request, limit: CallLimit::Ordinary };
        self.ask(call, &owner_request, &mut Unobserved, |opened, _| opened.engine().read_file(call, request))
    }

    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
        let owner_request =
            OwnerRequest { method: Tool::SearchFiles.name(), request, limit: CallLimit::Ordinary };
        self.ask(call, &owner_request, &mut Unobserved, |opened, _| {
            opened.engine().search_files(call, request)
        })
    }

    fn file_states(
        &self,
        call: &Call<'_>,
        paths: &[String],
        since: Option<&Moment>,
    ) -> Result<FileStates, WapError> {
        let request = FileStatesRequest { paths: paths.to_vec(), since: since.copied() };
        let owner_request = OwnerRequest { method: FILE_STATES, request, limit: CallLimit::Ordinary };
        self.ask(call, &owner_request, &mut Unobserved, |opened, _| {
            opened.engine().file_states(call, paths, since)
        })
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        self.may_change()?;
        let owner_request =
            OwnerRequest { method: CHANGE_FILES, request: changes, limit: CallLimit::Ordinary };
        self.ask(call, &owner_request, &mut Unobserved, |opened, _| {
            opened.engine().change_files(call, changes)
        })
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        let request = self.as_run_here(request.clone())?;
        let time =
            Duration::from_millis(request.timeout.and_then(|time| u64::try_from(time).ok()).unwrap_or(0));
        let limit = CallLimit::OnceStarted(time);
        if request.background.is_some() {
            self.has_processes.store(true, Ordering::Relaxed);
        }
        let owner_request = OwnerRequest { method: Tool::ExecuteCommand.name(), request: &request, limit };
        self.ask(call, &owner_request, observer, |opened, observer| {
            opened.engine().execute_command(call, &request, observer)
        })
    }

    fn stop_process(&self, call: &Call<'_>, request: &StopProcess) -> Result<StopProcessResponse, WapError> {
        let owner_request =
            OwnerRequest { method: Tool::StopProcess.name(), request, limit: CallLimit::Ordinary };
        self.ask(call, &owner_request, &mut Unobserved, |opened, _| {
            opened.engine().stop_process(call, request)
        })
    }

    fn end_conversation(&self, conversation: &ConversationId) {
        // Without waiting for another process: its owner ends the processes when the connection is closed, too.
        let access = self.lock().clone();
        match access {
            Access::Owner(opened) => opened.engine().end_conversation(conversation),
            Access::Client(connection) if self.has_processes.load(Ordering::Relaxed) => {
                connection.end_conversation(conversation);
            }
            Access::None | Access::Client(_) | Access::Silent { .. } => {}
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
