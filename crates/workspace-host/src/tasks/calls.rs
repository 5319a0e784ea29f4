//! The calls about tasks, as plain values that the owner of the state folder carries out for every process.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tagproto::ExecutionObserver;
use wap_core::{Call, ExecuteCommand, Tool};

use super::{TaskId, TaskRecord};
use crate::failure::{Exit, Failure};
use crate::owner::session_call::{Caller, SessionCall, SessionRefusal};
use crate::state::LocalSessions;

/// The longest time for which one call waits for the end of a task; a caller that waits longer calls again.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// The longest page of a list.
const MOST_LISTED: usize = 100;

/// Begins a task. Its command runs after this call was answered, even if the caller ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StartTask {
    /// The id, chosen by the caller, so that a repeated call after a lost answer does not begin a second task.
    pub id: TaskId,
    /// The client that begins it.
    pub conversation: String,
    /// The front end that it uses.
    pub front_end: String,
    /// The command; one that is left running in the background is refused.
    pub command: ExecuteCommand,
    /// True if a person reviews the command first.
    pub is_reviewed: bool,
}

impl SessionCall for StartTask {
    const METHOD: &'static str = "agentd/startTask";
    // Beginning a task is short: it must not queue after commands that wait for their turn.
    const TOOL: Tool = Tool::WriteFile;
    const BEGINS_COMMAND: bool = true;
    type Answer = TaskRecord;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<TaskRecord, SessionRefusal> {
        if self.command.background.is_some() {
            let message =
                "a command that is left running in the background cannot be a task: leave out one of the two";
            return Err(Failure::new(Exit::Usage, message).into());
        }
        let tasks = sessions.tasks();
        tasks.start(sessions, self, call)?;
        tasks
            .task(sessions, &self.id)?
            .ok_or_else(|| Failure::new(Exit::Failed, "too many newer tasks were begun meanwhile").into())
    }
}

/// Returns a task, after waiting for its end for a while. In processes other than the owner of the state folder it does
/// not wait.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShowTask {
    /// The task.
    pub id: TaskId,
    /// The longest wait; at most 20 seconds.
    pub longest: Duration,
}

impl SessionCall for ShowTask {
    const METHOD: &'static str = "agentd/showTask";
    const TOOL: Tool = Tool::ReadFile;
    const IS_CONFINED: bool = false;
    /// `None` if there is no such task, or no longer.
    type Answer = Option<TaskRecord>;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        caller: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Option<TaskRecord>, SessionRefusal> {
        let longest = match caller {
            Caller::Owner => self.longest.min(LONGEST_WAIT),
            // The threads for other processes are few, and a task may take an hour: a client asks again.
            Caller::Client => Duration::ZERO,
        };
        sessions.tasks().follow(sessions, &self.id, longest, &|| call.cancel.is_cancelled())
    }
}

/// Cancels a task; a finished one stays unchanged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CancelTask(pub TaskId);

impl SessionCall for CancelTask {
    const METHOD: &'static str = "agentd/cancelTask";
    const TOOL: Tool = Tool::WriteFile;
    const IS_CONFINED: bool = false;
    /// `None` if there is no such task, or no longer.
    type Answer = Option<TaskRecord>;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Option<TaskRecord>, SessionRefusal> {
        sessions.tasks().cancel(sessions, &self.0, call)?;
        sessions.tasks().task(sessions, &self.0)
    }
}

/// Lists tasks, the newest first, without their outputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListTasks {
    /// Only tasks that were begun before this one.
    pub before: Option<TaskId>,
    /// The maximum number of tasks; at most 100.
    pub limit: usize,
}

impl SessionCall for ListTasks {
    const METHOD: &'static str = "agentd/listTasks";
    const TOOL: Tool = Tool::ReadFile;
    const IS_CONFINED: bool = false;
    type Answer = Vec<TaskRecord>;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        _: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Vec<TaskRecord>, SessionRefusal> {
        sessions.tasks().list(sessions, self.before.as_ref(), self.limit.clamp(1, MOST_LISTED))
    }
}
