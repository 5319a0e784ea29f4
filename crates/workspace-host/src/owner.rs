//! The owner of a state folder, which answers its clients' calls through the socket in the folder.

pub(crate) mod checkout_command;
mod connection;
pub(crate) mod followed_sessions;
pub(crate) mod garbage_call;
pub(crate) mod handover_call;
mod outgoing;
pub(crate) mod owner_connection;
pub(crate) mod process_calls;
pub(crate) mod protocol;
pub(crate) mod reply_calls;
pub(crate) mod session_call;
pub(crate) mod session_progress;
pub(crate) mod shared_sessions;
pub(crate) mod shared_workspace;
mod undo_advice;
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
use crate::state::LocalSessions;
use crate::state::garbage_keeper::GarbageKeeper;
use crate::state::socket::{self, SocketFile};

/// The maximum number of clients that may be connected at once.
const MOST_CLIENTS: usize = 512;

/// The time that running calls have to end once the owner leaves.
const PARTING: Duration = Duration::from_secs(5);

/// The workspace, sessions and threads that the owner of a state folder shares with its clients.
#[derive(Debug)]
pub struct Host {
    pub(crate) workspace: Arc<LocalWorkspace>,
    pub(crate) journal: Journal,
    pub(crate) sessions: Arc<LocalSessions>,
    pub(crate) pool: CallPool,
    /// The greeting that a client's own has to match.
    pub hello: Hello,
    /// The description of this process for its clients.
    pub welcome: Welcome,
    /// True while this process stays. A process that is about to end begins no command for others.
    stays: AtomicBool,
    /// True once the door is closing: the clients of closed connections are then alive, and move to the next owner.
    closing: AtomicBool,
    work: Mutex<Work>,
    changed: Condvar,
}

/// The calls and connections of clients.
#[derive(Debug, Default)]
struct Work {
    calls: usize,
    commands: usize,
    /// A handle of each connection, through which it is ended.
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

    /// Checks whether this process is about to give up the state folder.
    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// Counts a call until the returned value is dropped; `None` if it must not begin.
    fn begin(self: &Arc<Host>, is_command: bool) -> Option<Begun> {
        let mut work = self.work();
        // Checked under the lock: a leaving owner clears the flag and counts the running commands under the same lock, so
        // that no command begins between the two.
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

/// The socket of a state folder, and the thread that lets clients in.
#[derive(Debug)]
struct Listening {
    listener: UnixListener,
    socket: SocketFile,
    thread: JoinHandle<()>,
}

/// The open door of a state folder; dropping it closes the door, when the clients' commands have ended.
#[derive(Debug)]
pub struct Door {
    host: Arc<Host>,
    listening: Option<Listening>,
    state_folder: PathBuf,
    keeper: OnceLock<GarbageKeeper>,
}

impl Door {
    /// Lets clients in from now on. Without a socket there are none, and everything else works.
    pub fn open(state_folder: &Path, host: Host) -> Door {
        let host = Arc::new(host);
        let listening = start(state_folder, &host).ok();
        Door { host, listening, state_folder: state_folder.to_owned(), keeper: OnceLock::new() }
    }

    /// Marks this process as one that stays: clients may have it run commands, it keeps an index for fast searches, and it
    /// keeps the history for undoing below a limit.
    pub fn stay(&self, history_limit_bytes: u64, notices: &SharedNotices) {
        self.host.stays.store(true, Ordering::SeqCst);
        // Without an index, searches take longer, and nothing else changes.
        let _ = self.host.workspace.keep_index(IndexLimits::default());
        let Host { workspace, journal, .. } = &*self.host;
        self.keeper.get_or_init(|| GarbageKeeper::start(workspace, journal, history_limit_bytes, notices));
    }

    #[cfg(test)]
    fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// Begins no more commands for clients, and waits until the running ones have ended, or until `is_hurried`.
    pub fn wait_for_commands(&self, is_hurried: &dyn Fn() -> bool) {
        let mut work = self.host.work();
        self.host.stays.store(false, Ordering::SeqCst);
        while work.commands > 0 && !is_hurried() {
            // `is_hurried` depends on a signal and a clock, which wake no condition variable.
            let pause = Duration::from_millis(50);
            (work, _) = self.host.changed.wait_timeout(work, pause).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // Collecting needs the journal, which is closed after this.
        drop(self.keeper.take());
        self.host.stays.store(false, Ordering::SeqCst);
        self.host.closing.store(true, Ordering::SeqCst);
        if let Some(Listening { listener, socket, thread }) = self.listening.take() {
            // While this process still owns the folder: later the name may be that of the next owner's socket.
            socket::remove(&self.state_folder, socket);
            // Closing the descriptor would not wake a thread that waits in accept(2); shutting it down does.
            let _ = rustix::net::shutdown(listener.as_fd(), rustix::net::Shutdown::Both);
            let _ = thread.join();
        }
        let deadline = Instant::now() + PARTING;
        let mut work = self.host.work();
        for (_, stream) in &work.connections {
            // Answers to running calls still go out; clients repeat the others at the next owner.
            let _ = stream.shutdown(std::net::Shutdown::Read);
        }
        while (work.calls > 0 || !work.connections.is_empty()) && Instant::now() < deadline {
            let pause = Duration::from_millis(20);
            (work, _) = self.host.changed.wait_timeout(work, pause).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn start(state_folder: &Path, host: &Arc<Host>) -> io::Result<Listening> {
    let (listener, socket) = socket::listen(state_folder)?;
    let accepting = listener.try_clone()?;
    let host = Arc::clone(host);
    let thread = thread::Builder::new().name("door".to_owned()).spawn(move || {
        while !host.is_closing() {
            match accepting.accept() {
                Ok((stream, _)) => admit(&host, stream),
                Err(_) if host.is_closing() => break,
                // The limit of open files was reached, for instance, which may pass; without a pause this would spin.
                Err(_) => thread::sleep(Duration::from_millis(100)),
            }
        }
    })?;
    Ok(Listening { listener, socket, thread })
}

/// Serves a client on a separate thread. A client over the limit is disconnected, and tries again.
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
    // The closure has not run, and neither has the guard in it.
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
