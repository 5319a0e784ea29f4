//! Failed session operations: the text for the user, and the exit code.

use sandbox_fs::FsError;
use tag_session::SessionError;
use wap_core::Reason;

use crate::failure::{Exit, Failure};

/// Explains that a reply was executed although its files could not be written.
pub fn unwritten(error: &FsError) -> Failure {
    Failure::new(Exit::Failed, format!("the reply was executed, but the next message could not be written: {error}"))
        .advise("it is in the journal: `agentd outbox` prints it, and the next `agentd` that starts here writes the file")
}

/// Explains a failure.
#[expect(clippy::needless_pass_by_value, reason = "it is used with map_err")]
pub fn explain(error: SessionError) -> Failure {
    let text = error.to_string();
    match &error {
        SessionError::Unknown { .. } => {
            Failure::new(Exit::Usage, text).advise("`agentd sessions` lists the sessions of this workspace")
        }
        SessionError::AnswerLength { .. } => {
            Failure::new(Exit::Usage, text).advise("put a longer text into a file, and name the file in the answer")
        }
        SessionError::Complete { id } => Failure::new(Exit::Refused, text).advise(format!(
            "continue it with `agentd resume --reopen {id}`, or start another one with `agentd new TASK`"
        )),
        SessionError::Damaged { .. } => {
            Failure::new(Exit::Failed, text).advise("the other sessions are not affected; start a new one")
        }
        SessionError::Refused(_) => {
            Failure::new(Exit::Refused, text).advise("nothing was executed: copy the whole reply again, and save or paste it once more")
        }
        SessionError::OtherSession { quoted, .. } => Failure::new(Exit::Refused, text)
            .advise(format!("apply it with --session {}, or remove its Reply-To line if it is meant here", quoted.session)),
        SessionError::UnknownSession { .. } => Failure::new(Exit::Refused, text).advise(
            "apply it in the workspace of that session, or remove its Reply-To line if it is meant here",
        ),
        SessionError::OtherSequence { .. } => Failure::new(Exit::Refused, text)
            .advise("send the newest message to the model, or execute the reply anyway with `agentd apply FILE --again`"),
        SessionError::MovedOn { .. } => Failure::new(Exit::Refused, text)
            .advise("nothing was executed: another reply was executed meanwhile; send the newest message to the model"),
        SessionError::Taken { .. } => Failure::new(Exit::Refused, text).advise("nothing was executed for this one"),
        SessionError::KnownText { .. } => Failure::new(Exit::Refused, text)
            .advise("nothing was executed; if it is meant once more, use `agentd apply FILE --again`"),
        SessionError::StillHeld { .. } => Failure::new(Exit::Refused, text).advise(
            "send the newest message to the model, which asks it to continue, or execute the complete blocks with \
             `agentd apply FILE --run-complete`",
        ),
        SessionError::HeldHasBegun => Failure::new(Exit::Refused, text).advise(
            "nothing was executed: finish them first with the reply that began them (`agentd apply FILE --run-complete` for \
             the one that was cut off), or execute this one with `agentd apply FILE --again`, which repeats blocks that have \
             run if it continues or repeats them",
        ),
        SessionError::KnownWithoutResults { .. } => Failure::new(Exit::Refused, text).advise(
            "nothing was executed; send the newest message to the model, or execute the reply with \
             `agentd apply FILE --again`",
        ),
        SessionError::KnownUnfinished { sequence } => Failure::new(Exit::Refused, text).advise(format!(
            "its rest was given up when message {sequence} got another reply; `agentd apply FILE --again` executes all of it here"
        )),
        SessionError::Busy => Failure::new(Exit::Held, text).advise("wait until it has ended"),
        SessionError::BegunElsewhere { session } => Failure::new(Exit::Refused, text).advise(format!(
            "continue it with `agentd apply FILE --session {session}`, or execute it here anyway with --again"
        )),
        SessionError::HistoryLost => Failure::new(Exit::Refused, text)
            .advise("look at the workspace first; then `agentd apply FILE --again` executes the reply"),
        SessionError::Unrecorded { .. } => Failure::new(Exit::Failed, text)
            .advise("it was imported from its file after a journal was lost, so there is no transcript of it"),
        SessionError::Empty => Failure::new(Exit::Usage, text).advise("paste the reply of the model and try again"),
        SessionError::Declined => Failure::new(Exit::Refused, text).advise("nothing was executed"),
        SessionError::Interrupted => Failure::new(Exit::Interrupted, text)
            .advise("what was done is recorded; apply the same reply again for the rest"),
        // The special reasons come before the general arm of the workspace's failures.
        SessionError::Workspace(error) if error.reason() == Reason::Cancelled => {
            Failure::new(Exit::Interrupted, "stopped").advise("apply the same reply again for the rest")
        }
        SessionError::Workspace(error) if error.reason() == Reason::Timeout => {
            Failure::new(Exit::TimedOut, text).advise("what was done is recorded; apply the same reply again for the rest")
        }
        SessionError::Files(FsError::RootGone { replaced }) => {
            let became = if *replaced { "replaced" } else { "removed" };
            Failure::new(Exit::Failed, format!("the state folder, or a folder in it, was {became} while it was in use"))
                .advise("put it back where it was, with its journal, and start again; without it a new one is made")
        }
        SessionError::Files(FsError::IsLink { .. } | FsError::NotAFile { .. } | FsError::NotAFolder { .. }) => {
            Failure::new(Exit::Failed, text)
                .advise("remove it from the state folder and try again: the journal has what belongs there")
        }
        SessionError::Workspace(_) | SessionError::Journal(_) | SessionError::Files(_) => Failure::new(Exit::Failed, text)
            .advise("what was done is recorded; when the cause is removed, apply the same reply again for the rest"),
        _ => Failure::new(Exit::Failed, text),
    }
}

/// Returns the failure of a command that needs an unfinished session if there is none.
pub fn nothing_to_resume() -> Failure {
    Failure::new(Exit::Usage, "there is no unfinished session here")
        .advise("start one with `agentd new TASK`; `agentd demo` shows an example")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_has_its_own_exit_code() {
        let exit = |reason| explain(SessionError::Workspace(wap_core::WapError::new(reason, "why"))).exit;
        assert_eq!(exit(Reason::Timeout), Exit::TimedOut);
        assert_eq!(exit(Reason::Cancelled), Exit::Interrupted);
        assert_eq!(exit(Reason::ReadError), Exit::Failed);
    }
}
