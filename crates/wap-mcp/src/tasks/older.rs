//! The experimental tasks of 2025-11-25: the client asks for a task and polls it.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CustomRequest, CustomResult, ErrorCode, ErrorData, ProtocolVersion};
use rmcp::service::RequestContext;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use wap_core::{Reason, Tool};

use super::desk::{POLL_MS, TaskDesk, failed, no_such_task, status_message, time};
use super::newer::command;
use super::older_messages::{CALL, CANCEL, GET};
use super::source::{TaskProgress, TaskView};

/// The number of tasks on a page of the list.
const PAGE: usize = 50;

/// The key under which a message names its task.
const RELATED: &str = "io.modelcontextprotocol/related-task";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskParams {
    task_id: String,
}

#[derive(Default, Deserialize)]
struct ListParams {
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct CallParams {
    name: String,
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
}

impl TaskDesk {
    /// Answers a request that only exists in the older era.
    pub(crate) async fn older(
        &self,
        request: CustomRequest,
        context: &RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // ISO dates sort like the dates themselves.
        let is_newer = context
            .protocol_version()
            .is_some_and(|version| version.as_str() > ProtocolVersion::V_2025_11_25.as_str());
        if is_newer {
            return Err(unknown_method(request.method));
        }
        let result = match request.method.as_str() {
            CALL => self.begin_older(params(&request)?, context).await?,
            GET => {
                let TaskParams { task_id } = params(&request)?;
                let task = self.show(&task_id, Duration::ZERO).await.map_err(|error| failed(&error))?;
                wire_task(&task.ok_or_else(|| no_such_task(&task_id))?)
            }
            CANCEL => self.cancel_older(params(&request)?).await?,
            "tasks/result" => self.result_older(params(&request)?, context).await?,
            "tasks/list" => self.list_older(params(&request)?).await?,
            _ => return Err(unknown_method(request.method)),
        };
        Ok(CustomResult::new(result))
    }

    async fn begin_older(
        &self,
        CallParams { name, arguments }: CallParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        if name != Tool::ExecuteCommand.name() {
            let name: String = name.chars().take(100).collect();
            let text = format!("'{name}' cannot be a task: only executeCommand can");
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None));
        }
        let arguments = arguments.map_or(Value::Null, Value::Object);
        let invalid = |error: wap_core::WapError| ErrorData::invalid_params(error.message().to_owned(), None);
        let (command, _) = command(arguments).map_err(invalid)?;
        let task = self.begin(command).await.map_err(invalid)?;
        // The client will not read the id, and could not cancel the task later.
        if context.ct.is_cancelled() {
            self.cancel(&task.id).await.map_err(|error| failed(&error))?;
        }
        self.notify_older(context.peer.clone(), &task);
        Ok(json!({ "task": wire_task(&task) }))
    }

    async fn cancel_older(&self, TaskParams { task_id }: TaskParams) -> Result<Value, ErrorData> {
        let before = self.show(&task_id, Duration::ZERO).await.map_err(|error| failed(&error))?;
        match before {
            None => return Err(no_such_task(&task_id)),
            Some(task) if matches!(task.progress, TaskProgress::Ended(_)) => {
                let text = format!("the task is over already: it is {}", status(&task));
                return Err(ErrorData::invalid_params(text, None));
            }
            Some(_) => {}
        }
        let mut task = self.cancel(&task_id).await.map_err(|error| failed(&error))?;
        // The command is already killed and its end is about to be recorded, which takes less than a second.
        for _ in 0..10 {
            match &task {
                Some(running) if !matches!(running.progress, TaskProgress::Ended(_)) => {
                    let longest = Duration::from_secs(1);
                    task = self.show(&task_id, longest).await.map_err(|error| failed(&error))?;
                }
                _ => break,
            }
        }
        Ok(wire_task(&task.ok_or_else(|| no_such_task(&task_id))?))
    }

    /// Waits for the end of a task and returns the answer that its call would have had.
    async fn result_older(
        &self,
        TaskParams { task_id }: TaskParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let Some(TaskView { progress: TaskProgress::Ended(outcome), .. }) =
            self.wait(&task_id, None, context).await?
        else {
            return Err(ErrorData::internal_error("the wait was cancelled", None));
        };
        let result = serde_json::to_value(self.result(*outcome));
        let mut result = result.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        if let Some(result) = result.as_object_mut() {
            result.remove("resultType");
            result.insert("_meta".to_owned(), json!({ RELATED: { "taskId": task_id } }));
        }
        Ok(result)
    }

    async fn list_older(&self, ListParams { cursor }: ListParams) -> Result<Value, ErrorData> {
        // Requesting one more task than a page shows whether there is another page.
        let mut tasks = self.list(cursor, PAGE + 1).await.map_err(|error| match error.reason() {
            Reason::InvalidField => ErrorData::invalid_params(error.message().to_owned(), None),
            _ => failed(&error),
        })?;
        let has_more = tasks.len() > PAGE;
        tasks.truncate(PAGE);
        let mut list = json!({ "tasks": tasks.iter().map(wire_task).collect::<Vec<_>>() });
        if let (true, Some(last)) = (has_more, tasks.last()) {
            list["nextCursor"] = json!(last.id);
        }
        Ok(list)
    }
}

/// Returns the error about a method that exists in no era.
pub(super) fn unknown_method(method: String) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
}

fn params<T: for<'de> Deserialize<'de>>(request: &CustomRequest) -> Result<T, ErrorData> {
    let params = request.params.clone().unwrap_or_else(|| json!({}));
    serde_json::from_value(params).map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}

/// Returns the word for the status of a task.
pub(super) fn status(task: &TaskView) -> &'static str {
    match &task.progress {
        TaskProgress::Waiting | TaskProgress::Running | TaskProgress::AwaitsReview { .. } => "working",
        TaskProgress::Ended(outcome) => match &**outcome {
            Ok(_) => "completed",
            Err(error) if error.reason() == Reason::Cancelled => "cancelled",
            Err(_) => "failed",
        },
    }
}

/// Returns a task in the format of 2025-11-25.
pub(super) fn wire_task(task: &TaskView) -> Value {
    json!({
        "taskId": task.id,
        "status": status(task),
        "statusMessage": status_message(task),
        "createdAt": time(task.created),
        "lastUpdatedAt": time(task.updated),
        "ttl": null,
        "pollInterval": POLL_MS,
    })
}
