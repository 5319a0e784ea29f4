//! Calls about tasks for one client, made off the thread that serves all clients.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ErrorData};
use rmcp::service::RequestContext;
use wap_calls::Client;
use wap_core::{Call, CancelFlag, ExecuteCommand, Reason, Request, Response, WapError};

use super::source::{CommandTasks, TaskProgress, TaskView};
use crate::McpConfig;
use crate::{RecentOutputs, answer};

/// The longest wait on a thread; a longer one is made of several.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The polling interval for clients, in milliseconds.
pub(super) const POLL_MS: u64 = 1_000;

/// The tasks of a workspace, for one client.
#[derive(Clone)]
pub(crate) struct TaskDesk {
    config: Arc<McpConfig>,
    client: Arc<Client>,
    outputs: Arc<RecentOutputs>,
    tasks: Arc<dyn CommandTasks>,
}

impl TaskDesk {
    /// Returns the tasks for a client; `None` if the workspace has none.
    pub(crate) fn new(
        config: &Arc<McpConfig>,
        client: &Arc<Client>,
        outputs: &Arc<RecentOutputs>,
    ) -> Option<TaskDesk> {
        let tasks = config.tasks.clone()?;
        let (config, client, outputs) = (Arc::clone(config), Arc::clone(client), Arc::clone(outputs));
        Some(TaskDesk { config, client, outputs, tasks })
    }

    pub(super) async fn begin(&self, command: ExecuteCommand) -> Result<TaskView, WapError> {
        self.ask(move |tasks, call| tasks.begin(call, &command)).await
    }

    /// Returns a task, after waiting at most `longest` for its end.
    pub(super) async fn show(&self, id: &str, longest: Duration) -> Result<Option<TaskView>, WapError> {
        let id = id.to_owned();
        self.ask(move |tasks, call| tasks.show(call, &id, longest.min(LONGEST_WAIT))).await
    }

    pub(super) async fn cancel(&self, id: &str) -> Result<Option<TaskView>, WapError> {
        let id = id.to_owned();
        self.ask(move |tasks, call| tasks.cancel(call, &id)).await
    }

    pub(super) async fn list(&self, before: Option<String>, limit: usize) -> Result<Vec<TaskView>, WapError> {
        self.ask(move |tasks, call| tasks.list(call, before.as_deref(), limit)).await
    }

    /// Waits until a task has ended; `Ok(None)` if it has not by then, or if the client cancels the wait.
    ///
    /// # Errors
    ///
    /// The error for the client if there is no such task.
    pub(super) async fn wait(
        &self,
        id: &str,
        longest: Option<Duration>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<TaskView>, ErrorData> {
        let deadline = longest.map(|longest| Instant::now() + longest);
        loop {
            let left =
                deadline.map_or(LONGEST_WAIT, |deadline| deadline.saturating_duration_since(Instant::now()));
            let task = tokio::select! {
                task = self.show(id, left) => task.map_err(|error| failed(&error))?,
                () = context.ct.cancelled() => return Ok(None),
            };
            let Some(task) = task else { return Err(no_such_task(id)) };
            if matches!(task.progress, TaskProgress::Ended(_)) {
                return Ok(Some(task));
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(None);
            }
        }
    }

    /// Returns the answer that the call of a task would have had.
    pub(super) fn result(
        &self,
        outcome: Result<wap_core::ExecuteCommandResponse, WapError>,
    ) -> CallToolResult {
        let request = Request::ExecuteCommand(ExecuteCommand::default());
        answer::result(&self.config, &self.outputs, &request, outcome.map(Response::ExecuteCommand))
    }

    /// Returns a failure as the result of a tool.
    pub(super) fn failure(&self, error: &WapError) -> CallToolResult {
        answer::failure(&self.config, &self.outputs, error)
    }

    async fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn CommandTasks, &Call<'_>) -> Result<T, WapError> + Send + 'static,
    ) -> Result<T, WapError> {
        let (client, tasks) = (Arc::clone(&self.client), Arc::clone(&self.tasks));
        let answer = tokio::task::spawn_blocking(move || {
            let origin = client.origin();
            let cancel = CancelFlag::new();
            call(&*tasks, &Call { origin: &origin, cancel: &cancel, time_left: None })
        });
        answer.await.unwrap_or_else(|_| {
            Err(WapError::new(Reason::ReadError, "agentd has a fault and could not answer this call"))
        })
    }
}

/// Returns the line about a task for people and models.
pub(super) fn status_message(task: &TaskView) -> String {
    let subject = &task.subject;
    match &task.progress {
        TaskProgress::Waiting => {
            format!("waits for its turn, because other commands run before it: {subject}")
        }
        TaskProgress::Running => format!("runs: {subject}"),
        TaskProgress::AwaitsReview { proposal } => format!(
            "waits for the user's review: `agentd review {proposal}` shows it. The command: {subject}"
        ),
        TaskProgress::Ended(outcome) => match &**outcome {
            Ok(response) => format!("ended with exit code {}: {subject}", response.exit_code),
            Err(error) if error.reason() == Reason::OutcomeUnknown => {
                let text = error.message().trim_start_matches("UNKNOWN: ");
                format!("UNKNOWN: {text}. The command: {subject}")
            }
            Err(error) => format!("{}. The command: {subject}", error.message()),
        },
    }
}

/// Returns a time in the format of the protocol.
pub(super) fn time(time: SystemTime) -> String {
    Timestamp::try_from(time).unwrap_or(Timestamp::UNIX_EPOCH).to_string()
}

/// Returns the error about an unknown or removed task.
pub(super) fn no_such_task(id: &str) -> ErrorData {
    let id: String = id.chars().take(100).collect();
    let text = format!(
        "there is no task '{id}' here: it was begun in another workspace, or its record is gone because many newer tasks \
         were begun"
    );
    ErrorData::invalid_params(text, None)
}

pub(super) fn failed(error: &WapError) -> ErrorData {
    ErrorData::internal_error(error.message().to_owned(), None)
}
