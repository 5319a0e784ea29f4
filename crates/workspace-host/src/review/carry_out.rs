//! Carrying out the chosen part of a proposal, in the process that owns the folder or on an overlay.

use std::collections::BTreeMap;

use change_review::{
    Content, ProposedCall, RecordedStep, RecordingWorkspace, ReplayedWorkspace, Resolution, SelectedWorkspace,
};
use local_workspace::ExpectingWorkspace;
use serde::{Deserialize, Serialize};
use tagproto::ExecutionObserver;
use wap_core::{
    Call, ConversationId, ExecuteCommandResponse, FileChanged, FileVersion, Origin, Retention, RunKey,
    Unobserved, WapError, Workspace,
};

use crate::failure::{Exit, Failure};
use crate::owner::reply_calls::ApplyReply;
use crate::owner::session_call::SessionRefusal;
use crate::state::LocalSessions;

/// The sequence of the runs of calls: they are numbered, so that their run stays open between calls.
const SEQUENCE: u32 = 1;

/// The chosen part of a proposal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CarryOut {
    /// The session or the client that proposed it.
    pub conversation: String,
    /// The reply or the calls that were proposed.
    pub content: Content,
    /// The choice.
    pub resolution: Resolution,
    /// The review for the model.
    pub review: String,
    /// The steps as they were on the adopted overlay: they are answered like this and not carried out again.
    #[serde(default)]
    pub adopted: Option<Vec<RecordedStep>>,
    /// The files that the steps were planned on ([`files_before`](change_review::files_before)): a step on a different
    /// file is refused.
    #[serde(default)]
    pub expected: BTreeMap<String, Option<String>>,
}

/// The outcome of carrying it out.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CarriedOut {
    /// The steps with their outcomes.
    pub steps: Vec<RecordedStep>,
    /// The answers to calls, in their order; empty for a reply.
    pub answers: Vec<CallAnswer>,
    /// True if it was carried out by an earlier call, and something of it succeeded.
    #[serde(default)]
    pub has_landed_before: bool,
}

/// The answer to one call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CallAnswer {
    /// The answers to the changes of a batch.
    Changes(Result<Vec<Result<FileChanged, WapError>>, WapError>),
    /// The answer to a command.
    Command(Result<ExecuteCommandResponse, WapError>),
}

impl CarryOut {
    /// Carries it out.
    ///
    /// # Errors
    ///
    /// Those of applying a reply. The failure of a call is an answer.
    pub fn carry_out(
        &self,
        sessions: &LocalSessions,
        call: &Call<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<CarriedOut, SessionRefusal> {
        let view: Box<dyn Workspace + '_> = match &self.adopted {
            Some(steps) => Box::new(ReplayedWorkspace::new(sessions.engine(), steps)),
            None => {
                let files = self.expected.clone().into_iter();
                let expected = files.map(|(path, hash)| (path, hash.map(FileVersion))).collect();
                let engine = ExpectingWorkspace::new(sessions.engine(), expected);
                Box::new(SelectedWorkspace::new(engine, self.resolution.clone()))
            }
        };
        let view = RecordingWorkspace::new(&*view);
        let mut has_landed_before = false;
        let answers = match &self.content {
            Content::Reply(reply) => {
                // A person has reviewed its steps: no further confirmation is needed, not even after a
                // journal was lost.
                let reply = ApplyReply { confirmed: true, ..parsed(reply)? };
                // The model of a session sees no secrets; a client's adapter is on the client's side.
                let masked = sessions.workspace().over(&view);
                let applied = reply.apply_through(sessions, Some(&masked), &self.review, call, observer)?;
                has_landed_before =
                    !applied.is_executed && applied.results.iter().any(|result| result.success);
                Vec::new()
            }
            Content::Calls { run, calls } => make(&view, &self.conversation, (run, calls), call),
        };
        Ok(CarriedOut { steps: view.into_parts().1, answers, has_landed_before })
    }
}

/// Reads the reply of a proposal.
pub(super) fn parsed(reply: &serde_json::Value) -> Result<ApplyReply, SessionRefusal> {
    let read = serde_json::from_value(reply.clone());
    read.map_err(|error| Failure::new(Exit::Failed, format!("the proposal cannot be read: {error}")).into())
}

/// Returns the origin of the calls of a proposal.
pub(super) fn origin(conversation: &str, run: &str) -> Origin {
    Origin {
        conversation: ConversationId(conversation.to_owned()),
        run: RunKey { sequence: SEQUENCE, digest: run.to_owned() },
        step: 0,
        retention: Retention::Process,
    }
}

/// Makes the calls of a proposal, one after the other.
pub(super) fn make(
    workspace: &dyn Workspace,
    conversation: &str,
    (run, calls): (&str, &[ProposedCall]),
    call: &Call<'_>,
) -> Vec<CallAnswer> {
    let origin = origin(conversation, run);
    let mut step = 0;
    let answers = calls.iter().map(|proposed| {
        let origin = origin.at_step(step);
        let call = Call { origin: &origin, ..*call };
        match proposed {
            ProposedCall::Changes(changes) => {
                step += u32::try_from(changes.len()).unwrap_or(u32::MAX);
                CallAnswer::Changes(workspace.change_files(&call, changes))
            }
            ProposedCall::Command(command) => {
                step += 1;
                CallAnswer::Command(workspace.execute_command(&call, command, &mut Unobserved))
            }
        }
    });
    answers.collect()
}
