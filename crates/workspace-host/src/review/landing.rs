//! Landing a choice, or sending a proposal back.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use change_journal::{ContentHash, RunKey, RunState};
use change_review::{
    Content, Decision, Draft, NewProposal, Proposal, ProposalId, ProposedStep, QueueError, RecordedStep,
    Resolution, Selection, State, StepEffect, StepVerdict, files_before, review_text, steps_mark,
};
use local_workspace::ADOPTION_STEP;
use tag_session::SessionError;
use tagproto::{ExecutionObserver, UnobservedExecution};
use wap_core::{Call, CancelFlag};

use crate::failure::{Exit, Failure};
use crate::owner::reply_calls::SessionReply;
use crate::owner::session_call::SessionRefusal;
use crate::review::carry_out::{CarriedOut, CarryOut, parsed};
use crate::review::plan::plan;
use crate::review::{HeldReview, Reviews};
use crate::secret_use::SecretMapFile;
use crate::state::LocalSessions;

/// The files that the steps were planned on.
type Expected = BTreeMap<String, Option<String>>;

impl Reviews {
    /// Adds a proposal, or returns the same one if it is already waiting. `None` if it has no step to review.
    ///
    /// # Errors
    ///
    /// Those of planning it.
    pub(crate) fn propose(
        &self,
        sessions: &LocalSessions,
        (conversation, front_end, subject): (&str, &str, &str),
        content: Content,
        cancel: &CancelFlag,
    ) -> Result<Option<Proposal>, SessionRefusal> {
        let steps = plan(sessions, conversation, &content, cancel)?.steps;
        // A plan that was stopped has too few steps.
        if cancel.is_cancelled() {
            return Err(Failure::new(Exit::Interrupted, "stopped before it could be reviewed").into());
        }
        if steps.is_empty() {
            return Ok(None);
        }
        let new = NewProposal {
            conversation: conversation.to_owned(),
            front_end: front_end.to_owned(),
            subject: subject.to_owned(),
            content,
            steps,
        };
        Ok(Some(self.queue.propose(new)?))
    }

    /// Returns a proposal with its steps on the current folder. If the folder has changed where they touch it, the
    /// trial is discarded, and the steps are planned again.
    ///
    /// # Errors
    ///
    /// If there is no such proposal, or it can no longer be planned.
    pub(crate) fn current(
        &self,
        sessions: &LocalSessions,
        id: ProposalId,
        cancel: &CancelFlag,
    ) -> Result<Proposal, SessionRefusal> {
        Ok(self.current_with_plan(sessions, id, cancel)?.0)
    }

    /// The same with the steps as they are planned on the folder; none if the proposal is over.
    fn current_with_plan(
        &self,
        sessions: &LocalSessions,
        id: ProposalId,
        cancel: &CancelFlag,
    ) -> Result<(Proposal, Vec<ProposedStep>), SessionRefusal> {
        let proposal = self.queue.proposal(id)?;
        if !proposal.is_pending() {
            return Ok((proposal, Vec::new()));
        }
        let plan = plan(sessions, &proposal.conversation, &proposal.content, cancel)?;
        let mut held = self.held();
        // Read again: a trial may have ended during planning, and its steps are the real ones.
        let proposal = self.queue.proposal(id)?;
        if !proposal.is_pending() {
            return Ok((proposal, Vec::new()));
        }
        let is_as_tried = held.get(&id).is_some_and(|held| held.basis == plan.basis);
        if is_as_tried || (!proposal.is_tried && plan.steps == proposal.steps) {
            return Ok((proposal, plan.steps));
        }
        held.remove(&id);
        let proposal = self.queue.plan_again(id, plan.steps.clone())?;
        Ok((proposal, plan.steps))
    }

    /// Checks whether the overlay of the last trial is held, so that landing adopts it.
    pub(crate) fn holds(&self, id: ProposalId) -> bool {
        self.held().contains_key(&id)
    }

    /// Lands the choice of the draft, exactly as it was tried. Returns the resulting proposal.
    ///
    /// # Errors
    ///
    /// If the choice runs commands and was not tried, if the folder has changed since, or if another program has saved
    /// one of the files. The proposal then keeps waiting.
    pub(crate) fn land(
        &self,
        sessions: &LocalSessions,
        ((id, revision), mark): ((ProposalId, u64), &str),
        call: &Call<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<(Proposal, CarriedOut), SessionRefusal> {
        let _one_at_a_time = self.landing.lock().unwrap_or_else(PoisonError::into_inner);
        let current_draft = self.queue.draft(id)?;
        if current_draft.revision != revision {
            return Err(QueueError::Revised { revision: current_draft.revision }.into());
        }
        // Before anything of a trial is adopted.
        if let Some(outlived) = outlived(sessions, &self.queue.proposal(id)?)? {
            return Err(Failure::new(Exit::Refused, outlived.message())
                .advise("`--send-back` closes it")
                .into());
        }
        let (proposal, planned) = self.current_with_plan(sessions, id, call.cancel)?;
        let draft = self.queue.draft(id)?;
        // Planning again moves the draft to its next revision.
        if draft.revision != revision {
            return Err(changed_meanwhile(false).into());
        }
        // A trial of everything replaces the steps without changing the draft.
        if steps_mark(&proposal.steps) != mark {
            return Err(changed_meanwhile(proposal.is_tried).into());
        }
        let selection = draft.selection.normal(&proposal.steps);
        let resolution = Resolution::of(&selection, &proposal.steps);
        // It stays with the others until the landing has begun: without it, another window would plan again.
        let held = self.held();
        let adopted =
            held.get(&id).filter(|held| held.resolution == resolution).map(|held| held.steps.clone());
        drop(held);
        if adopted.is_none() && runs_commands(&proposal, &selection) {
            let message = "this choice runs commands and has not been tried";
            return Err(Failure::new(Exit::Failed, message).advise("try it first, then land it").into());
        }
        // Steps of a trial may refer to files as commands have left them.
        let expected = files_before(&planned);
        let choice = (&selection, (resolution, expected), &draft);
        self.decide(sessions, &proposal, choice, adopted, call, observer)
    }

    /// Sends a proposal back: nothing of it is carried out, and the model receives the comments.
    ///
    /// # Errors
    ///
    /// If it is over already, or the outcome cannot be recorded.
    pub(crate) fn send_back(
        &self,
        sessions: &LocalSessions,
        (id, revision): (ProposalId, u64),
        call: &Call<'_>,
    ) -> Result<(Proposal, CarriedOut), SessionRefusal> {
        let _one_at_a_time = self.landing.lock().unwrap_or_else(PoisonError::into_inner);
        let draft = self.queue.draft(id)?;
        if draft.revision != revision {
            return Err(QueueError::Revised { revision: draft.revision }.into());
        }
        let proposal = self.queue.proposal(id)?;
        if let Some(outlived) = outlived(sessions, &proposal)? {
            return self.close(&proposal, &outlived);
        }
        let proposal = self.current(sessions, id, call.cancel)?;
        // Another plan does not matter, because everything is left out; it only changes the revision of the draft.
        let now = self.queue.draft(id)?;
        if (Draft { revision: draft.revision, ..now.clone() }) != draft {
            return Err(QueueError::Revised { revision: now.revision }.into());
        }
        let draft = now;
        let selection = Selection::nothing(&proposal.steps);
        let resolution = Resolution::of_sent_back(&proposal.steps);
        let choice = (&selection, (resolution, BTreeMap::new()), &draft);
        self.decide(sessions, &proposal, choice, None, call, &mut UnobservedExecution)
    }

    /// Ends a proposal whose answer can no longer reach a model. Nothing is carried out.
    fn close(
        &self,
        proposal: &Proposal,
        outlived: &Outlived,
    ) -> Result<(Proposal, CarriedOut), SessionRefusal> {
        let decision = match outlived {
            Outlived::Executed => Decision {
                resolution: Resolution::default(),
                review: "It was executed before, without this review.\n".to_owned(),
                has_landed: true,
                answers: serde_json::Value::Array(Vec::new()),
                is_answered: true,
                is_closed: false,
            },
            Outlived::Unanswerable { .. } => Decision {
                resolution: Resolution::of(&Selection::nothing(&proposal.steps), &proposal.steps),
                review: String::new(),
                has_landed: false,
                answers: serde_json::Value::Null,
                is_answered: true,
                is_closed: true,
            },
        };
        let is_pending = |state: &State| matches!(state, State::Pending);
        let proposal = self.queue.advance(proposal.id, State::Decided(decision), is_pending)?;
        self.held().remove(&proposal.id);
        let carried = CarriedOut { steps: Vec::new(), answers: Vec::new(), has_landed_before: false };
        Ok((proposal, carried))
    }

    /// Finishes landings that a crash has interrupted: one whose overlay was adopted is completed, any other waits
    /// again.
    pub(crate) fn recover(&self, sessions: &LocalSessions) -> Result<(), SessionRefusal> {
        let mut first = Ok(());
        for id in self.queue.landing()? {
            let proposal = self.queue.proposal(id).map_err(SessionRefusal::from);
            let recovered = proposal.and_then(|proposal| self.recover_one(sessions, &proposal));
            // A failure must not prevent the recovery of the others.
            first = first.and(recovered);
        }
        first
    }

    fn recover_one(&self, sessions: &LocalSessions, proposal: &Proposal) -> Result<(), SessionRefusal> {
        let State::Landing { resolution, review, adopted, expected } = proposal.state.clone() else {
            return Ok(());
        };
        let origin = self.run_origin(sessions, proposal)?;
        let cancel = CancelFlag::new();
        let call = Call { origin: &origin, cancel: &cancel, time_left: None };
        // If the landing was not begun, the folder may have changed by now: the proposal is reviewed again.
        if !self.has_landed_steps(&origin, adopted.is_some()) {
            self.queue.advance(proposal.id, State::Pending, |_| true)?;
            return Ok(());
        }
        let choice = ((resolution, expected), review, adopted);
        self.carry_out(sessions, proposal, choice, &call, &mut UnobservedExecution).map(drop)
    }

    fn decide(
        &self,
        sessions: &LocalSessions,
        proposal: &Proposal,
        (selection, (resolution, expected), draft): (&Selection, (Resolution, Expected), &Draft),
        adopted: Option<Vec<RecordedStep>>,
        call: &Call<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<(Proposal, CarriedOut), SessionRefusal> {
        let mask = |text: &str| sessions.rules().mask_file_text(text);
        let rules = sessions.rules();
        let hides = |path: &str| rules.secrets.is_some() && rules.withheld.may_leave_out(path);
        let mut review = review_text(&proposal.steps, selection, draft, &mask, &hides);
        let landing = State::Landing {
            resolution: resolution.clone(),
            review: review.clone(),
            adopted: adopted.clone(),
            expected: expected.clone(),
        };
        self.queue.begin_landing(proposal.id, draft.revision, landing)?;
        // From here on it is completed: with a part of it in the folder, it would wait again as if nothing had landed.
        let never = CancelFlag::new();
        let call = Call { cancel: &never, ..*call };
        let held = self.held().remove(&proposal.id);
        if adopted.is_some() {
            let Some(HeldReview { trial, folder, .. }) = held.filter(|held| held.resolution == resolution)
            else {
                self.queue.advance(proposal.id, State::Pending, |_| true)?;
                return Err(Failure::new(Exit::Failed, "its trial is over: another window tries it")
                    .advise("try it again, then land it")
                    .into());
            };
            let kept = sessions
                .engine()
                .take_up_trial(trial, &call)
                .map_err(|error| Failure::new(Exit::Failed, error.message().to_owned()))
                .and_then(|trial| {
                    // Before the next message: it may have placeholders that were issued on the overlay.
                    SecretMapFile::of(&self.paths).import(&folder.state()).map_err(|error| {
                        Failure::new(
                            Exit::Failed,
                            format!("the secrets of the trial cannot be kept: {error}"),
                        )
                    })?;
                    trial.keep(&folder.journal(), &folder.outputs()).map_err(|error| {
                        Failure::new(Exit::Failed, format!("not landed: {error}"))
                            .advise("try it again, on the files as they are now")
                    })
                });
            match kept {
                Ok(notes) => {
                    notes.iter().for_each(|note| review.push_str(&format!("\nNot as it was tried: {note}\n")))
                }
                Err(failure) => {
                    self.queue.advance(proposal.id, State::Pending, |_| true)?;
                    return Err(failure.into());
                }
            }
        } else {
            // A trial has the run of its reply, which is to begin again.
            drop(held);
        }
        let choice = ((resolution, expected), review, adopted);
        self.carry_out(sessions, proposal, choice, &call, observer)
    }

    /// Makes the calls of a proposal, answered as on the overlay if one was adopted, and records the end.
    fn carry_out(
        &self,
        sessions: &LocalSessions,
        proposal: &Proposal,
        ((resolution, expected), review, adopted): (
            (Resolution, Expected),
            String,
            Option<Vec<RecordedStep>>,
        ),
        call: &Call<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<(Proposal, CarriedOut), SessionRefusal> {
        let request = CarryOut {
            conversation: proposal.conversation.clone(),
            content: proposal.content.clone(),
            resolution: resolution.clone(),
            review: review.clone(),
            adopted,
            expected,
        };
        let was_adopted = request
            .adopted
            .as_ref()
            .is_some_and(|steps| steps.iter().any(|step| step.outcome.was_carried_out()));
        let carried = match request.carry_out(sessions, call, observer) {
            Ok(carried) => carried,
            // Changes in the folder are no longer proposed, whatever the answer.
            Err(refusal) if was_adopted => {
                let review =
                    format!("{review}\nIt is in the folder, but was not answered: {}\n", refusal.message);
                let answers = serde_json::Value::Null;
                let decision = Decision {
                    resolution,
                    review,
                    has_landed: true,
                    answers,
                    is_answered: false,
                    is_closed: false,
                };
                let decided = self.queue.advance(proposal.id, State::Decided(decision), |_| true)?;
                sessions.tasks().note_decided(sessions, &decided);
                // The refusal's own advice is about a reply that was not carried out.
                let advice =
                    "it is in the folder, and `agentd undo` takes it back; the session was not answered";
                let mut refusal = refusal;
                refusal.advice = Some(advice.to_owned());
                return Err(refusal);
            }
            Err(refusal) => {
                self.queue.advance(proposal.id, State::Pending, |_| true)?;
                return Err(refusal);
            }
        };
        let has_landed = was_adopted
            || carried.has_landed_before
            || carried.steps.iter().any(|step| step.outcome.was_carried_out());
        let answers = serde_json::to_value(&carried.answers).expect("answers have string keys");
        let decision =
            Decision { resolution, review, has_landed, answers, is_answered: false, is_closed: false };
        let proposal = self.queue.advance(proposal.id, State::Decided(decision), |_| true)?;
        sessions.tasks().note_decided(sessions, &proposal);
        self.finish_run(sessions, &proposal);
        Ok((proposal, carried))
    }

    /// Finishes the run of calls, which no client finishes.
    fn finish_run(&self, sessions: &LocalSessions, proposal: &Proposal) {
        if !matches!(proposal.content, Content::Calls { .. }) {
            return;
        }
        let Ok(origin) = self.run_origin(sessions, proposal) else { return };
        // A run that stays open is only kept for longer.
        if let Ok(RunState::Resumed { run, .. }) = self.journal.begin_run(&run_key(&origin)) {
            let _ = self.journal.finish_run_lazily(run.number(), b"");
        }
    }

    /// Checks whether the journal has recorded that a proposal landed, or has begun to: with `adopted`, that its overlay was
    /// adopted. Other steps of the run may be older than the proposal.
    fn has_landed_steps(&self, origin: &wap_core::Origin, adopted: bool) -> bool {
        match self.journal.begin_run(&run_key(origin)) {
            Ok(RunState::Resumed { steps, .. }) if adopted => {
                steps.all().iter().any(|step| step.index == ADOPTION_STEP)
            }
            Ok(RunState::Resumed { steps, .. }) => !steps.all().is_empty(),
            Ok(RunState::Finished { .. }) => true,
            _ => false,
        }
    }
}

/// The reason why a waiting proposal can no longer be answered.
enum Outlived {
    /// Its reply was executed without a review.
    Executed,
    /// Its reply would be refused.
    Unanswerable {
        /// The refusal, in one sentence.
        why: String,
    },
}

impl Outlived {
    fn message(&self) -> String {
        match self {
            Outlived::Executed => "this reply was executed before, without this review".to_owned(),
            Outlived::Unanswerable { why } => why.clone(),
        }
    }
}

/// Checks whether a waiting proposal's reply would not be executed, whatever a reviewer decides: its message is no
/// longer pending, its session is complete, its file has another reply, or its text was already executed.
fn outlived(sessions: &LocalSessions, proposal: &Proposal) -> Result<Option<Outlived>, SessionRefusal> {
    let Content::Reply(reply) = &proposal.content else { return Ok(None) };
    if !proposal.is_pending() {
        return Ok(None);
    }
    let reply = parsed(reply)?;
    let SessionReply { session, text, again, run_complete } = &reply.reply;
    if sessions.finished_before(*session, reply.answering, text)?.is_some() {
        return Ok(Some(Outlived::Executed));
    }
    let pending = sessions.session(*session)?.sequence_number;
    if pending != reply.answering {
        let answers = reply.answering;
        let why =
            format!("the session has moved on: message {pending} is pending, and this answers {answers}");
        return Ok(Some(Outlived::Unanswerable { why }));
    }
    match sessions.would_execute(*session, text, *again, *run_complete) {
        // Its own trial, which is held, counts as one that is being executed.
        Ok(true) | Err(SessionError::Busy) => {}
        Ok(false) => return Ok(Some(Outlived::Executed)),
        Err(error) => return unanswerable(error).map(Some),
    }
    match reply.file.as_ref().map(|file| sessions.claim(file)).transpose() {
        Ok(_) => Ok(None),
        Err(error) => unanswerable(error).map(Some),
    }
}

/// Returns the reason if a refusal is permanent, and the refusal otherwise.
fn unanswerable(error: SessionError) -> Result<Outlived, SessionRefusal> {
    let is_complete = matches!(error, SessionError::Complete { .. });
    let refusal = SessionRefusal::from(error);
    match is_complete || refusal.is_taken || refusal.is_about_the_reply {
        true => Ok(Outlived::Unanswerable { why: refusal.message }),
        false => Err(refusal),
    }
}

/// Returns the journal's key of the run of these calls.
fn run_key(origin: &wap_core::Origin) -> RunKey {
    let digest = &origin.run.digest;
    RunKey {
        conversation: origin.conversation.0.clone(),
        sequence: u64::from(origin.run.sequence),
        content: digest.parse().unwrap_or_else(|_| ContentHash::of(digest.as_bytes())),
    }
}

fn changed_meanwhile(is_tried: bool) -> Failure {
    let message = match is_tried {
        true => {
            "another window has tried all of it meanwhile: the steps are the real ones now, and nothing has landed"
        }
        false => "the folder has changed meanwhile: the proposal was planned again, and nothing has landed",
    };
    Failure::new(Exit::Failed, message).advise("look at it again, and try it once more if it runs commands")
}

/// Checks whether a choice runs a command that can be tried: one that is left running cannot.
fn runs_commands(proposal: &Proposal, selection: &Selection) -> bool {
    proposal.steps.iter().any(|step| {
        matches!(&step.effect, StepEffect::Command(command) if command.background.is_none())
            && *selection.verdict(step.step) == StepVerdict::Take
    })
}
