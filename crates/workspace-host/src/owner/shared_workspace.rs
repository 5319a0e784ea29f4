//! The workspace of a state folder, whoever owns that: this process, or another one that is asked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use file_index::{ChangeFeed, FeedCursor, FeedPage};
use local_workspace::{FileIndex, IndexLimits, IndexReport};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wap_core::{
    Call, CancelFlag, CommandObserver, ExecuteCommand, ExecuteCommandResponse, ExploreFiles,
    ExploreFilesResponse, FileChange, FileChanged, FileStates, Moment, ReadFile, ReadFileResponse, Reason,
    SearchFiles, SearchFilesResponse, Tool, Unobserved, WapError, Workspace, WorkspaceInfo,
};

use crate::failure::{Exit, Failure};
use crate::notices::SharedNotices;
use crate::options::HostOptions;
use crate::owner::link::{CallLimit, Link, NoLink, Unanswered, watched};
use crate::owner::protocol::{CHANGE_FILES, FILE_STATES, StatesAsked, UNDO, Welcome};
use crate::owner::session_call::{Asker, SessionCall, SessionRefusal};
use crate::owner::session_progress::Watching;
use crate::owner::undo_request::{self, UndoAnswer, UndoRefusal, UndoRequest};
use crate::state::{self, Opened, Places};

/// How long the state folder may be held by somebody who does not let clients in.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long commands of others may go on once this process was asked to end.
const HURRY: Duration = Duration::from_secs(10);

/// How long an owner that does not answer is taken not to, before it is asked once more.
const SILENT: Duration = Duration::from_secs(2);

/// How soon it is tried again.
const PAUSE: Duration = Duration::from_millis(10);

/// The workspace of a state folder. The first process owns it; the others are clients of that one and take over when it
/// goes. A call that was on its way then is made again, as the same step: the engine answers what was carried out from
/// its record.
#[derive(Debug)]
pub struct SharedWorkspace {
    options: HostOptions,
    places: Places,
    notices: SharedNotices,
    /// Whether this process is going to stay, and so may serve others as their owner.
    stays: bool,
    access: Mutex<Access>,
}

#[derive(Clone, Debug)]
enum Access {
    None,
    Owner(Arc<Opened>),
    Client(Arc<Link>),
    /// The owner did not answer when it was asked; whoever comes until then need not find that out again.
    Silent {
        until: Instant,
        owner: String,
    },
}

/// A request on its way to the owner.
struct Asked<'a, R> {
    method: &'a str,
    request: R,
    limit: CallLimit,
}

/// The observer of a command.
struct Observed<'a>(&'a mut dyn CommandObserver);

/// Why a call has no response.
enum NotAnswered {
    /// The workspace cannot be had.
    Unavailable(Failure),
    /// Its owner does not answer.
    Silent(Failure),
    /// The tool has failed.
    Failed(WapError),
}

impl SharedWorkspace {
    /// Returns a workspace that is opened by its first call. Its process is about to end, and serves no others.
    pub fn new(options: &HostOptions, places: &Places, notices: &SharedNotices) -> SharedWorkspace {
        let (options, places, notices) = (options.clone(), places.clone(), Arc::clone(notices));
        SharedWorkspace { options, places, notices, stays: false, access: Mutex::new(Access::None) }
    }

    /// The same for a process that stays.
    pub fn staying(options: &HostOptions, places: &Places, notices: &SharedNotices) -> SharedWorkspace {
        SharedWorkspace { stays: true, ..SharedWorkspace::new(options, places, notices) }
    }

    /// Gets hold of the workspace, if that has not happened yet.
    ///
    /// # Errors
    ///
    /// Those of opening a state folder; a later call tries again.
    pub fn open(&self) -> Result<(), Failure> {
        match self.access() {
            Ok(_) => Ok(()),
            Err(why) => Err(failure(why)),
        }
    }

    /// Waits until what runs for others has ended, then lets go. Whoever is a client takes over.
    ///
    /// Somebody who has asked this process to end does not wait for long: the commands that are left end with it.
    pub fn leave(&self, asked_to_end: &CancelFlag) {
        let mut access = self.lock();
        if let Access::Owner(opened) = &*access {
            let began = Instant::now();
            let is_hurried = || asked_to_end.is_cancelled() && began.elapsed() > HURRY;
            opened.door.wait_for_commands(&is_hurried);
        }
        *access = Access::None;
    }

    /// Takes changes back.
    ///
    /// # Errors
    ///
    /// If the workspace cannot be had. A refusal is an answer.
    pub fn undo(
        &self,
        request: &UndoRequest,
        call: &Call<'_>,
    ) -> Result<Result<UndoAnswer, UndoRefusal>, Failure> {
        self.may_change().map_err(|error| Failure::new(Exit::Refused, error.message()))?;
        let asked = Asked { method: UNDO, request, limit: CallLimit::Ordinary };
        let here = |opened: &Opened| {
            Ok(undo_request::carry_out(opened.journal_reader(), opened.workspace(), request, call))
        };
        self.ask_owner(call, &asked, &mut (), |(), _, _| {}, |opened, ()| here(opened)).map_err(failure)
    }

    /// Has the owner of the state folder carry out a call about its sessions. If that goes in the middle, the call is
    /// made again: steps that were carried out are answered from the record.
    ///
    /// # Errors
    ///
    /// If the workspace cannot be had. A refusal is an answer.
    pub fn session_call<C: SessionCall>(
        &self,
        request: &C,
        call: &Call<'_>,
        observer: &mut Watching<'_>,
    ) -> Result<Result<C::Answer, SessionRefusal>, Failure> {
        let asked = Asked { method: C::METHOD, request, limit: CallLimit::None };
        let here = |opened: &Opened, observer: &mut Watching<'_>| {
            Ok(request.carry_out(opened, Asker::This, call, observer.observer()))
        };
        self.ask_owner(call, &asked, observer, Watching::notify, here).map_err(failure)
    }

    /// Returns the sessions if this process owns the state folder, and the owner if another one does.
    ///
    /// # Errors
    ///
    /// As [`SharedWorkspace::open`].
    pub fn owned(&self) -> Result<Result<Arc<Opened>, Welcome>, Failure> {
        match self.access().map_err(failure)? {
            Access::Owner(opened) => Ok(Ok(opened)),
            Access::Client(link) => Ok(Err(link.owner.clone())),
            Access::None | Access::Silent { .. } => Err(silent("another process is using the state folder")),
        }
    }

    /// What the list of files is doing, if this process keeps one. It waits for nothing: while the workspace is being opened
    /// there is none.
    pub fn index_report(&self) -> Option<IndexReport> {
        match &*self.access.try_lock().ok()? {
            Access::Owner(opened) => opened.workspace().index_report(),
            Access::None | Access::Client(_) | Access::Silent { .. } => None,
        }
    }

    /// The list of files with its feed of changes, if this process keeps one.
    fn file_index(&self) -> Option<Arc<FileIndex>> {
        match &*self.lock() {
            Access::Owner(opened) => opened.workspace().keep_index(IndexLimits::default()).ok(),
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
        *access = self.find().map_err(NotAnswered::Unavailable)?;
        match &*access {
            Access::Silent { owner, .. } => Err(NotAnswered::Silent(silent(owner))),
            found => Ok(found.clone()),
        }
    }

    /// Becomes the owner of the state folder, or a client of it.
    fn find(&self) -> Result<Access, Failure> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let held = match state::open(&self.options, &self.places, &self.notices) {
                Ok(opened) => {
                    if self.stays {
                        opened.door.stay(self.options.history_limit_bytes, &self.notices);
                    }
                    return Ok(Access::Owner(Arc::new(opened)));
                }
                Err(failure) if failure.exit == Exit::Held => failure,
                Err(failure) => return Err(failure),
            };
            let hello = state::hello(&self.options, &self.places);
            match Link::connect(&self.places.base, &hello) {
                Ok(link) => {
                    let owner = link.owner.process_id;
                    self.notices.detail(&format!("process {owner} owns the state folder: it is asked"));
                    return Ok(Access::Client(Arc::new(link)));
                }
                Err(NoLink::Mismatch(why)) => {
                    return Err(Failure::new(Exit::Held, format!("{}: {why}", held.message)));
                }
                // It is not taken over: its process lives and has the folder, and goes on where it was stopped.
                Err(NoLink::Silent) => return Ok(silence(held.message)),
                // It may just be coming or going.
                Err(NoLink::Nobody) if Instant::now() < deadline => thread::sleep(PAUSE),
                Err(NoLink::Nobody) => return Err(held),
            }
        }
    }

    /// Gives up a connection whose owner is gone, or does not answer.
    fn forget(&self, given_up: &Arc<Link>, next: Access) {
        let mut access = self.lock();
        if matches!(&*access, Access::Client(link) if Arc::ptr_eq(link, given_up)) {
            *access = next;
        }
    }

    /// Has whoever owns the state folder answer.
    fn ask<T: DeserializeOwned, R: Serialize>(
        &self,
        call: &Call<'_>,
        asked: &Asked<'_, R>,
        observer: &mut dyn CommandObserver,
        here: impl Fn(&Opened, &mut dyn CommandObserver) -> Result<T, WapError>,
    ) -> Result<T, WapError> {
        let mut observed = Observed(observer);
        let notify = |observed: &mut Observed<'_>, method: &str, params| watched(method, params, observed.0);
        let here = |opened: &Opened, observed: &mut Observed<'_>| here(opened, observed.0);
        self.ask_owner(call, asked, &mut observed, notify, here).map_err(|why| match why {
            NotAnswered::Unavailable(failure) => {
                let text = match failure.exit {
                    Exit::Held => {
                        "another process uses the state folder and cannot be asked; its user has to stop it"
                    }
                    _ => "the workspace cannot be opened; agentd's standard error says why",
                };
                self.unavailable(&failure, text)
            }
            NotAnswered::Silent(failure) => self.unavailable(
                &failure,
                "the process that owns the state folder does not answer; its user has to let it go on or end it. \
                 Whether a call that was on its way was carried out is not known: look before you repeat it",
            ),
            NotAnswered::Failed(error) => error,
        })
    }

    fn ask_owner<T: DeserializeOwned, R: Serialize, O: ?Sized>(
        &self,
        call: &Call<'_>,
        asked: &Asked<'_, R>,
        observer: &mut O,
        notify: impl Fn(&mut O, &str, Value),
        here: impl Fn(&Opened, &mut O) -> Result<T, WapError>,
    ) -> Result<T, NotAnswered> {
        loop {
            let link = match self.access()? {
                Access::Owner(opened) => return here(&opened, observer).map_err(NotAnswered::Failed),
                Access::Client(link) => link,
                Access::None | Access::Silent { .. } => continue,
            };
            let notified = &mut |method: &str, params| notify(observer, method, params);
            match link.call(asked.method, &asked.request, call, asked.limit, notified) {
                Ok(answer) => return answer.map_err(NotAnswered::Failed),
                Err(Unanswered::Gone) => self.forget(&link, Access::None),
                Err(Unanswered::Leaving) => thread::sleep(PAUSE),
                Err(Unanswered::Silent) => {
                    let owner = format!("process {} is using the state folder", link.owner.process_id);
                    self.forget(&link, silence(owner.clone()));
                    let Failure { exit, message, advice } = silent(&owner);
                    let message = format!("{message}: whether the call was carried out is not known");
                    return Err(NotAnswered::Silent(Failure { exit, message, advice }));
                }
            }
            if call.cancel.is_cancelled() {
                let text = "cancelled while its process was changing";
                return Err(NotAnswered::Failed(WapError::new(Reason::Cancelled, text)));
            }
        }
    }

    /// What a model is told; the rest is for the person at the terminal.
    fn unavailable(&self, failure: &Failure, text: &str) -> WapError {
        self.notices.notice(&format!("agentd: {}", failure.message));
        if let Some(advice) = &failure.advice {
            self.notices.notice(&format!("  {advice}"));
        }
        WapError::new(Reason::Busy, text)
    }

    fn may_change(&self) -> Result<(), WapError> {
        if self.options.read_only {
            return Err(WapError::new(Reason::ReadOnly, "the workspace is read-only"));
        }
        Ok(())
    }
}

/// The failure of a command that got no response.
fn failure(why: NotAnswered) -> Failure {
    match why {
        NotAnswered::Unavailable(failure) | NotAnswered::Silent(failure) => failure,
        NotAnswered::Failed(error) if error.reason() == Reason::Cancelled => {
            Failure::new(Exit::Interrupted, error.message())
        }
        NotAnswered::Failed(error) => Failure::new(Exit::Failed, error.message()),
    }
}

/// The state in which an owner does not answer for now.
fn silence(owner: String) -> Access {
    Access::Silent { until: Instant::now() + SILENT, owner }
}

/// The failure of those who ask an owner that does not answer; the text says who it is.
fn silent(owner: &str) -> Failure {
    Failure::new(Exit::Held, format!("{owner}, and does not answer"))
        .advise("if it was stopped, let it go on (kill -CONT); if it hangs, end it: then another takes over")
}

/// What the owner of a state folder is told about its files. Others are told nothing, and have to look for themselves.
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
        let asked = Asked {
            method: Tool::GetWorkspaceInfo.name(),
            request: serde_json::json!({}),
            limit: CallLimit::Ordinary,
        };
        let mut info: WorkspaceInfo =
            self.ask(call, &asked, &mut Unobserved, |opened, _| opened.workspace().workspace_info(call))?;
        info.limits.max_execution_time = milliseconds(self.options.command_timeout);
        Ok(info)
    }

    fn explore_files(
        &self,
        call: &Call<'_>,
        request: &ExploreFiles,
    ) -> Result<ExploreFilesResponse, WapError> {
        let asked = Asked { method: Tool::ExploreFiles.name(), request, limit: CallLimit::Ordinary };
        self.ask(call, &asked, &mut Unobserved, |opened, _| opened.workspace().explore_files(call, request))
    }

    fn read_file(&self, call: &Call<'_>, request: &ReadFile) -> Result<ReadFileResponse, WapError> {
        let asked = Asked { method: Tool::ReadFile.name(), request, limit: CallLimit::Ordinary };
        self.ask(call, &asked, &mut Unobserved, |opened, _| opened.workspace().read_file(call, request))
    }

    fn search_files(&self, call: &Call<'_>, request: &SearchFiles) -> Result<SearchFilesResponse, WapError> {
        let asked = Asked { method: Tool::SearchFiles.name(), request, limit: CallLimit::Ordinary };
        self.ask(call, &asked, &mut Unobserved, |opened, _| opened.workspace().search_files(call, request))
    }

    fn file_states(
        &self,
        call: &Call<'_>,
        paths: &[String],
        since: Option<&Moment>,
    ) -> Result<FileStates, WapError> {
        let request = StatesAsked { paths: paths.to_vec(), since: since.copied() };
        let asked = Asked { method: FILE_STATES, request, limit: CallLimit::Ordinary };
        self.ask(call, &asked, &mut Unobserved, |opened, _| {
            opened.workspace().file_states(call, paths, since)
        })
    }

    fn change_files(
        &self,
        call: &Call<'_>,
        changes: &[FileChange],
    ) -> Result<Vec<Result<FileChanged, WapError>>, WapError> {
        self.may_change()?;
        let asked = Asked { method: CHANGE_FILES, request: changes, limit: CallLimit::Ordinary };
        self.ask(call, &asked, &mut Unobserved, |opened, _| opened.workspace().change_files(call, changes))
    }

    fn execute_command(
        &self,
        call: &Call<'_>,
        request: &ExecuteCommand,
        observer: &mut dyn CommandObserver,
    ) -> Result<ExecuteCommandResponse, WapError> {
        self.may_change()?;
        let mut request = request.clone();
        // Whoever owns the state folder may have been started with another one.
        request.timeout.get_or_insert_with(|| milliseconds(self.options.command_timeout).cast_signed());
        let time =
            Duration::from_millis(request.timeout.and_then(|time| u64::try_from(time).ok()).unwrap_or(0));
        let limit = CallLimit::OnceStarted(time);
        let asked = Asked { method: Tool::ExecuteCommand.name(), request: &request, limit };
        self.ask(call, &asked, observer, |opened, observer| {
            opened.workspace().execute_command(call, &request, observer)
        })
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
