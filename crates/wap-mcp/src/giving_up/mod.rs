//! Calls that clients cancel, and questions that the server withdraws.

mod withdrawal;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use tokio::sync::oneshot;
use wap_core::{CancelFlag, Reason, WapError};

pub(crate) use withdrawal::Withdrawal;

/// Cancels a call when its client stops waiting for the answer.
pub(crate) struct CancelOnDrop(pub(crate) CancelFlag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Waits for an answer. By the protocol, a client that cancels does not receive one; the wait still lasts until its call has
/// ended.
pub(crate) async fn wait<T>(
    mut answered: oneshot::Receiver<Result<T, WapError>>,
    cancel: &CancelFlag,
    context: &RequestContext<RoleServer>,
) -> Result<T, WapError> {
    let answer = tokio::select! {
        answer = &mut answered => answer,
        // Still await the answer: a command that is being killed holds its files until it has ended.
        () = context.ct.cancelled() => {
            cancel.cancel();
            answered.await
        }
    };
    answer.unwrap_or_else(|_| {
        Err(WapError::new(Reason::ReadError, "agentd has a fault and could not answer this call"))
    })
}
