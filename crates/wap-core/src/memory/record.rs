//! What was carried out, by step, so that it is not carried out again.

use std::collections::HashMap;

use crate::{ConversationId, ExecuteCommandResponse, FileChanged, Origin, Reason, RunKey, WapError};

/// The outcome of one step.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    Change(Result<FileChanged, WapError>),
    Command(Result<ExecuteCommandResponse, WapError>),
}

/// Every step that was carried out.
#[derive(Default)]
pub(super) struct Record {
    steps: HashMap<(ConversationId, RunKey, u32), Outcome>,
}

impl Record {
    pub(super) fn outcome(&self, origin: &Origin) -> Option<Outcome> {
        self.steps.get(&key(origin)).cloned()
    }

    pub(super) fn add(&mut self, origin: &Origin, outcome: Outcome) {
        self.steps.insert(key(origin), outcome);
    }
}

/// The error for a step that was something else when it was carried out.
pub(super) fn other_step(origin: &Origin) -> WapError {
    let text = format!("step {} of this run was another call when it was carried out", origin.step);
    WapError::new(Reason::Conflict, text)
}

fn key(origin: &Origin) -> (ConversationId, RunKey, u32) {
    (origin.conversation.clone(), origin.run.clone(), origin.step)
}
