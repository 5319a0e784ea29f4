//! A client's connection to the owner of the state folder: calls go out, answers come back in any order.

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wap_core::{Call, CommandObserver, ConversationId, OutputStream, Reason, WapError};

use crate::json_rpc;
use crate::line_input::{Line, read_line};
use crate::owner::protocol::{
    CallParams, END_CONVERSATION, EndConversation, HELLO, Hello, Incoming, IncomingError, LEAVING, MISMATCH,
    MOST_MESSAGE_BYTES, PING, PRINTED, Printed, STARTED, Started, Welcome,
};
use crate::state::socket;

/// The time within which an owner has to answer the greeting.
const GREETING: Duration = Duration::from_secs(5);

/// The longest time for which an owner may send nothing while a call waits, or not read messages. It answers a ping
/// at once, whatever it is doing, so a silent owner was stopped, or hangs.
const SILENCE: Duration = Duration::from_secs(15);

/// The interval of the pings while a call waits.
const PING_EVERY: Duration = Duration::from_secs(1);

/// The additional time for the transmission of a call and its answer.
const MARGIN: Duration = Duration::from_secs(60);

/// The time for a call without its own limit. An owner that answers pings may still hang in a file system.
const LONGEST_CALL: Duration = Duration::from_secs(20 * 60);

/// The maximum number of bytes of output that wait for a caller busy with earlier output, such as a person with a
/// paused terminal; more is not shown.
const MOST_UNSHOWN_BYTES: usize = 1 << 20;

/// The time limit of a call, in addition to the caller's remaining time.
#[derive(Clone, Copy, Debug)]
pub enum CallLimit {
    /// The limit of every call that is not a command.
    Ordinary,
    /// This time once a command has started; before that it may wait for its turn after others.
    OnceStarted(Duration),
    /// No limit while the owner answers pings: the parts of the call have their own limits.
    None,
}

/// A connection to the owner of the state folder.
#[derive(Debug)]
pub struct OwnerConnection {
    shared: Arc<Shared>,
    next_id: AtomicU64,
    /// The owner.
    pub owner: Welcome,
}

#[derive(Debug)]
struct Shared {
    sending: Mutex<UnixStream>,
    /// The same connection, through which it can be ended while a blocked sender holds the lock.
    closing: UnixStream,
    /// The waiting callers by the id of their call; `None` once the owner is gone.
    waiting: Mutex<Option<HashMap<u64, Waiting>>>,
    /// The origin of the times in milliseconds.
    began: Instant,
    /// The time at which the owner last sent anything, in milliseconds.
    heard_ms: AtomicU64,
    /// True if the connection was given up because the owner was silent.
    is_silent: AtomicBool,
}

/// A caller that waits for its answer.
#[derive(Clone, Debug)]
struct Waiting {
    events: Sender<Event>,
    /// The bytes of the messages that it has not read yet.
    bytes: Arc<AtomicUsize>,
}

impl Waiting {
    /// Passes on a message of this size. Output for people is dropped while much of it is already waiting.
    fn pass_on(&self, incoming: Incoming, bytes: usize) {
        let is_output = incoming.method.as_deref() == Some(PRINTED);
        if is_output && self.bytes.load(Ordering::Relaxed) > MOST_UNSHOWN_BYTES {
            return;
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let _ = self.events.send(Event::Incoming(Box::new(incoming), bytes));
    }
}

/// An event that wakes a waiting call.
#[derive(Debug)]
enum Event {
    /// A message, with its length in bytes.
    Incoming(Box<Incoming>, usize),
    Cancelled,
    /// There will be no answer.
    Closed,
}

/// The reason why there is no connection.
#[derive(Debug)]
pub enum ConnectError {
    /// No process listens, yet or any more.
    Absent,
    /// A process listens and does not answer.
    Silent,
    /// The two processes cannot work together, for the reason in the text.
    Mismatch(String),
}

/// The outcome of a call that was not answered.
#[derive(Debug)]
pub enum Unanswered {
    /// The owner is gone. It may have carried out the call, which has to be repeated as the same step.
    Gone,
    /// The owner is about to leave and has not begun the call.
    Leaving,
    /// The owner lives and does not answer, or not in time. It may have carried out the call, or do so later.
    Silent,
}

impl OwnerConnection {
    /// Connects to the owner of a state folder.
    pub fn connect(state_folder: &Path, hello: &Hello) -> Result<OwnerConnection, ConnectError> {
        let stream = socket::connect(state_folder).map_err(|_| ConnectError::Absent)?;
        let broken = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ConnectError::Silent,
            _ => ConnectError::Absent,
        };
        stream.set_read_timeout(Some(GREETING)).map_err(broken)?;
        stream.set_write_timeout(Some(SILENCE)).map_err(broken)?;
        let mut receiving = BufReader::new(stream.try_clone().map_err(broken)?);
        let mut greeting = json_rpc::message(Some(0), HELLO, hello);
        greeting.push(b'\n');
        (&stream).write_all(&greeting).map_err(broken)?;
        let mut line = Vec::new();
        // A greeting is short, and the process at the other end is not known yet.
        let read = read_line(&mut receiving, &mut line, 65_536).map_err(broken)?;
        let answer: Incoming = match read {
            Line::Whole => serde_json::from_slice(&line).map_err(|_| ConnectError::Absent)?,
            Line::TooLong | Line::End => return Err(ConnectError::Absent),
        };
        if let Some(IncomingError { code: MISMATCH, message, .. }) = answer.error {
            return Err(ConnectError::Mismatch(message));
        }
        let welcome: Welcome = answer
            .result
            .and_then(|result| serde_json::from_value(result).ok())
            .ok_or(ConnectError::Absent)?;
        // The reader waits for as long as the connection lives; silence is measured by the callers, who ping.
        stream.set_read_timeout(None).map_err(broken)?;
        let shared = Arc::new(Shared {
            closing: stream.try_clone().map_err(broken)?,
            sending: Mutex::new(stream),
            waiting: Mutex::new(Some(HashMap::new())),
            began: Instant::now(),
            heard_ms: AtomicU64::new(0),
            is_silent: AtomicBool::new(false),
        });
        let reader = Arc::clone(&shared);
        thread::Builder::new()
            .name("owner".to_owned())
            .spawn(move || reader.receive(receiving))
            .map_err(broken)?;
        Ok(OwnerConnection { shared, next_id: AtomicU64::new(1), owner: welcome })
    }

    /// Lets the owner end the processes that a conversation has left running, without waiting for it. It also does
    /// so when the connection is closed.
    pub(crate) fn end_conversation(&self, conversation: &ConversationId) {
        let params = EndConversation { conversation: conversation.clone() };
        // A failure needs no handling: the connection is then broken.
        let _ = self.shared.send(json_rpc::message(None, END_CONVERSATION, &params));
    }

    /// Makes a call and waits for its answer, while the owner lives and the time allows.
    pub fn call<T: DeserializeOwned, R: Serialize>(
        &self,
        method: &str,
        request: R,
        call: &Call<'_>,
        limit: CallLimit,
        notify: &mut dyn FnMut(&str, Value),
    ) -> Result<Result<T, WapError>, Unanswered> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let time_left = call.time_left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
        let params = CallParams { request, origin: call.origin.into(), time_left_ms: time_left };
        let message = json_rpc::message(Some(id), method, &params);
        if let Err(error) = check_size(&message) {
            return Ok(Err(error));
        }
        // Registered before the call is sent: the answer may arrive before this thread continues.
        let (sender, events) = channel();
        let cancelled = sender.clone();
        let waiting_bytes = Arc::new(AtomicUsize::new(0));
        let waiting = Waiting { events: sender, bytes: Arc::clone(&waiting_bytes) };
        match &mut *self.shared.waiting() {
            Some(all) => all.insert(id, waiting),
            None => return Err(self.shared.unanswered()),
        };
        let mut deadline = Deadline::new(call, limit);
        if let Err(error) = self.shared.send(message) {
            self.shared.give_up(is_timeout(&error));
            return Err(self.shared.unanswered());
        }
        // This only wakes the waiting thread: the thread that cancels must not block on an owner that reads nothing.
        let _guard = call.cancel.on_cancel(Box::new(move || {
            let _ = cancelled.send(Event::Cancelled);
        }));
        self.wait(id, (&events, &waiting_bytes), &mut deadline, notify)
    }

    /// Waits for the answer; the owner's notifications about the call go to `notify`, by their method.
    fn wait<T: DeserializeOwned>(
        &self,
        id: u64,
        (events, waiting_bytes): (&Receiver<Event>, &AtomicUsize),
        deadline: &mut Deadline,
        notify: &mut dyn FnMut(&str, Value),
    ) -> Result<Result<T, WapError>, Unanswered> {
        let began_ms = self.shared.now_ms();
        loop {
            if deadline.has_passed() || self.shared.is_silent_since(began_ms) {
                self.shared.give_up(true);
                return Err(Unanswered::Silent);
            }
            let incoming = match events.recv_timeout(PING_EVERY) {
                Ok(Event::Incoming(incoming, bytes)) => {
                    waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
                    *incoming
                }
                // The wait continues after a cancellation: the answer says how much was carried out.
                Ok(Event::Cancelled) => {
                    let message = json_rpc::message(None, json_rpc::CANCEL, &json!({ "id": id }));
                    if let Err(error) = self.shared.send(message) {
                        self.shared.give_up(is_timeout(&error));
                    }
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.shared.ping();
                    continue;
                }
                Ok(Event::Closed) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.shared.unanswered());
                }
            };
            match incoming {
                Incoming { error: Some(error), .. } if error.code == LEAVING => {
                    return Err(Unanswered::Leaving);
                }
                Incoming { error: Some(error), .. } => {
                    return Ok(Err(error
                        .data
                        .unwrap_or_else(|| WapError::new(Reason::InvalidField, error.message))));
                }
                Incoming { method: Some(method), params, .. } => {
                    if method == STARTED {
                        deadline.started();
                    }
                    notify(&method, params);
                }
                Incoming { result, .. } => {
                    let result = serde_json::from_value(result.unwrap_or_default());
                    return Ok(result.map_err(|error| {
                        let text = format!(
                            "the answer of the process that owns the state folder cannot be read: {error}"
                        );
                        WapError::new(Reason::ReadError, text)
                    }));
                }
            }
        }
    }
}

/// Checks that an owner reads a message: it closes the connection of a client that sends anything else, with all of its
/// calls.
fn check_size(message: &[u8]) -> Result<(), WapError> {
    if message.len() as u64 > MOST_MESSAGE_BYTES {
        let text = format!(
            "the request is longer than {MOST_MESSAGE_BYTES} bytes for the process that owns the state folder: send it in parts"
        );
        return Err(WapError::new(Reason::RequestTooLarge, text).with("limit", MOST_MESSAGE_BYTES));
    }
    wap_core::check_json_size(message)
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// The instant at which a call has taken too long.
struct Deadline {
    at: Option<Instant>,
    /// The time that a command may take from its start; `None` once it has started.
    once_started: Option<Duration>,
}

impl Deadline {
    fn new(call: &Call<'_>, limit: CallLimit) -> Deadline {
        let (whole, once_started) = match limit {
            CallLimit::Ordinary => (Some(LONGEST_CALL), None),
            CallLimit::OnceStarted(time) => (None, Some(time)),
            CallLimit::None => (None, None),
        };
        let left = call.time_left.map(|left| left.saturating_add(MARGIN));
        let whole = [whole, left].into_iter().flatten().min();
        Deadline { at: whole.and_then(|whole| Instant::now().checked_add(whole)), once_started }
    }

    fn started(&mut self) {
        let Some(time) = self.once_started.take() else { return };
        let ends = Instant::now().checked_add(time.saturating_add(MARGIN));
        // The earlier of the two: the caller's own limit still applies.
        self.at = [self.at, ends].into_iter().flatten().min();
    }

    fn has_passed(&self) -> bool {
        self.at.is_some_and(|at| Instant::now() >= at)
    }
}

/// Passes on the owner's notifications about a command.
pub(crate) fn watched(method: &str, params: Value, observer: &mut dyn CommandObserver) {
    match method {
        STARTED => {
            if let Ok(started) = serde_json::from_value::<Started>(params) {
                observer.started(&started.sandbox);
            }
        }
        PRINTED => {
            if let Ok(printed) = serde_json::from_value::<Printed>(params) {
                let stream: OutputStream = printed.stream();
                observer.output(stream, printed.text.as_bytes());
            }
        }
        _ => {}
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<u64, Waiting>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, mut message: Vec<u8>) -> io::Result<()> {
        message.push(b'\n');
        self.sending.lock().unwrap_or_else(PoisonError::into_inner).write_all(&message)
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Checks whether nothing has arrived for too long, counted from the start of the wait.
    fn is_silent_since(&self, began_ms: u64) -> bool {
        let last = self.heard_ms.load(Ordering::Relaxed).max(began_ms);
        u128::from(self.now_ms().saturating_sub(last)) > SILENCE.as_millis()
    }

    /// Pings the owner, unless another message is on its way, which serves as well.
    fn ping(&self) {
        let Ok(mut sending) = self.sending.try_lock() else { return };
        let mut message = json_rpc::message(Some(0), PING, &Value::Null);
        message.push(b'\n');
        // A failure needs no handling: the reader notices it, or the silence is measured.
        let _ = sending.write_all(&message);
    }

    /// Returns the reason why calls are no longer answered.
    fn unanswered(&self) -> Unanswered {
        if self.is_silent.load(Ordering::SeqCst) { Unanswered::Silent } else { Unanswered::Gone }
    }

    /// Closes the connection. A suspended owner then cancels what it had begun for this client, as soon as it resumes.
    fn give_up(&self, is_silent: bool) {
        self.is_silent.fetch_or(is_silent, Ordering::SeqCst);
        self.close();
    }

    /// Delivers answers to the waiting callers, until the owner is gone.
    fn receive(&self, receiving: BufReader<UnixStream>) {
        // The greeting's reader may have buffered more than the greeting, so it is wrapped and not replaced.
        let mut receiving = BufReader::new(Heard { stream: receiving, shared: self });
        let mut line = Vec::new();
        // The owner sends no longer answer.
        while let Ok(Line::Whole) = read_line(&mut receiving, &mut line, MOST_MESSAGE_BYTES) {
            let Ok(incoming) = serde_json::from_slice::<Incoming>(&line) else { break };
            let about = incoming.params.get("id").and_then(Value::as_u64);
            let is_answer = incoming.method.is_none();
            let Some(id) = incoming.id.or(about) else { continue };
            let mut waiting = self.waiting();
            let Some(waiting) = waiting.as_mut() else { break };
            let caller = if is_answer { waiting.remove(&id) } else { waiting.get(&id).cloned() };
            if let Some(caller) = caller {
                caller.pass_on(incoming, line.len());
            }
        }
        self.close();
    }

    /// Ends every waiting call without an answer.
    fn close(&self) {
        // Taken out, so that a call which begins later fails at once.
        for (_, waiting) in self.waiting().take().into_iter().flatten() {
            let _ = waiting.events.send(Event::Closed);
        }
        let _ = self.closing.shutdown(Shutdown::Both);
    }
}

/// The input from the owner. It records the time of every read, also in the middle of a long answer.
struct Heard<'a> {
    stream: BufReader<UnixStream>,
    shared: &'a Shared,
}

impl Read for Heard<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        // Relaxed is enough: the time is compared with seconds, and guards no other data.
        self.shared.heard_ms.store(self.shared.now_ms(), Ordering::Relaxed);
        Ok(count)
    }
}

impl Drop for OwnerConnection {
    fn drop(&mut self) {
        self.shared.close();
    }
}
