//! The call that describes the work of a conversation for an agent that continues it.

use serde::{Deserialize, Serialize};
use tagproto::{ExecutionObserver, Handover};
use wap_core::{Call, CancelFlag, Tool};

use crate::history::work_so_far::work_so_far;
use crate::owner::session_call::{Caller, SessionCall, SessionRefusal};
use crate::state::LocalSessions;

/// Describes the work of a conversation: its task, its commands with their results, and its differences.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DescribeWork {
    /// The conversation: a session, or a client as the log names it.
    pub from: String,
}

impl SessionCall for DescribeWork {
    const METHOD: &'static str = "agentd/describeWork";
    const TOOL: Tool = Tool::ReadFile;
    const IS_CONFINED: bool = false;
    type Answer = Handover;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Handover, SessionRefusal> {
        describe(sessions, &self.from, None, call.cancel)
    }
}

/// Describes the work of a conversation for a model, within a part of a budget of tokens; without secrets and files of
/// credentials.
pub(super) fn describe(
    sessions: &LocalSessions,
    from: &str,
    budget: Option<u32>,
    cancel: &CancelFlag,
) -> Result<Handover, SessionRefusal> {
    work_so_far(sessions.journal_reader(), from, budget, cancel, sessions.rules())
}
