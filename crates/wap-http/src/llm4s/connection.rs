//! One WebSocket: the messages of its client, the answers to them, and its end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use tokio::sync::Notify;
use wap_core::llm4s::{
    BadMessage, Command, CommandStory, Incoming, LONGEST_SILENCE, Outgoing, SILENCE_TEXT, decode,
};
use wap_core::{CancelFlag, CommandObserver, Limits, OutputStream, Reason, Request, WapError};

use super::queue::{Queue, Sent, Waiting, queue};
use crate::clients;
use crate::meter::Meter;
use crate::router::Server;
use wap_calls::Client;

/// The longest message that can arrive, in bytes; a longer one ends the connection. A message over [`Limits::MAX_REQUEST_BYTES`]
/// is only refused.
pub(crate) const MOST_MESSAGE_BYTES: usize = 20 << 20;

/// The bound on running and waiting commands of one client.
const MOST_RUNNING: usize = 256;

/// The time limit for a client to receive one message.
const SENDING: Duration = Duration::from_secs(30);

/// The time for the last messages of a connection, and for cancelled commands to end.
const PARTING: Duration = Duration::from_secs(5);

/// The reason why the server ends a connection.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The client closed it, or is gone.
    Gone,
    /// Close it with this code and text.
    Close(u16, &'static str),
    /// The server stops: end commands first.
    Stopped,
}

struct Connection {
    client: Arc<Client>,
    server: Arc<Server>,
    /// Running and waiting commands, by the client's ids.
    running: Mutex<HashMap<String, CancelFlag>>,
    /// Notified when one of them has ended.
    ended: Notify,
    queue: Queue,
}

/// Serves one client until it disconnects, then ends its commands.
pub(crate) async fn serve(server: &Arc<Server>, socket: WebSocket, meter: &Meter) {
    let _connected = server.metrics.connected();
    let (sink, mut incoming) = socket.split();
    let (queue, waiting) = queue();
    let sending = tokio::spawn(send_all(sink, waiting));
    let connection = Arc::new(Connection {
        client: server.clients.unnamed("llm4s"),
        server: Arc::clone(server),
        running: Mutex::default(),
        ended: Notify::new(),
        queue,
    });
    let stopped = Arc::new(Notify::new());
    let notify = Arc::clone(&stopped);
    let _stop = server.stop.on_cancel(Box::new(move || notify.notify_one()));
    // Use the monotonic clock: heartbeats must not depend on the time of day, which the user may set.
    let mut last_heard = tokio::time::Instant::now();
    let end = loop {
        tokio::select! {
            received = incoming.next() => {
                last_heard = tokio::time::Instant::now();
                match received {
                    Some(Ok(message)) => {
                        let control_bytes = control_bytes(&message);
                        let end = connection.receive(message).await;
                        // A ping may arrive between the fragments of a message, and does not end it.
                        match control_bytes {
                            Some(bytes) => meter.leave_out(bytes),
                            None => meter.end_message(),
                        }
                        match end {
                            Some(end) => break end,
                            None if meter.is_overdue(Instant::now()) => {
                                break End::Close(close_code::POLICY, "the message did not arrive in time");
                            }
                            None => continue,
                        }
                    }
                    Some(Err(error)) => break ending(error),
                    None => break End::Gone,
                }
            }
            () = tokio::time::sleep_until(last_heard + LONGEST_SILENCE) => {
                break End::Close(close_code::NORMAL, SILENCE_TEXT);
            }
            () = connection.queue.broken() => break End::Gone,
            () = stopped.notified() => break End::Stopped,
        }
    };
    // For any end of the connection, its client reads no more answers.
    connection.client.cancel_all();
    match end {
        End::Gone => sending.abort(),
        End::Close(code, text) => connection.queue.close(code, text),
        End::Stopped => {
            let _ = tokio::time::timeout(PARTING, connection.idle()).await;
            connection.queue.close(close_code::AWAY, "the server stops");
        }
    }
    let client = Arc::clone(&connection.client);
    drop(connection);
    clients::end(client);
    let _ = tokio::time::timeout(PARTING, sending).await;
}

/// Returns the size of the frame of a control message; `None` for a data message.
fn control_bytes(message: &Message) -> Option<usize> {
    match message {
        // Two bytes for the head, and four for the mask of every client frame.
        Message::Ping(payload) | Message::Pong(payload) => Some(payload.len() + 6),
        Message::Text(_) | Message::Binary(_) | Message::Close(_) => None,
    }
}

/// Sends the queued messages, until the close.
async fn send_all(mut sink: SplitSink<WebSocket, Message>, mut waiting: Waiting) {
    while let Some(next) = waiting.next().await {
        let (message, bytes) = match next {
            Sent::Close(code, reason) => {
                let frame = CloseFrame { code, reason: reason.into() };
                let _ = tokio::time::timeout(PARTING, sink.send(Message::Close(Some(frame)))).await;
                return;
            }
            Sent::Text(text) => {
                let bytes = text.len();
                (Message::Text(text.into()), bytes)
            }
        };
        match tokio::time::timeout(SENDING, sink.send(message)).await {
            Ok(Ok(())) => waiting.is_sent(bytes),
            Ok(Err(_)) | Err(_) => return waiting.give_up(),
        }
    }
}

/// Returns the end for a connection whose frames cannot be read.
fn ending(error: axum::Error) -> End {
    match error.into_inner().downcast_ref::<tungstenite::Error>() {
        Some(tungstenite::Error::Capacity(_)) => End::Close(close_code::SIZE, "the message is too large"),
        Some(tungstenite::Error::Utf8(_)) => End::Close(close_code::INVALID, "the message is not UTF-8"),
        Some(tungstenite::Error::Protocol(_)) => End::Close(close_code::PROTOCOL, "the frame is malformed"),
        _ => End::Gone,
    }
}

impl Connection {
    async fn receive(self: &Arc<Self>, message: Message) -> Option<End> {
        match message {
            Message::Text(text) if text.len() as u64 > Limits::MAX_REQUEST_BYTES => {
                let error = format!("a message is longer than {} bytes", Limits::MAX_REQUEST_BYTES);
                self.refuse(&error, Reason::RequestTooLarge.name(), None);
            }
            Message::Text(text) => {
                // The library has already validated it; only the type is lost in the conversion to `Bytes`.
                let decode = |text: &[u8]| decode(std::str::from_utf8(text).unwrap_or_default());
                match self.server.bodies.parse(Bytes::from(text), decode).await {
                    Ok(Ok(Incoming::Command(command))) => self.begin(command),
                    Ok(Ok(Incoming::Cancel { command_id })) => self.cancel(&command_id),
                    Ok(Ok(Incoming::Heartbeat)) => {
                        let timestamp_ms = jiff::Timestamp::now().as_millisecond();
                        self.queue.send(Outgoing::Heartbeat { timestamp_ms }.encode());
                    }
                    Ok(Err(bad)) => self.refuse(&bad.to_string(), bad.code(), None),
                    Err(error) => self.refuse(error.message(), error.reason().name(), None),
                }
            }
            // The dialect only has text messages.
            Message::Binary(_) => {
                self.refuse(&BadMessage::Format.to_string(), BadMessage::Format.code(), None);
            }
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Close(_) => return Some(End::Gone),
        }
        None
    }

    fn refuse(&self, error: &str, code: &str, command_id: Option<&str>) {
        self.queue.send(Outgoing::Error { error, code, command_id }.encode());
    }

    fn cancel(&self, id: &str) {
        let cancel = self.running().get(id).cloned();
        match cancel {
            Some(cancel) => cancel.cancel(),
            None => {
                let error = format!("No running command found for id {id}");
                self.refuse(&error, "UNKNOWN_COMMAND_ID", Some(id));
            }
        }
    }

    fn begin(self: &Arc<Self>, command: Command) {
        let Command { id, is_shell_command, request } = command;
        let text = match &request {
            Ok(Request::ExecuteCommand(request)) => request.command.clone(),
            _ => String::new(),
        };
        let story = is_shell_command.then(|| CommandStory::new(id.clone(), text));
        let cancel = CancelFlag::new();
        let request = {
            let mut running = self.running();
            // Hold one lock for the check and the entry: two commands with the same id must not both begin.
            if running.contains_key(&id) {
                drop(running);
                let error = format!("a command with id {id} is still running");
                return self.refuse(&error, "DUPLICATE_COMMAND_ID", Some(&id));
            }
            let room = running.len() < MOST_RUNNING;
            let request = request.and_then(|request| match room {
                true => Ok(request),
                false => Err(WapError::new(Reason::Busy, "too many commands run or wait already; try again")),
            });
            if request.is_ok() {
                running.insert(id.clone(), cancel.clone());
            }
            request
        };
        let mut request = match request {
            Ok(request) => request,
            Err(error) => return self.report(&id, story, &Err(error), Duration::ZERO),
        };
        if let Some(prefix) = &self.server.llm4s_prefix {
            prefix.remove_from(&mut request);
        }
        let began = Instant::now();
        let mut running = self.server.metrics.begin(request.tool());
        let story = Arc::new(Mutex::new(story));
        let observer = Observer { story: Arc::clone(&story), queue: self.queue.clone() };
        let connection = Arc::clone(self);
        self.client.begin(request, cancel, Box::new(observer), move |mut answer| {
            if let Ok(response) = &mut answer {
                running.succeeded();
                if let Some(prefix) = &connection.server.llm4s_prefix {
                    prefix.add_to(response);
                }
            }
            // Take the story from the observer, so that no output follows the completion. Free the id before the client reads the
            // completion, because it may reuse the id immediately.
            let story = lock(&story).take();
            connection.running().remove(&id);
            connection.report(&id, story, &answer, began.elapsed());
            connection.ended.notify_one();
        });
    }

    fn report(
        &self,
        id: &str,
        story: Option<CommandStory>,
        answer: &Result<wap_core::Response, WapError>,
        took: Duration,
    ) {
        match story {
            Some(story) => {
                let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                story.ended(answer, took_ms).into_iter().for_each(|text| self.queue.send(text));
            }
            None => self.queue.send(Outgoing::Answer { command_id: id, answer: answer.as_ref() }.encode()),
        }
    }

    /// Returns once all commands have ended.
    async fn idle(&self) {
        while !self.running().is_empty() {
            self.ended.notified().await;
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, CancelFlag>> {
        lock(&self.running)
    }
}

/// Sends the output of a command. It never waits: output that the client does not read in time is dropped, and a notice reports
/// the number of missing bytes.
struct Observer {
    story: Arc<Mutex<Option<CommandStory>>>,
    queue: Queue,
}

impl CommandObserver for Observer {
    fn started(&mut self, _: &str) {
        if let Some(text) = lock(&self.story).as_mut().and_then(CommandStory::started) {
            self.queue.send(text);
        }
    }

    fn output(&mut self, stream: OutputStream, bytes: &[u8]) {
        let mut story = lock(&self.story);
        let Some(story) = story.as_mut() else { return };
        if !self.queue.has_room() {
            return story.left_out(stream, bytes);
        }
        if let Some(text) = story.printed(stream, bytes) {
            self.queue.send(text);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
