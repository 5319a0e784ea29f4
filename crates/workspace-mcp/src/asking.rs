//! Calls to the owner of the state folder, and their failures in the words of a client.

use tagproto::UnobservedExecution;
use wap_core::{Call, Reason, WapError};
use workspace_host::{Exit, Failure, SecretRules, SessionCall, SharedWorkspace, Watching};

/// Makes a call to the owner of the state folder.
pub(crate) fn ask<C: SessionCall>(
    workspace: &SharedWorkspace,
    rules: &SecretRules,
    request: &C,
    call: &Call<'_>,
) -> Result<C::Answer, WapError> {
    let mut observer = UnobservedExecution;
    let mut watching = Watching::new(&[], &mut observer);
    match workspace.session_call(request, call, &mut watching) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(refusal)) => Err(WapError::new(Reason::Busy, rules.mask_rest(&refusal.message))),
        Err(failure) => Err(unavailable(&failure)),
    }
}

/// Turns a failure into an error for a client, without the paths that are for the person at the terminal.
pub(crate) fn unavailable(_: &Failure) -> WapError {
    WapError::new(Reason::Busy, "the state folder cannot be used; agentd's standard error says why")
}

/// The same, with the reason where it is about the workspace alone.
pub(crate) fn for_model(failure: &Failure) -> WapError {
    match failure.exit {
        Exit::Refused => WapError::new(Reason::ReadOnly, failure.message.as_str()),
        Exit::Failed => WapError::new(Reason::ReadError, failure.message.as_str()),
        _ => unavailable(failure),
    }
}
