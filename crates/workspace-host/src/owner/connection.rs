//! One client of the owner: its calls begin as they arrive and are answered as they end.

mod forward;

use std::collections::{BTreeSet, HashMap};
use std::io::BufReader;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sandbox_exec::Level;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wap_core::{
    Call, CancelFlag, ConversationId, FileChange, Origin, Reason, Request, Tool, ToolEffect, WapError,
    Workspace,
};

use crate::confinement::Confinement;
use crate::json_rpc::{self, Message};
use crate::line_input::{Line, read_line};
use crate::owner::connection::forward::Forward;
use crate::owner::garbage_call::CollectGarbage;
use crate::owner::handover_call::DescribeWork;
use crate::owner::outgoing::Outgoing;
use crate::owner::process_calls::{ListProcesses, StopListedProcess};
use crate::owner::protocol::{
    CHANGE_FILES, CallParams, END_CONVERSATION, EndConversation, FILE_STATES, FileStatesRequest, HELLO,
    Hello, LEAVING, MISMATCH, MOST_MESSAGE_BYTES, PING, UNDO, VERSION, Welcome,
};
use crate::owner::reply_calls::{ApplyReply, PlanReply, ReplyState};
use crate::owner::session_call::{
    AnswerModel, Caller, CreateSession, ReopenSession, SessionCall, SessionRefusal, WholeOutbox,
};
use crate::owner::undo_request::{self, UndoRequest};
use crate::owner::{Begun, Host};
use crate::review::calls::{
    AnsweredProposal, AwaitReview, DecideProposal, DropProposal, ListProposals, ProposeCalls, ProposeReply,
    SaveDraft, ShowProposal, TryProposal,
};
use crate::tasks::calls::{CancelTask, ListTasks, ShowTask, StartTask};

/// The time within which a client has to send its greeting.
const GREETING: Duration = Duration::from_secs(5);

/// The time within which a client has to accept an answer. A client that does not read its answers is disconnected;
/// other clients do not wait for it.
const SENDING: Duration = Duration::from_secs(30);

/// The text of the error that answers a call in which this program panics.
const FAULT: &str =
    "agentd has a fault and could not answer this call: look at what it has done before you repeat it";

/// The text of the error that replaces an answer too long for its client.
const TOO_LONG: &str = "the answer is too long for another process than the one that owns the state folder: ask there, or for less. If \
     the call changes something, look at what it has done before you repeat it";

/// One client.
struct Client {
    host: Arc<Host>,
    outgoing: Outgoing,
    running: Mutex<HashMap<u64, CancelFlag>>,
    /// Its conversations that have started background processes.
    with_processes: Mutex<BTreeSet<ConversationId>>,
    /// Its options about the confinement of commands and about protected names.
    confinement: Confinement,
}

/// Serves a client until it is gone, then cancels its running calls.
pub(super) fn serve(host: &Arc<Host>, stream: UnixStream) {
    let Some((mut receiving, client)) = greet(host, stream) else { return };
    let client = Arc::new(client);
    let mut line = Vec::new();
    while let Ok(Line::Whole) = read_line(&mut receiving, &mut line, MOST_MESSAGE_BYTES) {
        match Message::parse(&line) {
            Ok(message) => client.take(message, line.len()),
            Err(_) => break,
        }
    }
    if host.is_closing() {
        // The client is alive: it receives the answers to its running calls, and repeats the others at the next owner.
        return;
    }
    // Collected first: a cancelled call takes the same lock when it ends.
    let running: Vec<_> = client.running().drain().collect();
    for (_, cancel) in running {
        cancel.cancel();
    }
    let with_processes = std::mem::take(&mut *client.with_processes());
    with_processes.iter().for_each(|conversation| host.workspace.end_conversation(conversation));
}

/// Exchanges greetings; `None` if the client is refused, or sends none in time.
fn greet(host: &Arc<Host>, stream: UnixStream) -> Option<(BufReader<UnixStream>, Client)> {
    stream.set_read_timeout(Some(GREETING)).ok()?;
    stream.set_write_timeout(Some(SENDING)).ok()?;
    let mut receiving = BufReader::new(stream.try_clone().ok()?);
    let mut line = Vec::new();
    let Ok(Line::Whole) = read_line(&mut receiving, &mut line, 65_536) else { return None };
    let message = Message::parse(&line).ok()?;
    let hello: Option<Hello> =
        if message.method == HELLO { serde_json::from_value(message.params).ok() } else { None };
    let why = match &hello {
        Some(hello) if hello.version != VERSION => {
            Some("it is of another version of agentd; stop it, or use the same version")
        }
        Some(hello) if hello.workspace != host.hello.workspace => {
            Some("it uses the state folder for another workspace; choose another one with --base DIR")
        }
        Some(_) => None,
        None => Some("it is of another version of agentd; stop it, or use the same version"),
    };
    let client = Client {
        host: Arc::clone(host),
        outgoing: Outgoing::start(stream.try_clone().ok()?).ok()?,
        running: Mutex::default(),
        with_processes: Mutex::default(),
        confinement: hello.map(|hello| hello.confinement).unwrap_or_default(),
    };
    if let Some(why) = why {
        client.send(json_rpc::error(&json!(0), MISMATCH, why, None));
        return None;
    }
    client.send(json_rpc::response(&json!(0), &client.host.welcome));
    // From here on a silent client is an idle one.
    stream.set_read_timeout(None).ok()?;
    Some((receiving, client))
}

impl Client {
    fn running(&self) -> MutexGuard<'_, HashMap<u64, CancelFlag>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_processes(&self) -> MutexGuard<'_, BTreeSet<ConversationId>> {
        self.with_processes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, message: Vec<u8>) {
        self.outgoing.send(message, None);
    }

    /// Sends the answer to a running call; the call has ended when it is written.
    fn answer(&self, message: Vec<u8>, begun: Begun) {
        self.outgoing.send(message, Some(begun));
    }

    /// Handles a message of `bytes` bytes.
    fn take(self: &Arc<Self>, message: Message, bytes: usize) {
        if message.method == json_rpc::CANCEL {
            let id = message.params.get("id").and_then(Value::as_u64);
            let cancel = id.and_then(|id| self.running().get(&id).cloned());
            if let Some(cancel) = cancel {
                cancel.cancel();
            }
            return;
        }
        if message.method == END_CONVERSATION {
            if let Ok(EndConversation { conversation }) = serde_json::from_value(message.params)
                && self.with_processes().remove(&conversation)
            {
                self.host.workspace.end_conversation(&conversation);
            }
            return;
        }
        let Some(id) = message.id.as_ref().and_then(Value::as_u64) else { return };
        match message.method.as_str() {
            // A client that is being sent something else needs no answer: any byte shows that the owner lives.
            PING => self.outgoing.send_unless_lagging(json_rpc::response(&json!(id), &Value::Null)),
            // First, since it guards the two arms of these methods further down.
            CHANGE_FILES | UNDO if self.has_other_names() => {
                let differing = self.host.hello.confinement.other_names(&self.confinement);
                if let Some(error) = self.otherwise_started(&differing) {
                    self.send(json_rpc::failure(&json!(id), &error));
                }
            }
            AnswerModel::METHOD => self.begin_session::<AnswerModel>((id, bytes), message.params),
            ReopenSession::METHOD => self.begin_session::<ReopenSession>((id, bytes), message.params),
            CreateSession::METHOD => self.begin_session::<CreateSession>((id, bytes), message.params),
            DescribeWork::METHOD => self.begin_session::<DescribeWork>((id, bytes), message.params),
            WholeOutbox::METHOD => self.begin_session::<WholeOutbox>((id, bytes), message.params),
            ReplyState::METHOD => self.begin_session::<ReplyState>((id, bytes), message.params),
            PlanReply::METHOD => self.begin_session::<PlanReply>((id, bytes), message.params),
            ApplyReply::METHOD => self.begin_session::<ApplyReply>((id, bytes), message.params),
            ListProcesses::METHOD => self.begin_session::<ListProcesses>((id, bytes), message.params),
            StopListedProcess::METHOD => self.begin_session::<StopListedProcess>((id, bytes), message.params),
            ProposeReply::METHOD => self.begin_session::<ProposeReply>((id, bytes), message.params),
            ProposeCalls::METHOD => self.begin_session::<ProposeCalls>((id, bytes), message.params),
            ListProposals::METHOD => self.begin_session::<ListProposals>((id, bytes), message.params),
            ShowProposal::METHOD => self.begin_session::<ShowProposal>((id, bytes), message.params),
            SaveDraft::METHOD => self.begin_session::<SaveDraft>((id, bytes), message.params),
            TryProposal::METHOD => self.begin_session::<TryProposal>((id, bytes), message.params),
            DecideProposal::METHOD => self.begin_session::<DecideProposal>((id, bytes), message.params),
            DropProposal::METHOD => self.begin_session::<DropProposal>((id, bytes), message.params),
            AwaitReview::METHOD => self.begin_session::<AwaitReview>((id, bytes), message.params),
            AnsweredProposal::METHOD => self.begin_session::<AnsweredProposal>((id, bytes), message.params),
            StartTask::METHOD => self.begin_session::<StartTask>((id, bytes), message.params),
            ShowTask::METHOD => self.begin_session::<ShowTask>((id, bytes), message.params),
            CancelTask::METHOD => self.begin_session::<CancelTask>((id, bytes), message.params),
            ListTasks::METHOD => self.begin_session::<ListTasks>((id, bytes), message.params),
            CollectGarbage::METHOD => self.begin_session::<CollectGarbage>((id, bytes), message.params),
            CHANGE_FILES => {
                self.begin(
                    (id, bytes),
                    (Tool::ModifyFile, false),
                    message.params,
                    move |client, changes: Vec<FileChange>, call| {
                        Ok(rendered(id, &client.host.workspace.change_files(call, &changes)?))
                    },
                );
            }
            FILE_STATES => {
                self.begin(
                    (id, bytes),
                    (Tool::ReadFile, false),
                    message.params,
                    move |client, request: FileStatesRequest, call| {
                        let FileStatesRequest { paths, since } = request;
                        Ok(rendered(id, &client.host.workspace.file_states(call, &paths, since.as_ref())?))
                    },
                );
            }
            UNDO => self.begin(
                (id, bytes),
                (Tool::ModifyFile, false),
                message.params,
                move |client, request: UndoRequest, call| {
                    let Host { journal, workspace, sessions, .. } = &*client.host;
                    let (journal, rules) = (journal.reader(), sessions.rules());
                    Ok(rendered(id, &undo_request::carry_out(journal, workspace, rules, &request, call)))
                },
            ),
            name => match name.parse::<Tool>() {
                Ok(tool) => self.begin_tool((id, bytes), tool, message.params),
                Err(error) => self.send(json_rpc::failure(&json!(id), &error)),
            },
        }
    }

    fn has_other_names(&self) -> bool {
        !self.host.hello.confinement.other_names(&self.confinement).is_empty()
    }

    /// Returns the confinement that commands get here; `None` if none can be started, which running one reports.
    fn level(&self) -> Option<Level> {
        self.host.workspace.sandbox_report().ok().map(|report| report.level)
    }

    /// Returns the refusal of a client that was started with options other than this owner's; `None` if none differ.
    fn otherwise_started(&self, differing: &[&str]) -> Option<WapError> {
        if differing.is_empty() {
            return None;
        }
        let Welcome { process_id, command, .. } = &self.host.welcome;
        let text = format!(
            "process {process_id} (agentd {command}) owns the state folder and was started with another {}: \
             start both with the same options, or stop that one",
            differing.join(", ")
        );
        Some(WapError::new(Reason::SandboxUnavailable, text))
    }

    /// Begins a call about sessions.
    fn begin_session<C: SessionCall>(self: &Arc<Self>, (id, bytes): (u64, usize), params: Value) {
        let differing = self.host.hello.confinement.other_sessions(&self.confinement, self.level());
        if C::IS_CONFINED
            && let Some(error) = self.otherwise_started(&differing)
        {
            let refusal: Result<C::Answer, SessionRefusal> = Err(SessionRefusal::by_policy(error.message()));
            return self.send(rendered(id, &refusal));
        }
        self.begin((id, bytes), (C::TOOL, C::BEGINS_COMMAND), params, move |client, request: C, call| {
            let mut observer = Forward::new(client, id);
            let caller = Caller::Client;
            Ok(rendered(id, &request.carry_out(&client.host.sessions, caller, call, &mut observer)))
        });
    }

    fn begin_tool(self: &Arc<Self>, (id, bytes): (u64, usize), tool: Tool, params: Value) {
        let differing = match tool.effect() {
            // The options do not change what reading returns.
            ToolEffect::Reads => Vec::new(),
            ToolEffect::Changes => self.host.hello.confinement.other_names(&self.confinement),
            ToolEffect::Runs => self.host.hello.confinement.other_commands(&self.confinement, self.level()),
        };
        if let Some(error) = self.otherwise_started(&differing) {
            return self.send(json_rpc::failure(&json!(id), &error));
        }
        let begins_command = tool.effect() == ToolEffect::Runs;
        self.begin((id, bytes), (tool, begins_command), params, move |client, arguments: Value, call| {
            let request = Request::parse(tool.name(), arguments)?;
            if request.is_background() {
                client.with_processes().insert(call.origin.conversation.clone());
            }
            let mut observer = Forward::new(client, id);
            Ok(rendered(id, &request.answer(&*client.host.workspace, call, &mut observer)?))
        });
    }

    /// Lets a thread for this kind of tool carry out a call and send its answer.
    fn begin<R: DeserializeOwned>(
        self: &Arc<Self>,
        (id, bytes): (u64, usize),
        (tool, begins_command): (Tool, bool),
        params: Value,
        carry_out: impl FnOnce(&Client, R, &Call<'_>) -> Result<Vec<u8>, WapError> + Send + 'static,
    ) {
        let Some(begun) = self.host.begin(begins_command) else {
            return self.send(json_rpc::error(&json!(id), LEAVING, "this process is about to end", None));
        };
        // Registered before the job is queued: a cancellation that follows at once has to find it.
        let cancel = CancelFlag::new();
        self.running().insert(id, cancel.clone());
        let (client, of_queue) = (Arc::clone(self), cancel.clone());
        let job = move || {
            let params = serde_json::from_value::<CallParams<Value>>(params);
            let answer = params.map_err(|error| unreadable(&error)).and_then(|params| {
                let time_left = params.time_left_ms.map(Duration::from_millis);
                let origin: Origin = params.origin.into();
                let call = Call { origin: &origin, cancel: &cancel, time_left };
                let request = serde_json::from_value(params.request).map_err(|error| unreadable(&error))?;
                // Its client would wait forever: this process lives, and answers every ping.
                catch_unwind(AssertUnwindSafe(|| carry_out(&client, request, &call)))
                    .unwrap_or_else(|_| Err(WapError::new(Reason::OutcomeUnknown, FAULT)))
            });
            // Before the answer: a client may use the id again as soon as it has it.
            client.running().remove(&id);
            let failed = |error: &WapError| json_rpc::failure(&json!(id), error);
            let mut answer = answer.unwrap_or_else(|error| failed(&error));
            // The client would close the connection, and make the same call again and again.
            if answer.len() as u64 > MOST_MESSAGE_BYTES {
                answer = failed(&WapError::new(Reason::OutcomeUnknown, TOO_LONG));
            }
            client.answer(answer, begun);
        };
        if self.host.pool.run(tool, bytes, &of_queue, Box::new(job)).is_err() {
            self.running().remove(&id);
            let error = WapError::new(Reason::Busy, "too many calls wait already; try again");
            self.send(json_rpc::failure(&json!(id), &error));
        }
    }
}

fn rendered<T: Serialize>(id: u64, result: &T) -> Vec<u8> {
    json_rpc::response(&json!(id), result)
}

fn unreadable(error: &serde_json::Error) -> WapError {
    WapError::new(Reason::InvalidField, format!("cannot read the call: {error}"))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, Write};

    use super::*;
    use crate::owner::protocol::Printed;
    use crate::state::{self, Opened};
    use crate::{HostOptions, NoNotices, SharedNotices, WorkspacePaths};
    use wap_core::{CommandObserver, OutputStream};

    /// A client of an owner in this process.
    struct Connected {
        client: Arc<Client>,
        answers: BufReader<UnixStream>,
        _owner: Opened,
        _folder: tempfile::TempDir,
    }

    /// Returns what a client sends with a request.
    fn params(request: Value) -> Value {
        let origin = Origin {
            conversation: ConversationId("test".into()),
            run: wap_core::RunKey::unnumbered("test"),
            step: 0,
            retention: wap_core::Retention::Process,
        };
        let params = CallParams { request, origin: (&origin).into(), time_left_ms: None };
        serde_json::to_value(params).unwrap()
    }

    impl Connected {
        fn new() -> Connected {
            let folder = tempfile::tempdir().unwrap();
            let options = HostOptions::new(folder.path());
            let paths = WorkspacePaths::find(&options).unwrap();
            let notices: SharedNotices = Arc::new(NoNotices);
            let owner = state::open(&options, &paths, &notices).unwrap();
            let (own, other) = UnixStream::pair().unwrap();
            other.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let mut greeting = json_rpc::message(Some(0), HELLO, &state::hello(&options, &paths));
            greeting.push(b'\n');
            (&other).write_all(&greeting).unwrap();
            let (_, client) = greet(owner.door.host(), own).unwrap();
            let mut connected = Connected {
                client: Arc::new(client),
                answers: BufReader::new(other),
                _owner: owner,
                _folder: folder,
            };
            connected.next();
            connected
        }

        fn next(&mut self) -> Value {
            let mut line = String::new();
            self.answers.read_line(&mut line).unwrap();
            serde_json::from_str(&line).unwrap()
        }

        fn begin(&self, id: u64, tool: Tool, carry_out: impl FnOnce() -> Vec<u8> + Send + 'static) {
            let params = params(Value::Null);
            self.client.begin((id, 1), (tool, false), params, move |_, _: Value, _| Ok(carry_out()));
        }
    }

    #[test]
    fn a_call_in_which_the_owner_panics_is_answered() {
        let mut connected = Connected::new();
        connected.begin(7, Tool::ReadFile, || panic!("a fault"));
        let answer = connected.next();
        assert_eq!((&answer["id"], &answer["error"]["message"]), (&json!(7), &json!(FAULT)));
        // The control, and the thread lives.
        connected.begin(8, Tool::ReadFile, || rendered(8, &"fine"));
        assert_eq!(connected.next()["result"], json!("fine"));
        assert!(connected.client.running().is_empty());
    }

    #[test]
    fn an_answer_that_the_client_would_not_read_is_an_error() {
        let mut connected = Connected::new();
        let most = usize::try_from(MOST_MESSAGE_BYTES).unwrap();
        connected.begin(7, Tool::ReadFile, move || vec![b' '; most + 1]);
        let answer = connected.next();
        assert_eq!((&answer["id"], &answer["error"]["message"]), (&json!(7), &json!(TOO_LONG)));
        // The control: the connection is in order.
        connected.begin(8, Tool::ReadFile, || rendered(8, &"fine"));
        assert_eq!(connected.next()["result"], json!("fine"));
    }

    #[test]
    fn a_task_begins_though_the_threads_of_commands_are_busy() {
        let mut connected = Connected::new();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        // More than there are threads, as commands that wait for their turn.
        for id in 1..=32 {
            let released = Arc::clone(&released);
            connected.begin(id, Tool::ExecuteCommand, move || {
                drop(released.lock().map(|released| released.recv()));
                rendered(id, &"released")
            });
        }
        let client = Arc::clone(&connected.client);
        let begin_task = || {
            let message = json!({
                "jsonrpc": "2.0", "id": 40, "method": StartTask::METHOD,
                "params": params(json!({
                    "id": "task-0123456789ab-0123456789abcdef", "conversation": "test", "front_end": "test",
                    "command": { "command": "true" }, "is_reviewed": true
                }))
            });
            let message = Message::parse(message.to_string().as_bytes()).unwrap();
            client.take(message, 1);
        };
        // A process that is about to end begins none, which it would have to end.
        begin_task();
        let answer = connected.next();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(40), &json!(LEAVING)), "{answer}");
        client.host.stays.store(true, std::sync::atomic::Ordering::SeqCst);
        begin_task();
        let answer = connected.next();
        assert_eq!(answer["id"], json!(40), "{answer}");
        assert!(answer["result"]["Ok"]["state"]["awaitsReview"].is_object(), "{answer}");
        drop(release);
        for _ in 1..=32 {
            connected.next();
        }
    }

    #[test]
    fn of_a_line_that_is_too_long_to_be_held_nothing_is_forwarded() {
        let mut connected = Connected::new();
        let client = Arc::clone(&connected.client);
        let mut forward = Forward::new(&client, 7);
        let mut print =
            |text: &str| CommandObserver::output(&mut forward, OutputStream::Stdout, text.as_bytes());
        print("first\n");
        // A secret that begins where the line becomes too long.
        print(&format!("{}ghp_", "x".repeat(forward::MOST_HELD_BYTES)));
        print("the rest of a secret");
        print(" in this line\nlast");
        print(" line\n");
        let mut printed =
            || serde_json::from_value::<Printed>(connected.next()["params"].take()).unwrap().text;
        assert_eq!([printed(), printed()], ["first\n", "last line\n"]);
    }
}
