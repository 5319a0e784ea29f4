//! The list of background processes, for a person.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use wap_core::ConversationId;

use crate::engine::LocalWorkspace;
use crate::processes::registry::Entry;

/// One background process of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessStatus {
    /// The client or session that has started it.
    pub conversation: ConversationId,
    /// Its name, unique within the conversation.
    pub name: String,
    /// The beginning of its command, in one line.
    pub command: String,
    /// True while it runs.
    pub is_running: bool,
    /// The bytes that it has printed so far.
    pub output_bytes: u64,
}

impl LocalWorkspace {
    /// Returns the background processes of all conversations, running ones and those that have ended last.
    pub fn processes(&self) -> Vec<ProcessStatus> {
        let status = |(conversation, entry): (ConversationId, Arc<Entry>)| ProcessStatus {
            conversation,
            name: entry.name.clone(),
            command: entry.command.clone(),
            is_running: entry.is_running(),
            output_bytes: entry.process.output().total_bytes,
        };
        self.processes.all().into_iter().map(status).collect()
    }
}
