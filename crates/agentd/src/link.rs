//! A client's connection to the owner of the state folder: calls go out, answers come back in any order.

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wap_core::{Call, CommandObserver, Limits, OutputStream, Reason, WapError};

use crate::json_rpc;
use crate::line_input::{Line, read_line};
use crate::owner_protocol::{
    CallParams, HELLO, Hello, Incoming, IncomingError, LEAVING, MISMATCH, PRINTED, Printed, STARTED, Started,
    Welcome,
};
use crate::state_socket;

/// How long an owner may take to say that it is there.
const GREETING: Duration = Duration::from_secs(5);

/// How long the owner may keep us from sending.
const SENDING: Duration = Duration::from_secs(60);

/// A connection to the owner of the state folder.
#[derive(Debug)]
pub(crate) struct Link {
    shared: Arc<Shared>,
    next_id: AtomicU64,
    /// The owner's process.
    pub(crate) process_id: u32,
}

#[derive(Debug)]
struct Shared {
    sending: Mutex<UnixStream>,
    /// Whoever waits, by the id of the call; `None` once the owner is gone.
    waiting: Mutex<Option<HashMap<u64, Sender<Incoming>>>>,
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum NoLink {
    /// Nobody listens, yet or any more.
    Nobody,
    /// Somebody listens and does not answer.
    Silent,
    /// The two cannot work together; the text says why.
    Mismatch(String),
}

/// What became of a call when it was not answered.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// The owner is gone. It may have carried the call out: it is to be made again, as the same step.
    Gone,
    /// The owner is about to leave and has not begun the call.
    Leaving,
}

impl Link {
    pub(crate) fn connect(state_folder: &Path, hello: &Hello) -> Result<Link, NoLink> {
        let stream = state_socket::connect(state_folder).map_err(|_| NoLink::Nobody)?;
        let broken = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => NoLink::Silent,
            _ => NoLink::Nobody,
        };
        stream.set_read_timeout(Some(GREETING)).map_err(broken)?;
        stream.set_write_timeout(Some(SENDING)).map_err(broken)?;
        let mut receiving = BufReader::new(stream.try_clone().map_err(broken)?);
        let mut greeting = json_rpc::message(Some(0), HELLO, hello);
        greeting.push(b'\n');
        (&stream).write_all(&greeting).map_err(broken)?;
        let mut line = Vec::new();
        let read = read_line(&mut receiving, &mut line, 65_536).map_err(broken)?;
        let answer: Incoming = match read {
            Line::Whole => serde_json::from_slice(&line).map_err(|_| NoLink::Nobody)?,
            Line::TooLong | Line::End => return Err(NoLink::Nobody),
        };
        if let Some(IncomingError { code: MISMATCH, message, .. }) = answer.error {
            return Err(NoLink::Mismatch(message));
        }
        let welcome: Welcome =
            answer.result.and_then(|result| serde_json::from_value(result).ok()).ok_or(NoLink::Nobody)?;
        stream.set_read_timeout(None).map_err(broken)?;
        let shared =
            Arc::new(Shared { sending: Mutex::new(stream), waiting: Mutex::new(Some(HashMap::new())) });
        let reader = Arc::clone(&shared);
        thread::Builder::new()
            .name("link".to_owned())
            .spawn(move || reader.receive(receiving))
            .map_err(broken)?;
        Ok(Link { shared, next_id: AtomicU64::new(1), process_id: welcome.process_id })
    }

    /// Makes a call and waits for its answer.
    pub(crate) fn call<T: DeserializeOwned, R: Serialize>(
        &self,
        method: &str,
        request: R,
        call: &Call<'_>,
        observer: &mut dyn CommandObserver,
    ) -> Result<Result<T, WapError>, Unanswered> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, answers) = channel();
        match &mut *self.shared.waiting() {
            Some(waiting) => waiting.insert(id, sender),
            None => return Err(Unanswered::Gone),
        };
        let time_left = call.time_left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
        let params = CallParams { request, origin: call.origin.into(), time_left_ms: time_left };
        if self.shared.send(json_rpc::message(Some(id), method, &params)).is_err() {
            self.shared.close();
            return Err(Unanswered::Gone);
        }
        let cancelled = Arc::clone(&self.shared);
        let _guard = call.cancel.on_cancel(Box::new(move || {
            let _ = cancelled.send(json_rpc::message(None, json_rpc::CANCEL, &json!({ "id": id })));
        }));
        wait(&answers, observer)
    }
}

/// Waits for the answer; what a command prints meanwhile goes to the observer.
fn wait<T: DeserializeOwned>(
    answers: &Receiver<Incoming>,
    observer: &mut dyn CommandObserver,
) -> Result<Result<T, WapError>, Unanswered> {
    loop {
        let Ok(incoming) = answers.recv() else { return Err(Unanswered::Gone) };
        match incoming {
            Incoming { error: Some(error), .. } if error.code == LEAVING => return Err(Unanswered::Leaving),
            Incoming { error: Some(error), .. } => {
                return Ok(Err(error
                    .data
                    .unwrap_or_else(|| WapError::new(Reason::InvalidField, error.message))));
            }
            Incoming { method: Some(method), params, .. } => watched(&method, params, observer),
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

fn watched(method: &str, params: Value, observer: &mut dyn CommandObserver) {
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
    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<u64, Sender<Incoming>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, mut message: Vec<u8>) -> io::Result<()> {
        message.push(b'\n');
        self.sending.lock().unwrap_or_else(PoisonError::into_inner).write_all(&message)
    }

    /// Takes answers to those who wait, until the owner is gone.
    fn receive(&self, mut receiving: BufReader<UnixStream>) {
        let mut line = Vec::new();
        // What an owner sends was measured by it; a whole answer with its escapes is far below this.
        while let Ok(Line::Whole) = read_line(&mut receiving, &mut line, 2 * Limits::MAX_MESSAGE_BYTES) {
            let Ok(incoming) = serde_json::from_slice::<Incoming>(&line) else { break };
            let about = incoming.params.get("id").and_then(Value::as_u64);
            let is_answer = incoming.method.is_none();
            let Some(id) = incoming.id.or(about) else { continue };
            let mut waiting = self.waiting();
            let Some(waiting) = waiting.as_mut() else { break };
            let sender = if is_answer { waiting.remove(&id) } else { waiting.get(&id).cloned() };
            if let Some(sender) = sender {
                let _ = sender.send(incoming);
            }
        }
        self.close();
    }

    /// Tells everybody who waits that there will be no answer.
    fn close(&self) {
        self.waiting().take();
        // The lock may be held by a sender that the other end keeps waiting: shutting down does not need it.
        if let Ok(sending) = self.sending.try_lock() {
            let _ = sending.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.close();
    }
}
