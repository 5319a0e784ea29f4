//! Outcomes by step, so that no step runs twice.

use std::collections::HashMap;

use wap_core::{
    ConversationId, ExecuteCommandResponse, FileChange, FileChanged, ModifyFile, Origin, Reason, RunKey,
    WapError, WriteFile,
};

/// The outcome of one step.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Change(Box<FileChange>, Result<FileChanged, WapError>),
    Command(Result<ExecuteCommandResponse, WapError>),
}

/// Every step that was carried out.
#[derive(Default)]
pub(crate) struct Record {
    steps: HashMap<(ConversationId, RunKey, u32), Outcome>,
}

impl Record {
    pub(crate) fn outcome(&self, origin: &Origin) -> Option<Outcome> {
        self.steps.get(&key(origin)).cloned()
    }

    pub(crate) fn add(&mut self, origin: &Origin, outcome: Outcome) {
        self.steps.insert(key(origin), outcome);
    }
}

/// Returns the refusal of a request whose step belongs to another request.
pub(crate) fn other_request(origin: &Origin) -> WapError {
    let text = format!(
        "step {} of this run was made with another request, so nothing was done: give each reply its own run",
        origin.step
    );
    WapError::new(Reason::Conflict, text)
}

/// Returns a change without the versions that it names, for comparison: a repeated call may name others.
pub(crate) fn without_version(change: &FileChange) -> FileChange {
    match change {
        FileChange::Modify(modify) => FileChange::Modify(ModifyFile {
            expected_version: None,
            judged: None,
            view_numbers: None,
            ..modify.clone()
        }),
        FileChange::Write(write) => FileChange::Write(WriteFile { judged: None, ..write.clone() }),
        other @ FileChange::Delete(_) => other.clone(),
    }
}

fn key(origin: &Origin) -> (ConversationId, RunKey, u32) {
    (origin.conversation.clone(), origin.run.clone(), origin.step)
}
