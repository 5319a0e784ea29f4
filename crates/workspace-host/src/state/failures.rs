//! The failures of opening a state folder, for the user of the program.

use std::path::Path;

use change_journal::OpenError;

use crate::failure::{Exit, Failure};

pub(super) fn state_failure(reason: &str, base: &Path) -> Failure {
    Failure::new(Exit::Failed, format!("the state folder {} cannot be used: {reason}", base.display()))
        .advise("choose another one with --base DIR, for instance outside of a read-only workspace")
}

pub(super) fn journal_failure(error: &OpenError, base: &Path) -> Failure {
    let folder = base.display();
    match error {
        OpenError::Held { process_id } => {
            let holder =
                process_id.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"));
            Failure::new(Exit::Held, format!("{holder} is using the state folder {folder}"))
                .advise("stop it first; `agentd sessions`, `show`, `outbox`, `log` and `diff` work meanwhile")
        }
        OpenError::Newer { .. } => Failure::new(Exit::Refused, format!("the state folder {folder}: {error}"))
            .advise("update agentd, or choose another state folder with --base DIR"),
        OpenError::NoSpace => Failure::new(Exit::Failed, format!("the state folder {folder}: {error}"))
            .advise("free some space and try again: nothing is lost"),
        OpenError::Damaged => Failure::new(Exit::Failed, format!("the state folder {folder}: {error}"))
            .advise(
                "`agentd resume` quarantines the damaged journal and imports the sessions from their files",
            ),
        _ => state_failure(&error.to_string(), base),
    }
}
