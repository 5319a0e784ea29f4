//! Trying a choice out.

use std::collections::BTreeMap;

use change_journal::{ContentHash, Journal, JournalReader, RecordedChange, RunNumber};
use change_review::{
    CommandStep, Content, FileChangeKind, FileStep, Proposal, ProposalId, ProposedStep, QueueError,
    RecordedStep, Resolution, Selection, StepEffect, StepRequest, StepVerdict, Tried,
};
use local_workspace::PlannedChange;
use wap_core::{Call, Reason, WapError};

use crate::failure::{Exit, Failure};
use crate::owner::reply_calls::ApplyReply;
use crate::owner::session_call::SessionRefusal;
use crate::review::carry_out::{CarriedOut, CarryOut, origin, parsed};
use crate::review::plan::{command_step, plan, problem};
use crate::review::trial_process::TrialFolder;
use crate::review::trying::Trying;
use crate::review::{HeldReview, Reviews};
use crate::state::LocalSessions;

impl Reviews {
    /// Tries a choice on an overlay, keeps the overlay for landing, and returns the outcome. An earlier trial of the
    /// proposal is discarded. While the same choice is being tried, this waits for that trial and returns its outcome.
    ///
    /// # Errors
    ///
    /// [`Exit::Missing`] if overlays are impossible, a refusal while another choice is being tried, and failures of the
    /// process that carries it out.
    pub(crate) fn try_out(
        &self,
        sessions: &LocalSessions,
        id: ProposalId,
        selection: &Selection,
        call: &Call<'_>,
    ) -> Result<Tried, SessionRefusal> {
        let proposal = self.current(sessions, id, call.cancel)?;
        // The trial of a proposal that is about to land must not be replaced.
        if !proposal.is_pending() {
            return Err(QueueError::Decided { id }.into());
        }
        let selection = selection.normal(&proposal.steps);
        let resolution = Resolution::of(&selection, &proposal.steps);
        let Some(_trying) = Trying::begin(self, id, &resolution, call.cancel)? else {
            let same = self.queue.tried(id)?.filter(|tried| tried.resolution == resolution);
            return same.ok_or_else(|| {
                Failure::new(Exit::Failed, "its trial is over: another window tries it")
                    .advise("try it again")
                    .into()
            });
        };
        self.held().remove(&id);
        if leaves_running(&proposal, &selection) {
            let message = "a background process cannot be tried, since it would end with the trial";
            return Err(Failure::new(Exit::Failed, message)
                .advise("leave it out and try the rest, or land it without other commands, which starts it")
                .into());
        }
        let arguments = self.arguments.as_ref().ok_or_else(|| {
            Failure::new(Exit::Missing, "this program cannot be started again to try something out")
        })?;
        // Planned before the trial begins, so that a change of the folder in between is noticed.
        let basis = plan(sessions, &proposal.conversation, &proposal.content, call.cancel)?.basis;
        let run_origin = self.run_origin(sessions, &proposal)?;
        let run_call = Call { origin: &run_origin, ..*call };
        let trial = sessions.engine().begin_trial(&run_call).map_err(|error| unavailable(&error))?;
        let folder = TrialFolder::make(sessions, &self.paths, &trial)?;
        let request = CarryOut {
            conversation: proposal.conversation.clone(),
            content: without_file(&proposal.content)?,
            resolution: resolution.clone(),
            review: String::new(),
            adopted: None,
            expected: BTreeMap::new(),
        };
        let request = serde_json::to_vec(&request).expect("requests have string keys");
        let mut words = arguments.clone();
        words.push("carry-out".into());
        let printed = folder.run(&self.paths, &words, &request, call.cancel)?;
        let unreadable = |why: String| Failure::new(Exit::Failed, format!("the trial cannot be read: {why}"));
        let carried: CarriedOut =
            serde_json::from_slice(&printed).map_err(|error| unreadable(error.to_string()))?;
        let changes = trial.changes().map_err(|error| unreadable(error.to_string()))?;
        let journal =
            Journal::open_read_only(&folder.journal()).map_err(|error| unreadable(error.to_string()))?;
        let tried = Tried {
            selection,
            resolution: resolution.clone(),
            steps: carried.steps.iter().map(|step| step.outcome.clone()).collect(),
            files: changes.iter().map(net_difference).collect(),
            is_held: true,
        };
        // Only a trial of everything determines the steps of the proposal.
        let steps = match resolution.0.is_empty() {
            true => Some(real_steps(&journal, trial.run(), &carried.steps, &proposal.steps)?),
            false => None,
        };
        // Under one lock: otherwise another window could see the tried proposal without its trial, and plan it again.
        let mut held = self.held();
        self.queue.keep_trial(id, &tried, steps)?;
        held.insert(id, HeldReview { resolution, basis, steps: carried.steps, trial: trial.hold(), folder });
        Ok(tried)
    }

    /// Returns the origin of the calls with which the proposal is carried out.
    pub(super) fn run_origin(
        &self,
        sessions: &LocalSessions,
        proposal: &Proposal,
    ) -> Result<wap_core::Origin, SessionRefusal> {
        Ok(match &proposal.content {
            Content::Reply(reply) => {
                let reply = parsed(reply)?;
                let mut origin = sessions.call_origin(reply.reply.session, &reply.reply.text)?;
                // The sequence of the message that it answers, even if the session has moved on.
                origin.run.sequence = reply.answering;
                origin
            }
            Content::Calls { run, .. } => origin(&proposal.conversation, run),
        })
    }
}

/// Returns a content whose reply has no file: a trial must not move one out of the inbox.
fn without_file(content: &Content) -> Result<Content, SessionRefusal> {
    Ok(match content {
        Content::Reply(reply) => {
            let reply = ApplyReply { file: None, ..parsed(reply)? };
            Content::Reply(serde_json::to_value(reply).expect("replies have string keys"))
        }
        calls @ Content::Calls { .. } => calls.clone(),
    })
}

/// Returns the steps with their real results.
fn real_steps(
    journal: &JournalReader,
    run: RunNumber,
    carried: &[RecordedStep],
    planned: &[ProposedStep],
) -> Result<Vec<ProposedStep>, SessionRefusal> {
    let failed = |error: change_journal::JournalError| {
        SessionRefusal::from(Failure::new(Exit::Failed, format!("the trial cannot be read: {error}")))
    };
    let changes = journal.changes_of_run(run).map_err(failed)?;
    carried
        .iter()
        .map(|carried| {
            let step = carried.step;
            let mut of_step = changes.iter().filter(|change| change.step == step);
            match &carried.request {
                StepRequest::Command(command) => {
                    let effects: Result<Vec<FileStep>, _> =
                        of_step.map(|change| difference(journal, change).map_err(failed)).collect();
                    let mut proposed = command_step(step, command);
                    if let StepEffect::Command(command) = &mut proposed.effect {
                        list(command, effects?);
                    }
                    Ok(proposed)
                }
                StepRequest::Change(change) => {
                    let file = match of_step.next_back() {
                        Some(change) => difference(journal, change).map_err(failed)?,
                        None => FileStep { path: change.path().to_owned(), ..FileStep::default() },
                    };
                    let planned = planned.iter().find(|planned| planned.step == step);
                    let note = planned.and_then(|planned| match &planned.effect {
                        StepEffect::File(file) => file.note.as_deref(),
                        StepEffect::Command(_) => None,
                    });
                    let file = match note {
                        Some(note) if file.note.as_deref() != Some(note) => file.with_note(note),
                        _ => file,
                    };
                    let outcome = &carried.outcome;
                    let problem = (!outcome.success).then(|| problem(&outcome.summary));
                    Ok(ProposedStep { step, title: file.title(), effect: StepEffect::File(file), problem })
                }
            }
        })
        .collect()
}

/// The maximum number of files that are listed as changed by one command.
const MOST_EFFECTS: usize = 200;

/// Lists the changes of a command. Unlisted ones are covered by a digest: nothing else may land under the same mark.
fn list(command: &mut CommandStep, mut effects: Vec<FileStep>) {
    if effects.len() > MOST_EFFECTS {
        let others = effects.split_off(MOST_EFFECTS);
        let bytes = serde_json::to_vec(&others).expect("steps have string keys");
        command.unlisted = ContentHash::of(&bytes).to_string();
    }
    command.effects = effects;
}

/// Returns a change with its contents, as far as the journal holds them.
fn difference(
    journal: &JournalReader,
    change: &RecordedChange,
) -> Result<FileStep, change_journal::JournalError> {
    let path = String::from_utf8_lossy(&change.path).into_owned();
    let content = |entry: &Option<change_journal::Entry>| {
        let hash = entry.as_ref().and_then(|entry| entry.content);
        hash.map_or(Ok(None), |hash| journal.content(&hash))
    };
    let (before, after) = (content(&change.before)?, content(&change.after)?);
    let is_missing =
        (change.before.is_some() && before.is_none()) || (change.after.is_some() && after.is_none());
    if is_missing {
        let kind = FileChangeKind::between(change.before.is_some(), change.after.is_some());
        let hash = |entry: &Option<change_journal::Entry>| {
            entry.as_ref().and_then(|entry| entry.content).map_or(String::new(), |hash| hash.to_string())
        };
        let mark = format!("{} {}", hash(&change.before), hash(&change.after));
        let file = FileStep { path, kind, mark, ..FileStep::default() };
        return Ok(file.with_note("its content is not kept"));
    }
    Ok(FileStep::between(path, before.as_deref(), after.as_deref()))
}

/// Returns the difference between the folder and the overlay at one path.
fn net_difference(change: &PlannedChange) -> FileStep {
    let file = match &change.contents {
        Some((before, after)) => FileStep::between(&change.path, before.as_deref(), after.as_deref()),
        None => {
            // Too large to be kept, or not a file on both sides: only the kind is known.
            let kind = match change.removes_a_file {
                true => FileChangeKind::Deleted,
                false => FileChangeKind::Changed,
            };
            let step = FileStep { path: change.path.clone(), kind, ..FileStep::default() };
            step.with_note(change.diff.trim_end())
        }
    };
    match &change.obeyed_because {
        Some(reason) => file.with_note(reason),
        None => file,
    }
}

/// Checks whether a choice leaves a process running.
fn leaves_running(proposal: &Proposal, selection: &Selection) -> bool {
    proposal.steps.iter().any(|step| {
        matches!(&step.effect, StepEffect::Command(command) if command.background.is_some())
            && *selection.verdict(step.step) == StepVerdict::Take
    })
}

fn unavailable(error: &WapError) -> Failure {
    let exit = match error.reason() {
        Reason::ReadOnly => Exit::Refused,
        Reason::Cancelled => Exit::Interrupted,
        _ => Exit::Missing,
    };
    Failure::new(exit, error.message().to_owned())
}

#[cfg(test)]
mod tests {
    use change_review::{FileStep, ProposedStep, StepEffect, steps_mark};
    use wap_core::ExecuteCommand;

    use super::{MOST_EFFECTS, command_step, list};

    /// Returns the step of a command that writes many files, and last of all one more.
    fn step(files: usize, last: FileStep) -> ProposedStep {
        let command = ExecuteCommand { command: "make".to_owned(), ..ExecuteCommand::default() };
        let mut step = command_step(0, &command);
        let StepEffect::Command(command) = &mut step.effect else { unreachable!("it runs a command") };
        let files = (0..files).map(|file| FileStep::between(format!("a/{file}"), None, Some(b"new")));
        list(command, files.chain([last]).collect());
        step
    }

    #[test]
    fn the_mark_of_the_steps_is_about_changes_that_are_not_listed_too() {
        let deleted = || FileStep::between("z", Some(b"old"), None);
        let changed = || FileStep::between("z", Some(b"old"), Some(b"new"));
        for files in [0, MOST_EFFECTS - 1, MOST_EFFECTS, MOST_EFFECTS * 2] {
            let marks = [deleted(), changed(), deleted()].map(|last| steps_mark(&[step(files, last)]));
            assert_ne!(marks[0], marks[1], "{files}");
            assert_eq!(marks[0], marks[2], "{files}");
        }
    }
}
