//! The owner of a state folder, as its clients see it: it answers their calls through the socket in the folder.

mod connection;
pub(crate) mod followed_sessions;
pub(crate) mod link;
mod outgoing;
pub(crate) mod protocol;
pub(crate) mod session_call;
pub(crate) mod session_progress;
pub(crate) mod shared_sessions;
pub(crate) mod shared_workspace;
pub(crate) mod undo_request;

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use change_journal::Journal;
use local_workspace::{IndexLimits, LocalWorkspace};
use wap_calls::CallPool;

use crate::notices::SharedNotices;
use crate::owner::protocol::{Hello, Welcome};
use crate::state::garbage_keeper::GarbageKeeper;
use crate::state::{LocalSessions, socket};

/// How many clients may be connected at once.
const MOST_CLIENTS: usize = 512;

/// How long calls that were begun may take to end once the owner leaves.
const PARTING: Duration = Duration::from_secs(5);

/// What the owner of a state folder shares with its clients.
#[derive(Debug)]
pub struct Host {
    pub(crate) workspace: Arc<LocalWorkspace>,
    pub(crate) journal: Journal,
    pub(crate) sessions: Arc<LocalSessions>,
    pub(crate) pool: CallPool,
    /// What a client has to be like.
    pub hello: Hello,
    /// What clients learn of this process.
    pub welcome: Welcome,
    /// Whether this process stays. One that is about to end begins no command for others.
    stays: AtomicBool,
    /// Whether the door is closing: then clients are not gone, but sent to the next owner.
    closing: AtomicBool,
    work: Mutex<Work>,
    changed: Condvar,
}

/// What is going on for clients.
#[derive(Debug, Default)]
struct Work {
    calls: usize,
    commands: usize,
    /// A handle of each connection, to end it by.
    connections: Vec<(u64, UnixStream)>,
    next_connection: u64,
}

impl Host {
    pub fn new(
        workspace: Arc<LocalWorkspace>,
        journal: Journal,
        sessions: Arc<LocalSessions>,
        hello: Hello,
        command: &str,
    ) -> Host {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Host {
            workspace,
            journal,
            sessions,
            welcome: Welcome { process_id: std::process::id(), command: command.to_owned(), since },
            pool: CallPool::new(),
            hello,
            stays: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            work: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether this process is about to give the state folder up.
    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// Takes note of a call until the returned value is dropped; `None` if it must not begin.
    fn begin(self: &Arc<Host>, is_command: bool) -> Option<Begun> {
        let mut work = self.work();
        // Asked under the lock: whoever leaves waits, under the lock, for the commands that were begun.
        if is_command && !self.stays.load(Ordering::SeqCst) {
            return None;
        }
        work.calls += 1;
        work.commands += usize::from(is_command);
        Some(Begun { host: Arc::clone(self), is_command })
    }
}

/// A call that was begun and has not ended.
#[derive(Debug)]
struct Begun {
    host: Arc<Host>,
    is_command: bool,
}

impl Drop for Begun {
    fn drop(&mut self) {
        let mut work = self.host.work();
        work.calls -= 1;
        work.commands -= usize::from(self.is_command);
        self.host.changed.notify_all();
    }
}

/// The open door of a state folder; dropping it closes the door, when the clients' commands have ended.
#[derive(Debug)]
pub struct Door {
    host: Arc<Host>,
    listening: Option<(UnixListener, JoinHandle<()>)>,
    state_folder: PathBuf,
    keeper: OnceLock<GarbageKeeper>,
}

impl Door {
    /// Lets clients in from now on. Without a socket there are none, and everything else goes on.
    pub fn open(state_folder: &Path, host: Host) -> Door {
        let host = Arc::new(host);
        let listening = start(state_folder, &host).ok();
        Door { host, listening, state_folder: state_folder.to_owned(), keeper: OnceLock::new() }
    }

    /// Says that this process stays: clients may have it run commands, searches are made quick for it, and what is kept for undoing
    /// is kept below a limit.
    pub fn stay(&self, history_limit_bytes: u64, notices: &SharedNotices) {
        self.host.stays.store(true, Ordering::SeqCst);
        // Without a list of files, searches take longer, and that is all.
        let _ = self.host.workspace.keep_index(IndexLimits::default());
        let Host { workspace, journal, .. } = &*self.host;
        self.keeper.get_or_init(|| GarbageKeeper::start(workspace, journal, history_limit_bytes, notices));
    }

    /// Begins no more commands for clients, and waits until those that run have ended, or until told not to.
    pub fn wait_for_commands(&self, is_hurried: &dyn Fn() -> bool) {
        let mut work = self.host.work();
        self.host.stays.store(false, Ordering::SeqCst);
        while work.commands > 0 && !is_hurried() {
            let pause = Duration::from_millis(50);
            (work, _) = self.host.changed.wait_timeout(work, pause).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // While the folder is still ours.
        drop(self.keeper.take());
        self.host.stays.store(false, Ordering::SeqCst);
        self.host.closing.store(true, Ordering::SeqCst);
        if let Some((listener, thread)) = self.listening.take() {
            // While the folder is still ours, so that it is our name that goes.
            socket::remove(&self.state_folder);
            let _ = rustix::net::shutdown(listener.as_fd(), rustix::net::Shutdown::Both);
            let _ = thread.join();
        }
        let deadline = Instant::now() + PARTING;
        let mut work = self.host.work();
        for (_, stream) in &work.connections {
            // Answers of calls that were begun still go out; what is not answered is asked of the next owner.
            let _ = stream.shutdown(std::net::Shutdown::Read);
        }
        while (work.calls > 0 || !work.connections.is_empty()) && Instant::now() < deadline {
            let pause = Duration::from_millis(20);
            (work, _) = self.host.changed.wait_timeout(work, pause).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn start(state_folder: &Path, host: &Arc<Host>) -> io::Result<(UnixListener, JoinHandle<()>)> {
    let listener = socket::listen(state_folder)?;
    let accepting = listener.try_clone()?;
    let host = Arc::clone(host);
    let thread = thread::Builder::new().name("door".to_owned()).spawn(move || {
        while !host.is_closing() {
            match accepting.accept() {
                Ok((stream, _)) => admit(&host, stream),
                Err(_) if host.is_closing() => break,
                // No more files can be opened, for instance: it may pass.
                Err(_) => thread::sleep(Duration::from_millis(100)),
            }
        }
    })?;
    Ok((listener, thread))
}

/// Serves a client on a thread of its own. One too many is turned away, and tries again.
fn admit(host: &Arc<Host>, stream: UnixStream) {
    let Ok(handle) = stream.try_clone() else { return };
    let number = {
        let mut work = host.work();
        if work.connections.len() >= MOST_CLIENTS {
            return;
        }
        work.next_connection += 1;
        let number = work.next_connection;
        work.connections.push((number, handle));
        number
    };
    let served = Arc::clone(host);
    let started = thread::Builder::new().name("client".to_owned()).spawn(move || {
        let _ended = Ended { host: &served, number };
        if socket::check_peer(&stream).is_ok() {
            connection::serve(&served, stream);
        }
    });
    if started.is_err() {
        drop(Ended { host, number });
    }
}

struct Ended<'a> {
    host: &'a Host,
    number: u64,
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.host.work().connections.retain(|(number, _)| *number != self.number);
        self.host.changed.notify_all();
    }
}
