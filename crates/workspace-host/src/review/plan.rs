//! The steps of a proposal, determined without carrying anything out.

use change_review::{
    CommandStep, Content, FileStep, ProposedStep, RecordedStep, RecordingWorkspace, StepEffect, StepRequest,
};
use content_hash::ContentHash;
use local_workspace::{DryWorkspace, PlannedChange};
use tag_session::SessionError;
use tagproto::{Strictness, UnobservedExecution, base_versions, execute, read_in};
use wap_core::{Call, CancelFlag, ConversationId, ExecuteCommand, Origin, Retention, RunKey};

use crate::owner::reply_calls::ApplyReply;
use crate::owner::session_call::SessionRefusal;
use crate::review::carry_out::{make, parsed};
use crate::state::LocalSessions;

/// The steps of a proposal on the current folder.
pub(super) struct Plan {
    pub steps: Vec<ProposedStep>,
    /// A text that differs if the folder has changed where the steps touch it.
    pub basis: String,
}

/// Plans a proposal.
pub(super) fn plan(
    sessions: &LocalSessions,
    conversation: &str,
    content: &Content,
    cancel: &CancelFlag,
) -> Result<Plan, SessionRefusal> {
    let dry = DryWorkspace::new(sessions.engine());
    let recording = RecordingWorkspace::new(&dry);
    // A fresh run: planning must neither be answered from the record nor leave one.
    let run = RunKey::unnumbered(uuid::Uuid::new_v4().to_string());
    let origin = Origin {
        conversation: ConversationId(conversation.to_owned()),
        run,
        step: 0,
        retention: Retention::Process,
    };
    let call = Call { origin: &origin, cancel, time_left: None };
    match content {
        Content::Reply(reply) => plan_reply(sessions, &parsed(reply)?, &recording, &call)?,
        Content::Calls { calls, .. } => {
            make(&recording, conversation, (&uuid::Uuid::new_v4().to_string(), calls), &call);
        }
    }
    let (_, recorded) = recording.into_parts();
    let planned = dry.into_planned();
    let steps: Vec<ProposedStep> = recorded.into_iter().map(|step| planned_step(step, &planned)).collect();
    let basis = basis(&steps);
    Ok(Plan { steps, basis })
}

fn plan_reply(
    sessions: &LocalSessions,
    reply: &ApplyReply,
    recording: &RecordingWorkspace<&DryWorkspace<'_>>,
    call: &Call<'_>,
) -> Result<(), SessionRefusal> {
    let session = sessions.session(reply.reply.session)?;
    let incoming = session.incoming(&reply.reply.text);
    let parsed = read_in(incoming.text().unwrap_or_default(), Strictness::Repair, session.dialect);
    if let Some(refusal) = parsed.refused {
        return Err(SessionError::Refused(refusal).into());
    }
    // The reply holds placeholders instead of secrets.
    let masked = &sessions.workspace().over(recording);
    let base = base_versions(&parsed.items, &session, masked, call).map_err(SessionError::Workspace)?;
    let mut unobserved = UnobservedExecution;
    execute(&parsed.items, session.dialect, base, reply.timeout, masked, call, &mut unobserved)
        .map_err(SessionError::Workspace)?;
    Ok(())
}

/// Returns a step as planned.
fn planned_step(step: RecordedStep, planned: &[PlannedChange]) -> ProposedStep {
    let RecordedStep { step, request, outcome, .. } = step;
    match request {
        StepRequest::Command(command) => command_step(step, &command),
        StepRequest::Change(change) => {
            let planned_change = planned.iter().find(|planned| planned.step == step && outcome.success);
            let file = match planned_change {
                Some(PlannedChange { path, contents: Some((before, after)), obeyed_because, .. }) => {
                    let file = FileStep::between(path, before.as_deref(), after.as_deref());
                    match obeyed_because {
                        Some(reason) => file.with_note(reason),
                        None => file,
                    }
                }
                _ => FileStep { path: change.path().to_owned(), ..FileStep::default() },
            };
            let problem = (!outcome.success).then(|| problem(&outcome.summary));
            ProposedStep { step, title: file.title(), effect: StepEffect::File(file), problem }
        }
    }
}

/// Returns the failure of a step without the lines of the file that an edit quotes. A model may read the proposal, and
/// secrets are not recognised in truncated lines.
pub(super) fn problem(summary: &str) -> String {
    let quotations = [", where line ", ", which has no line "];
    let end = quotations.iter().filter_map(|quotation| summary.find(quotation)).min();
    summary[..end.unwrap_or(summary.len())].to_owned()
}

pub(super) fn command_step(step: u32, command: &ExecuteCommand) -> ProposedStep {
    let ExecuteCommand {
        command, working_directory, background, recorded_command, environment, ready, ..
    } = command.clone();
    // With placeholders instead of secrets, which must not enter the journal.
    let command = recorded_command.unwrap_or(command);
    let title = format!("run {}", command.lines().next().unwrap_or_default());
    let effect = StepEffect::Command(CommandStep {
        command,
        folder: working_directory,
        background,
        environment: environment.unwrap_or_default(),
        ready,
        ..CommandStep::default()
    });
    ProposedStep { step, title, effect, problem: None }
}

fn basis(steps: &[ProposedStep]) -> String {
    let bytes = serde_json::to_vec(steps).expect("steps have string keys");
    ContentHash::of(&bytes).to_string()
}
