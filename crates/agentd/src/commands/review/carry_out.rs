//! `agentd carry-out`: what a reviewer has chosen, carried out on the overlay of a trial.
//!
//! Only this program starts it, with overlays over the folder and its state.

use std::io::Read;

use tagproto::UnobservedExecution;
use wap_core::{Call, ConversationId, Limits, Origin, Retention, RunKey};
use workspace_host::review::CarryOut;
use workspace_host::{SessionRefusal, WorkspacePaths, state};

use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// Carries out the request on standard input and prints the result.
pub(crate) fn carry_out(common: &CommonOptions, console: Console) -> Outcome {
    let cancel = cancel_flag()?;
    let unreadable = |why: String| Failure::new(Exit::Usage, format!("the request cannot be read: {why}"));
    let mut request = Vec::new();
    std::io::stdin()
        .lock()
        .take(Limits::MAX_MESSAGE_BYTES)
        .read_to_end(&mut request)
        .map_err(|error| unreadable(error.to_string()))?;
    let request: CarryOut =
        serde_json::from_slice(&request).map_err(|error| unreadable(error.to_string()))?;
    let host = common.host();
    let opened = state::open(&host, &WorkspacePaths::find(&host)?, &console.shared())?;
    // The calls have their own origins; this one is for everything else.
    let origin = Origin {
        conversation: ConversationId(request.conversation.clone()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    };
    let call = Call { origin: &origin, cancel: &cancel, time_left: None };
    let carried =
        request.carry_out(&opened, &call, &mut UnobservedExecution).map_err(SessionRefusal::into_failure)?;
    console.json_result(&carried);
    Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done })
}
