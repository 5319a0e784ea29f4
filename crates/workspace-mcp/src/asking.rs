//! Calls to the owner of the state folder.

use tagproto::UnobservedExecution;
use wap_core::{Call, Reason, WapError};
use workspace_host::{SecretRules, SessionCall, SharedWorkspace, Watching};

/// Makes a call to the owner of the state folder.
pub(crate) fn ask<C: SessionCall>(
    workspace: &SharedWorkspace,
    rules: &SecretRules,
    request: &C,
    call: &Call<'_>,
) -> Result<C::Answer, WapError> {
    let mut observer = UnobservedExecution;
    let mut watching = Watching::new(&[], &mut observer);
    workspace
        .session_call_for_client(request, call, &mut watching)?
        .map_err(|refusal| WapError::new(Reason::Busy, rules.mask_rest(&refusal.message)))
}
