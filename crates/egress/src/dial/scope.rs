//! The connections of one command, from their first byte to the end of the command.

use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rustix::net::{RecvFlags, recv};

use crate::allow::AllowList;
use crate::refusal::Refusal;

/// The most look-ups of one command at a time, so that slow names leave the system's resolver to other commands.
pub(crate) const MOST_LOOKUPS: usize = 16;

/// The state that the connections of a command share.
pub(crate) struct Scope {
    pub(crate) list: Arc<AllowList>,
    report: Box<dyn Fn(Refusal) + Send + Sync>,
    open: Mutex<Open>,
    /// A connection has changed, or the stage.
    changed: Condvar,
}

#[derive(Default)]
struct Open {
    stage: Stage,
    last: u64,
    lookups: usize,
    connections: HashMap<u64, Streams>,
}

/// The stages of a command's network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// The command runs.
    #[default]
    Open,
    /// The command has ended, and its last bytes are on their way.
    Draining,
    /// Every connection ends.
    Ended,
}

/// The two sides of a connection.
struct Streams {
    inside: Arc<TcpStream>,
    /// `None` until it is connected, and once the command has ended and nothing is left to send.
    outside: Option<Arc<TcpStream>>,
    /// True if bytes of the command were read and not passed on yet, such as a greeting.
    holds_bytes: bool,
    /// True after the end of the command's bytes has been passed on.
    is_sent: bool,
}

/// Permission for a look-up; another may begin when this is dropped.
pub(crate) struct LookupTurn<'a>(&'a Scope);

impl Drop for LookupTurn<'_> {
    fn drop(&mut self) {
        self.0.lock().lookups -= 1;
        self.0.changed.notify_all();
    }
}

/// A connection of a scope; it leaves the scope when this is dropped.
pub(crate) struct Entry {
    scope: Arc<Scope>,
    number: u64,
}

impl Scope {
    pub(super) fn new(list: Arc<AllowList>, report: Box<dyn Fn(Refusal) + Send + Sync>) -> Scope {
        Scope { list, report, open: Mutex::default(), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn report(&self, refusal: Refusal) {
        (self.report)(refusal);
    }

    /// Waits until the command may look up a name; `None` after the deadline or the end of the scope.
    pub(crate) fn begin_lookup(&self, deadline: Instant) -> Option<LookupTurn<'_>> {
        let mut open = self.lock();
        while open.lookups >= MOST_LOOKUPS && open.stage != Stage::Ended {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            open = self.changed.wait_timeout(open, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        if open.stage == Stage::Ended {
            return None;
        }
        open.lookups += 1;
        Some(LookupTurn(self))
    }

    /// Adds a connection that is to end with the scope; `None` if that has ended.
    pub(super) fn enter(self: &Arc<Scope>, inside: Arc<TcpStream>) -> Option<Entry> {
        let mut open = self.lock();
        if open.stage == Stage::Ended {
            return None;
        }
        open.last += 1;
        let number = open.last;
        let streams = Streams { inside, outside: None, holds_bytes: false, is_sent: false };
        open.connections.insert(number, streams);
        Some(Entry { scope: Arc::clone(self), number })
    }

    /// Waits until the command's bytes are passed on, at most until the deadline. The command must have ended.
    pub(super) fn drain(&self, deadline: Instant) {
        let mut open = self.lock();
        open.stage = open.stage.max(Stage::Draining);
        open.connections.values_mut().for_each(Streams::end_answers);
        self.changed.notify_all();
        while open.connections.values().any(Streams::has_bytes_left) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            open = self.changed.wait_timeout(open, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends every connection that has more to send.
    pub(super) fn end(&self) {
        let mut open = self.lock();
        open.stage = Stage::Ended;
        for streams in open.connections.values() {
            for stream in [Some(&streams.inside), streams.outside.as_ref()].into_iter().flatten() {
                // A stream that has already ended need not be shut down.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        self.changed.notify_all();
    }
}

impl Streams {
    /// Ends the way to the command once the other way is done. The relay notices the closed side, and reads the answer to its
    /// end: if the scope ended the connection earlier, bytes that are still being sent would be lost.
    fn end_answers(&mut self) {
        if self.is_sent {
            let _ = self.inside.shutdown(Shutdown::Both);
            self.outside = None;
        }
    }

    /// Checks whether bytes of the command may be on their way.
    fn has_bytes_left(&self) -> bool {
        if self.is_sent {
            return false;
        }
        let is_connected = self.outside.is_some();
        // The command has ended, so an end of stream without pending bytes is visible here.
        let peeked = recv(&self.inside, &mut [0; 1][..], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        is_connected || self.holds_bytes || !matches!(peeked, Ok((0, _)) | Err(rustix::io::Errno::CONNRESET))
    }
}

impl Entry {
    pub(crate) fn scope(&self) -> &Arc<Scope> {
        &self.scope
    }

    /// Records that bytes were read that are to be passed on.
    pub(crate) fn hold_bytes(&self) {
        self.change(|streams, _| streams.holds_bytes = true);
    }

    /// Adds the outside stream; false if the scope has ended.
    pub(crate) fn connect(&self, outside: Arc<TcpStream>) -> bool {
        let mut open = self.scope.lock();
        let is_open = open.stage != Stage::Ended;
        if let Some(streams) = open.connections.get_mut(&self.number).filter(|_| is_open) {
            streams.outside = Some(outside);
        }
        is_open
    }

    /// Records that the end of the command's bytes has been passed on.
    pub(crate) fn note_sent(&self) {
        self.change(|streams, stage| {
            streams.is_sent = true;
            if stage >= Stage::Draining {
                streams.end_answers();
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut Streams, Stage)) {
        let mut open = self.scope.lock();
        let stage = open.stage;
        if let Some(streams) = open.connections.get_mut(&self.number) {
            change(streams, stage);
        }
        self.scope.changed.notify_all();
    }

    /// Checks whether the command runs.
    pub(crate) fn is_command_running(&self) -> bool {
        self.scope.lock().stage == Stage::Open
    }

    /// Waits until the command has ended, at most until the deadline; returns whether it has.
    pub(crate) fn wait_for_end_of_command(&self, deadline: Instant) -> bool {
        let mut open = self.scope.lock();
        while open.stage == Stage::Open {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            open = self.scope.changed.wait_timeout(open, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Checks whether every connection is to end at once.
    pub(crate) fn is_ended(&self) -> bool {
        self.scope.lock().stage == Stage::Ended
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.scope.lock().connections.remove(&self.number);
        self.scope.changed.notify_all();
    }
}
