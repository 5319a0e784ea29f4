//! One client of this process: its conversation and its running calls. Every transport represents its clients with it.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wap_core::{
    Call, CancelFlag, CommandObserver, Conversation, ConversationId, Origin, Reason, Request, Response,
    Retention, RunKey, Tool, ToolEffect, WapError, Workspace,
};

use crate::CallPool;
use crate::weight::weight_bytes;

/// A client with one conversation, whose calls run on the threads of a pool.
pub struct Client {
    workspace: Arc<dyn Workspace>,
    pool: CallPool,
    conversation: Conversation,
    calls: Mutex<Calls>,
    ended: Condvar,
}

/// The error text for a call in which the program panics.
const FAULT: &str = "agentd has a fault and could not answer this call";

#[derive(Debug, Default)]
struct Calls {
    next: u64,
    running: HashMap<u64, (Tool, CancelFlag)>,
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").field("conversation", self.conversation.id()).finish_non_exhaustive()
    }
}

impl Drop for Client {
    /// Ends the processes that the client left running. None of its calls still runs: each holds the client.
    fn drop(&mut self) {
        self.workspace.end_conversation(self.conversation.id());
    }
}

impl Client {
    /// Returns a client whose conversation has a unique name that begins with `kind`.
    #[must_use]
    pub fn new(kind: &str, workspace: &Arc<dyn Workspace>, pool: &CallPool) -> Arc<Client> {
        let id = ConversationId(format!("{kind}-{}", uuid::Uuid::new_v4().simple()));
        Arc::new(Client {
            workspace: Arc::clone(workspace),
            pool: pool.clone(),
            conversation: Conversation::new(id),
            calls: Mutex::default(),
            ended: Condvar::new(),
        })
    }

    /// Returns a client that makes its calls in another, ended conversation; `self` if the conversation is its own.
    #[must_use]
    pub fn in_conversation(self: &Arc<Self>, id: &ConversationId) -> Arc<Client> {
        if self.conversation.id() == id {
            return Arc::clone(self);
        }
        Arc::new(Client {
            workspace: Arc::clone(&self.workspace),
            pool: self.pool.clone(),
            conversation: Conversation::new(id.clone()),
            calls: Mutex::default(),
            ended: Condvar::new(),
        })
    }

    /// Begins a call. `done` receives the answer exactly once: on a thread of the pool, or on this one if too many calls are
    /// waiting.
    pub fn begin(
        self: &Arc<Self>,
        request: Request,
        cancel: CancelFlag,
        mut observer: Box<dyn CommandObserver>,
        done: impl FnOnce(Result<Response, WapError>) + Send + 'static,
    ) {
        let (tool, bytes) = (request.tool(), weight_bytes(&request));
        let number = {
            let mut calls = self.lock();
            calls.next += 1;
            let number = calls.next;
            calls.running.insert(number, (tool, cancel.clone()));
            number
        };
        let ending = Ending { client: Arc::clone(self), number, done };
        // Shared with the job, because a full pool drops the job, and the call is then answered here.
        let ending = Arc::new(Mutex::new(Some(ending)));
        let (client, of_job, of_queue) = (Arc::clone(self), Arc::clone(&ending), cancel.clone());
        let job = move || {
            let answered = catch_unwind(AssertUnwindSafe(|| client.answer(request, &cancel, &mut *observer)));
            end(&of_job, answered.unwrap_or_else(|_| Err(WapError::new(Reason::ReadError, FAULT))));
        };
        if self.pool.run(tool, bytes, &of_queue, Box::new(job)).is_err() {
            end(&ending, Err(WapError::new(Reason::Busy, "too many calls wait already; try again")));
        }
    }

    /// Answers a call on this thread.
    ///
    /// # Errors
    ///
    /// Those of the workspace for the tool.
    pub fn answer(
        &self,
        request: Request,
        cancel: &CancelFlag,
        observer: &mut dyn CommandObserver,
    ) -> Result<Response, WapError> {
        let origin = self.origin();
        let call = Call { origin: &origin, cancel, time_left: None };
        self.conversation.answer(&*self.workspace, request, &call, observer)
    }

    /// Returns the origin of a call that is its own run.
    pub fn origin(&self) -> Origin {
        Origin {
            conversation: self.conversation.id().clone(),
            run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
            step: 0,
            retention: Retention::Process,
        }
    }

    /// Cancels running and waiting commands, and lets other calls finish.
    pub fn cancel_commands(&self) {
        self.cancel(|tool| tool.effect() == ToolEffect::Runs);
    }

    /// Cancels everything.
    pub fn cancel_all(&self) {
        self.cancel(|_| true);
    }

    /// Waits until every call is answered, for at most `limit`.
    pub fn wait_until_idle(&self, limit: Duration) {
        let calls = self.lock();
        let busy = |calls: &mut Calls| !calls.running.is_empty();
        drop(self.ended.wait_timeout_while(calls, limit, busy).unwrap_or_else(PoisonError::into_inner));
    }

    fn cancel(&self, is_meant: impl Fn(Tool) -> bool) {
        let meant: Vec<_> = {
            let calls = self.lock();
            let running = calls.running.values().filter(|(tool, _)| is_meant(*tool));
            running.map(|(_, cancel)| cancel.clone()).collect()
        };
        // Cancel without the lock: this runs the hooks of other modules on this thread, and they may need it.
        for cancel in meant {
            cancel.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The steps at the end of a call: `done` receives the answer and the entry is removed.
struct Ending<D> {
    client: Arc<Client>,
    number: u64,
    done: D,
}

fn end<D: FnOnce(Result<Response, WapError>)>(
    ending: &Mutex<Option<Ending<D>>>,
    answer: Result<Response, WapError>,
) {
    let ending = ending.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(Ending { client, number, done }) = ending else { return };
    // Call this before removing the entry, so that an idle client has delivered its answers.
    done(answer);
    client.lock().running.remove(&number);
    client.ended.notify_all();
}
