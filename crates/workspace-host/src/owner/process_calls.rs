//! Calls about the background processes of a workspace, for the person at the terminal.

use local_workspace::ProcessStatus;
use serde::{Deserialize, Serialize};
use tagproto::ExecutionObserver;
use wap_core::{Call, ConversationId, StopProcess, StopProcessResponse, Tool, Workspace};

use crate::failure::{Exit, Failure};
use crate::owner::session_call::{Caller, SessionCall, SessionRefusal};
use crate::state::LocalSessions;

/// Lists the background processes of all conversations.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ListProcesses;

impl SessionCall for ListProcesses {
    const METHOD: &'static str = "agentd/listProcesses";
    const TOOL: Tool = Tool::ReadFile;
    const IS_CONFINED: bool = false;
    type Answer = Vec<ProcessStatus>;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        _: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<Vec<ProcessStatus>, SessionRefusal> {
        Ok(sessions.workspace().inner().processes())
    }
}

/// Ends one of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StopListedProcess {
    /// The conversation that it belongs to.
    pub conversation: ConversationId,
    /// Its name.
    pub name: String,
}

impl SessionCall for StopListedProcess {
    const METHOD: &'static str = "agentd/stopListedProcess";
    const TOOL: Tool = Tool::StopProcess;
    const IS_CONFINED: bool = false;
    type Answer = StopProcessResponse;

    fn carry_out(
        &self,
        sessions: &LocalSessions,
        _: Caller,
        call: &Call<'_>,
        _: &mut dyn ExecutionObserver,
    ) -> Result<StopProcessResponse, SessionRefusal> {
        let mut origin = call.origin.clone();
        origin.conversation = self.conversation.clone();
        let call = Call { origin: &origin, ..*call };
        let request = StopProcess { name: self.name.clone() };
        let stopped = sessions.workspace().inner().stop_process(&call, &request);
        stopped.map_err(|error| Failure::new(Exit::Failed, error.message()).into())
    }
}
