//! The extension of 2026-07-28: the server turns a long command into a task.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CreateTaskResult, DetailedTask, ErrorData, GetTaskResult, Task,
    TaskPayload, TaskStatus,
};
use rmcp::service::RequestContext;
use serde_json::Value;
use wap_core::{CancelFlag, ExecuteCommand, Reason, Request, Tool, UnknownArguments, WapError};

use super::desk::{POLL_MS, TaskDesk, failed, no_such_task, status_message, time};
use super::source::{TaskProgress, TaskView};
use crate::answer;

/// The time within which a command answers its call; a longer one becomes a task.
const AT_ONCE: Duration = Duration::from_secs(5);

impl TaskDesk {
    /// Checks whether a call may be answered with a task.
    pub(crate) fn takes(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> bool {
        let declares =
            context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks());
        let is_background = request
            .arguments
            .as_ref()
            .is_some_and(|arguments| arguments.get("background").is_some_and(|name| !name.is_null()));
        request.name == Tool::ExecuteCommand.name() && declares && !is_background
    }

    /// Carries out a command: a short one is answered directly, a long one with a task.
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.map_or(Value::Null, Value::Object);
        let (command, unknown) = match command(arguments) {
            Ok(command) => command,
            Err(error) => return Ok(self.failure(&error).into()),
        };
        let begun = match self.begin(command).await {
            Ok(task) => task,
            Err(error) => return Ok(self.failure(&error).into()),
        };
        // A client that cancels before it has the id could not cancel the task later.
        let abandoned = CancelFlag::new();
        let _guard = self.cancel_unless_answered(&begun.id, &abandoned);
        let ended = self.wait(&begun.id, Some(AT_ONCE), context).await?;
        if context.ct.is_cancelled() {
            return Ok(self.failure(&WapError::new(Reason::Cancelled, "cancelled")).into());
        }
        match ended {
            Some(TaskView { progress: TaskProgress::Ended(outcome), .. }) => {
                abandoned.cancel();
                Ok(answer::with_note(self.result(*outcome), &unknown).into())
            }
            _ => {
                let task = self.show(&begun.id, Duration::ZERO).await.ok().flatten().unwrap_or(begun);
                if context.ct.is_cancelled() {
                    return Ok(self.failure(&WapError::new(Reason::Cancelled, "cancelled")).into());
                }
                abandoned.cancel();
                let TaskPayloadOf { task, .. } = self.payload_of(task);
                Ok(CreateTaskResult::new(task).into())
            }
        }
    }

    /// Answers `tasks/get`.
    pub(crate) async fn get_newer(&self, id: &str) -> Result<GetTaskResult, ErrorData> {
        let task = self.show(id, Duration::ZERO).await.map_err(|error| failed(&error))?;
        Ok(GetTaskResult::new(self.detailed(task.ok_or_else(|| no_such_task(id))?)))
    }

    /// Returns a task in the form of `tasks/get` and `notifications/tasks`.
    pub(super) fn detailed(&self, task: TaskView) -> DetailedTask {
        let TaskPayloadOf { task, payload } = self.payload_of(task);
        DetailedTask::new(task, payload)
    }

    /// Answers `tasks/cancel`.
    pub(crate) async fn cancel_newer(&self, id: &str) -> Result<(), ErrorData> {
        let cancelled = self.cancel(id).await.map_err(|error| failed(&error))?;
        cancelled.map(drop).ok_or_else(|| no_such_task(id))
    }

    fn payload_of(&self, view: TaskView) -> TaskPayloadOf {
        let message = status_message(&view);
        let payload = match view.progress {
            TaskProgress::Waiting | TaskProgress::Running | TaskProgress::AwaitsReview { .. } => {
                TaskPayload::Working
            }
            TaskProgress::Ended(outcome) if is_cancelled(&outcome) => TaskPayload::Cancelled,
            TaskProgress::Ended(outcome) => {
                let result = serde_json::to_value(self.result(*outcome));
                let result = result.ok().and_then(|result| result.as_object().cloned()).unwrap_or_default();
                TaskPayload::Completed { result }
            }
        };
        let status: TaskStatus = payload.status();
        let task = Task::new(view.id, status, time(view.created), time(view.updated))
            .with_status_message(message)
            .with_poll_interval_ms(POLL_MS);
        TaskPayloadOf { task, payload }
    }

    /// Returns a guard that cancels a task when it is dropped before `answered` is set.
    fn cancel_unless_answered(&self, id: &str, answered: &CancelFlag) -> impl Drop + use<> {
        Abandoned { desk: self.clone(), id: id.to_owned(), answered: answered.clone() }
    }
}

/// A task in the terms of the protocol.
struct TaskPayloadOf {
    task: Task,
    payload: TaskPayload,
}

/// Cancels the task of an abandoned call.
struct Abandoned {
    desk: TaskDesk,
    id: String,
    answered: CancelFlag,
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        if self.answered.is_cancelled() {
            return;
        }
        let (desk, id) = (self.desk.clone(), std::mem::take(&mut self.id));
        tokio::spawn(async move {
            // After a failure, the task runs to its end like any other.
            let _ = desk.cancel(&id).await;
        });
    }
}

fn is_cancelled<T>(outcome: &Result<T, WapError>) -> bool {
    outcome.as_ref().is_err_and(|error| error.reason() == Reason::Cancelled)
}

/// Parses the arguments of a command.
pub(super) fn command(arguments: Value) -> Result<(ExecuteCommand, UnknownArguments), WapError> {
    let unknown = UnknownArguments::of(Tool::ExecuteCommand, &arguments);
    match Request::parse(Tool::ExecuteCommand.name(), arguments) {
        Ok(Request::ExecuteCommand(command)) => Ok((command, unknown)),
        Ok(_) => unreachable!("the name of a tool parses as a request of that tool"),
        Err(error) => Err(unknown.annotate_error(error)),
    }
}
