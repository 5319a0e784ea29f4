//! The plan of a reply: its effects, determined without carrying anything out.

use std::time::Duration;

use local_workspace::DryWorkspace;
use serde::{Deserialize, Serialize};
use tag_session::SessionError;
use tagproto::{Block, CommandResult, ExecutionObserver, Item, Strictness, base_versions, execute, read_in};
use wap_core::{Call, CancelFlag, ConversationId, FileChanged, Origin, Retention, RunKey};

use crate::owner::reply_calls::SessionReply;
use crate::state::LocalSessions;

/// The effects that a reply would have.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReplyPlan {
    /// `false` if it was executed before, so that applying it would do nothing.
    pub would_execute: bool,
    /// True if no part of it would be carried out, since it ends inside a block or does not continue a reply that did.
    pub is_held: bool,
    /// One for each block.
    pub lines: Vec<PlanLine>,
}

/// The effect that a block would have.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanLine {
    /// The kind of block.
    pub command_type: String,
    /// The summary of its result; for a command, the text of the command, and for the end of a process its name.
    pub summary: String,
    /// True if it would succeed; always true for commands and for ends of processes.
    pub success: bool,
    /// The output of its result.
    pub output: String,
    /// The change of its file as a unified diff; empty if there is none.
    pub diff: String,
}

/// Plans every block, as far as its result can be determined.
pub(crate) fn plan(
    sessions: &LocalSessions,
    reply: &SessionReply,
    timeout: Duration,
    cancel: &CancelFlag,
) -> Result<ReplyPlan, SessionError> {
    let SessionReply { session, text, again, run_complete } = reply;
    let would_execute = match sessions.would_execute(*session, text, *again, *run_complete) {
        // Its complete blocks may still be executed, and a caller offers that for a reply that is held.
        Err(SessionError::StillHeld { .. }) => false,
        state => state?,
    };
    let session = sessions.session(*session)?;
    let incoming = session.incoming(text);
    if incoming.is_held(*run_complete) {
        return Ok(ReplyPlan { would_execute, is_held: true, lines: Vec::new() });
    }
    let reply = read_in(incoming.text().unwrap_or_default(), Strictness::Repair, session.dialect);
    if let Some(refusal) = reply.refused {
        return Err(SessionError::Refused(refusal));
    }
    let dry = sessions.workspace().over(DryWorkspace::new(sessions.workspace().inner()));
    // A fresh run: planning must neither be answered from the record of the reply nor leave one.
    let origin = Origin {
        conversation: ConversationId(session.session_id.to_string()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    };
    let call = Call { origin: &origin, cancel, time_left: None };
    let base = base_versions(&reply.items, &session, &dry, &call).map_err(SessionError::Workspace)?;
    let mut lines = Lines(Vec::new());
    execute(&reply.items, session.dialect, base, timeout, &dry, &call, &mut lines)
        .map_err(SessionError::Workspace)?;
    // The dry run lists its changes in the order of the blocks that made them.
    let mut diffs = dry.into_inner().into_planned().into_iter();
    for (line, changed) in &mut lines.0 {
        if *changed && let Some(change) = diffs.next() {
            line.diff = change.diff;
        }
    }
    Ok(ReplyPlan {
        would_execute,
        is_held: false,
        lines: lines.0.into_iter().map(|(line, _)| line).collect(),
    })
}

/// Collects the results, each with a flag: true if it changed a file.
struct Lines(Vec<(PlanLine, bool)>);

impl ExecutionObserver for Lines {
    fn block_finished(
        &mut self,
        _: usize,
        item: &Item<'_>,
        result: &CommandResult,
        changed: Option<&FileChanged>,
    ) {
        // The result of a command, or of ending one, cannot be determined without carrying it out.
        let would = match item {
            Item::Block(block) => match &block.value {
                Block::RunCommand { command, .. } => Some(format!("Would run '{command}'")),
                Block::StopProcess { name } => Some(format!("Would stop process '{name}'")),
                _ => None,
            },
            Item::Error(_) => None,
        };
        let line = PlanLine {
            command_type: result.command_type.to_string(),
            success: result.success || would.is_some(),
            output: if would.is_some() { String::new() } else { result.text().into_owned() },
            summary: would.unwrap_or_else(|| result.summary.clone()),
            diff: String::new(),
        };
        self.0.push((line, changed.is_some()));
    }
}
