//! `agentd wap`: the workspace tools over JSON-RPC 2.0, one message a line on standard input and output.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use wap_core::{
    CancelFlag, Limits, Reason, Request, Response, Tool, UnknownArguments, Unobserved, WapError, Workspace,
};

use crate::cli::Common;
use crate::commands::session::cancel_flag;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use wap_calls::{CallPool, Client};
use workspace_host::SharedWorkspace;
use workspace_host::WorkspacePaths;
use workspace_host::json_rpc::{self, INVALID_REQUEST, Message};
use workspace_host::line_input::{Line, read_line};
use workspace_host::state::check_unconfined;

/// How long calls that were begun may take after the end of the input. Commands are ended at once.
const PARTING: Duration = Duration::from_secs(60);

/// Why it ends.
enum End {
    /// The client has nothing more to say, or does not listen any more.
    Input,
    /// Standard input or output failed.
    Broken(io::Error),
    /// Ctrl-C.
    Interrupted,
}

struct Service {
    client: Arc<Client>,
    /// The absolute path of the root: this is the native dialect.
    root: String,
    /// Calls by the client's ids, as JSON text: `1` and `"1"` are two.
    running: Mutex<HashMap<String, CancelFlag>>,
    output: Mutex<io::Stdout>,
    ended: Sender<End>,
}

/// Serves the client at standard input and output until it is gone.
pub(crate) fn wap(common: &Common, console: Console) -> Outcome {
    let cancel = cancel_flag()?;
    let places = WorkspacePaths::find(&common.host())?;
    check_unconfined(&common.host(), &places)?;
    let workspace = Arc::new(SharedWorkspace::staying(&common.host(), &places, &console.shared()));
    workspace.open()?;
    let served: Arc<dyn Workspace> = Arc::<SharedWorkspace>::clone(&workspace);
    let (ended, end) = channel();
    let service = Arc::new(Service {
        client: Client::new("wap", &served, &CallPool::new()),
        root: places.workspace.display().to_string(),
        running: Mutex::default(),
        output: Mutex::new(io::stdout()),
        ended: ended.clone(),
    });
    let interrupted = ended.clone();
    let _guard = cancel.on_cancel(Box::new(move || {
        let _ = interrupted.send(End::Interrupted);
    }));
    let reader = Arc::clone(&service);
    thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            let end = reader.read().map_or_else(End::Broken, |()| End::Input);
            let _ = ended.send(end);
        })
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot start a thread: {error}")))?;
    let end = end.recv().unwrap_or(End::Input);
    match end {
        End::Input => service.client.cancel_commands(),
        End::Broken(_) | End::Interrupted => service.client.cancel_all(),
    }
    service.client.wait_until_idle(PARTING);
    workspace.leave(&cancel);
    match end {
        End::Input => Ok(Exit::Done),
        End::Interrupted => Ok(Exit::Interrupted),
        End::Broken(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        End::Broken(error) => {
            Err(Failure::new(Exit::Failed, format!("standard input or output failed: {error}")))
        }
    }
}

impl Service {
    fn read(self: &Arc<Self>) -> io::Result<()> {
        let mut input = io::stdin().lock();
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
            // A notification is not answered, whatever comes of it.
            (Err(_), None) => return,
        };
        let key = id.as_ref().map(Value::to_string);
        let mut running = self.running();
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
            let _ = self.ended.send(End::Broken(error));
        }
    }
}
