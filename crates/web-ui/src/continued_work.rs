//! Adopts the work of an agent that continued a conversation, as a run of that conversation.

use cocode_runner::ContinuedWork;
use wap_core::{
    Call, CancelFlag, ConversationId, ExecuteCommand, Origin, Retention, RunKey, Unobserved, WapError,
    Workspace,
};

/// An error of adopting an agent's work; no file was changed.
#[derive(Debug, thiserror::Error)]
pub enum TakeInError {
    /// The command could not be run.
    #[error("the work cannot be taken in: {0}")]
    NotRun(WapError),
    /// Git has refused, for instance because a file has changed since the check.
    #[error("git has not taken the work in: {0}")]
    Refused(String),
}

/// Adopts the work by a confined command of the conversation, so that it is in the journal and is undone with the
/// conversation. Returns the remarks of the command, whose changes may be kept only in part, like those of any command.
///
/// # Errors
///
/// [`TakeInError`]; git adopts the work as a whole or not at all.
pub fn take_in(
    workspace: &dyn Workspace,
    work: &ContinuedWork,
    cancel: &CancelFlag,
) -> Result<Vec<String>, TakeInError> {
    let origin = Origin {
        conversation: ConversationId(work.conversation.clone()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    };
    let request = ExecuteCommand {
        command: work.command(),
        recorded_command: Some(format!("take in the work of {}", work.branch)),
        ..ExecuteCommand::default()
    };
    let call = Call { origin: &origin, cancel, time_left: None };
    let ran = workspace.execute_command(&call, &request, &mut Unobserved).map_err(TakeInError::NotRun)?;
    match ran.exit_code {
        0 => Ok(ran.warnings),
        code => {
            let reason = ran.stderr.lines().next().unwrap_or("no reason was given");
            Err(TakeInError::Refused(format!("{reason} (exit code {code})")))
        }
    }
}
