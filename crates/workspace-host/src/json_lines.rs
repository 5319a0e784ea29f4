//! The workspace tools over JSON-RPC 2.0, one message a line.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use wap_calls::{CallPool, Client};
use wap_core::{
    CancelFlag, Limits, Reason, Request, Response, Tool, UnknownArguments, Unobserved, WapError, Workspace,
};

use crate::json_rpc::{self, INVALID_REQUEST, Message};
use crate::line_input::{Line, read_line};

/// The time that calls may take after the end of the input. Commands are ended at once.
const LAST_CALLS: Duration = Duration::from_secs(60);

/// The end of a service.
#[derive(Debug)]
pub enum LinesEnd {
    /// The client closed its end, or no longer listens.
    Input,
    /// The input or the output failed.
    Broken(io::Error),
    /// The caller cancelled it.
    Cancelled,
}

/// The client of a service and its calls.
struct Service<W> {
    client: Arc<Client>,
    /// The absolute path of the root: this is the native dialect.
    root: String,
    /// Calls by the client's ids, as JSON text: `1` and `"1"` are two.
    running: Mutex<HashMap<String, CancelFlag>>,
    output: Mutex<W>,
    ended: Sender<LinesEnd>,
}

/// Serves one client until its input ends, its output fails, or `cancel` is raised.
///
/// `root` is the absolute path of the workspace, which is part of answers with metadata. Calls begun before the end of
/// the input are answered.
///
/// # Errors
/// The thread that reads the input cannot be started.
pub fn serve_json_lines(
    workspace: &Arc<dyn Workspace>,
    root: String,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
    cancel: &CancelFlag,
) -> io::Result<LinesEnd> {
    let (ended, end) = channel();
    let service = Arc::new(Service {
        client: Client::new("wap", workspace, &CallPool::new()),
        root,
        running: Mutex::default(),
        output: Mutex::new(output),
        ended: ended.clone(),
    });
    let cancelled = ended.clone();
    let _guard = cancel.on_cancel(Box::new(move || {
        let _ = cancelled.send(LinesEnd::Cancelled);
    }));
    let reader = Arc::clone(&service);
    thread::Builder::new().name("input".to_owned()).spawn(move || {
        let end = reader.read(input).map_or_else(LinesEnd::Broken, |()| LinesEnd::Input);
        let _ = ended.send(end);
    })?;
    let end = end.recv().unwrap_or(LinesEnd::Input);
    match end {
        // A client that has closed its input may still read answers, but no command may continue for it.
        LinesEnd::Input => service.client.cancel_commands(),
        LinesEnd::Broken(_) | LinesEnd::Cancelled => service.client.cancel_all(),
    }
    service.client.wait_until_idle(LAST_CALLS);
    Ok(match end {
        LinesEnd::Broken(error) if error.kind() == io::ErrorKind::BrokenPipe => LinesEnd::Input,
        end => end,
    })
}

impl<W: Write + Send + 'static> Service<W> {
    fn read(self: &Arc<Self>, mut input: impl BufRead) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            match read_line(&mut input, &mut line, Limits::MAX_MESSAGE_BYTES)? {
                Line::End => return Ok(()),
                Line::TooLong => {
                    let text = format!("a message is longer than {} bytes", Limits::MAX_MESSAGE_BYTES);
                    let error = WapError::new(Reason::RequestTooLarge, text.as_str());
                    self.send(json_rpc::error(&Value::Null, INVALID_REQUEST, &text, Some(&error)));
                }
                Line::Whole if line.iter().all(u8::is_ascii_whitespace) => {}
                Line::Whole if let Err(error) = wap_core::check_json_size(&line) => {
                    let text = error.message();
                    self.send(json_rpc::error(&Value::Null, INVALID_REQUEST, text, Some(&error)));
                }
                Line::Whole => match Message::parse(&line) {
                    Ok(message) => self.take(message),
                    Err(error) => self.send(json_rpc::error(&error.id, error.code, &error.text, None)),
                },
            }
        }
    }

    fn take(self: &Arc<Self>, message: Message) {
        let Message { id, method, params } = message;
        if method == json_rpc::CANCEL {
            let cancel = params.get("id").and_then(|id| self.running().get(&id.to_string()).cloned());
            if let Some(cancel) = cancel {
                cancel.cancel();
            }
            return;
        }
        let unknown = method.parse::<Tool>().map(|tool| UnknownArguments::of(tool, &params));
        let unknown = unknown.unwrap_or_default();
        let request = match (Request::parse(&method, params), &id) {
            (Ok(request), _) => request,
            (Err(error), Some(id)) => {
                return self.send(json_rpc::failure(id, &unknown.annotate_error(error)));
            }
            // A notification is not answered, even if it fails.
            (Err(_), None) => return,
        };
        let key = id.as_ref().map(Value::to_string);
        let mut running = self.running();
        // A second call under the same id could be neither cancelled nor matched with its answer.
        if key.as_ref().is_some_and(|key| running.contains_key(key)) {
            drop(running);
            let text = "a call with this id is still running";
            return self.send(json_rpc::error(&id.unwrap_or_default(), INVALID_REQUEST, text, None));
        }
        let service = Arc::clone(self);
        let done_key = key.clone();
        let done = move |answer: Result<Response, WapError>| {
            if let Some(key) = done_key {
                service.running().remove(&key);
            }
            let Some(id) = id else { return };
            service.send(match unknown.annotate(answer) {
                Ok(response) => json_rpc::response(&id, &response.with_absolute_metadata(&service.root)),
                Err(error) => json_rpc::failure(&id, &error),
            });
        };
        let cancel = CancelFlag::new();
        if let Some(key) = key {
            running.insert(key, cancel.clone());
        }
        // A call may be answered at once, on this thread.
        drop(running);
        self.client.begin(request, cancel, Box::new(Unobserved), done);
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, CancelFlag>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, mut message: Vec<u8>) {
        message.push(b'\n');
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = output.write_all(&message).and_then(|()| output.flush()) {
            let _ = self.ended.send(LinesEnd::Broken(error));
        }
    }
}
