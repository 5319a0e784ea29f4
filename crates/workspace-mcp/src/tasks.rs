//! The tasks of a server's workspace, as its clients see them.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use wap_core::{Call, ExecuteCommand, Reason, WapError};
use wap_mcp::{CommandTasks, TaskProgress, TaskView};
use workspace_host::{
    CancelTask, ListTasks, ReviewPolicy, SecretRules, SessionCall, SharedWorkspace, ShowTask, StartTask,
    TaskId, TaskRecord, TaskState,
};

use crate::asking::ask;

/// The polling interval for a task of another process.
const PAUSE: Duration = Duration::from_millis(100);

/// The tasks of the workspace that a server serves, without secrets.
pub struct ServedTasks {
    workspace: Arc<SharedWorkspace>,
    rules: SecretRules,
    policy: ReviewPolicy,
    front_end: &'static str,
}

impl CommandTasks for ServedTasks {
    fn begin(&self, call: &Call<'_>, command: &ExecuteCommand) -> Result<TaskView, WapError> {
        let rules = self.rules.over(Arc::clone(&self.workspace));
        let id = TaskId::new();
        rules.remember_command(&id.to_string(), command);
        let command = rules.restored_command(command)?;
        let start = StartTask {
            id,
            conversation: call.origin.conversation.0.clone(),
            front_end: self.front_end.to_owned(),
            command: self.workspace.as_run_here(command)?,
            is_reviewed: self.policy != ReviewPolicy::None,
        };
        let task = self.request(&start, call)?;
        Ok(self.view(call, task))
    }

    fn show(&self, call: &Call<'_>, id: &str, longest: Duration) -> Result<Option<TaskView>, WapError> {
        let Ok(id) = id.parse::<TaskId>() else { return Ok(None) };
        let deadline = Instant::now() + longest;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let task = self.request(&ShowTask { id: id.clone(), longest: left }, call)?;
            let Some(task) = task else { return Ok(None) };
            let is_over = matches!(task.state, TaskState::Ended { .. });
            if is_over || Instant::now() >= deadline || call.cancel.is_cancelled() {
                return Ok(Some(self.view(call, task)));
            }
            // The owner is another process, which does not let its clients wait.
            thread::sleep(PAUSE.min(left));
        }
    }

    fn cancel(&self, call: &Call<'_>, id: &str) -> Result<Option<TaskView>, WapError> {
        let Ok(id) = id.parse::<TaskId>() else { return Ok(None) };
        Ok(self.request(&CancelTask(id), call)?.map(|task| self.view(call, task)))
    }

    fn list(&self, call: &Call<'_>, before: Option<&str>, limit: usize) -> Result<Vec<TaskView>, WapError> {
        let before = before.map(str::parse::<TaskId>).transpose().map_err(|_| {
            WapError::new(Reason::InvalidField, "the cursor is none that this server has given")
        })?;
        let tasks = self.request(&ListTasks { before, limit }, call)?;
        Ok(tasks.into_iter().map(|task| self.view(call, task)).collect())
    }
}

impl ServedTasks {
    /// Serves the tasks of a workspace, without the secrets that `rules` recognise. Under any `policy` but
    /// [`ReviewPolicy::None`] a task waits for its review; `front_end` is the channel that the journal names.
    #[must_use]
    pub fn new(
        workspace: Arc<SharedWorkspace>,
        rules: SecretRules,
        policy: ReviewPolicy,
        front_end: &'static str,
    ) -> ServedTasks {
        ServedTasks { workspace, rules, policy, front_end }
    }

    fn request<C: SessionCall>(&self, request: &C, call: &Call<'_>) -> Result<C::Answer, WapError> {
        ask(&self.workspace, &self.rules, request, call)
    }

    fn view(&self, call: &Call<'_>, task: TaskRecord) -> TaskView {
        let progress = match task.state {
            TaskState::Waiting => TaskProgress::Waiting,
            TaskState::Running => TaskProgress::Running,
            TaskState::AwaitsReview { proposal } => {
                TaskProgress::AwaitsReview { proposal: proposal.to_string() }
            }
            TaskState::Ended { outcome } => {
                let rules = self.rules.over(Arc::clone(&self.workspace));
                TaskProgress::Ended(Box::new(rules.masked_outcome(call, &task.id.to_string(), *outcome)))
            }
        };
        let time = |ms| std::time::UNIX_EPOCH + Duration::from_millis(ms);
        TaskView {
            id: task.id.to_string(),
            // It already has placeholders.
            subject: self.rules.mask_rest(&task.subject),
            created: time(task.created_ms),
            updated: time(task.updated_ms),
            progress,
        }
    }
}
