//! The run that an effect belongs to, and the recorded state of its steps.

use std::str::FromStr;

use change_journal::{ContentHash, Journal, RecordedStep, Run, RunKey, RunNumber, RunState, StepKind};
use wap_core::{ConversationId, Origin, Reason, WapError};

use crate::errors::journal_error;

/// The journal's run of a call.
///
/// The caller, such as a session, may have begun it and will finish it. A run that was not begun is opened for this
/// call. If it has a sequence, it stays unfinished, because the owner of the sequence may have more steps for it; if it
/// has none, it represents this one call and is finished with it.
#[derive(Debug)]
pub(crate) struct EngineRun<'a> {
    journal: &'a Journal,
    conversation: ConversationId,
    number: RunNumber,
    own: Option<Run>,
    stands_for_one_call: bool,
    /// True if the run is over: only recorded outcomes are available.
    is_over: bool,
    /// The records of the call's steps, in order of their index.
    steps: Vec<RecordedStep>,
}

/// A run that stays open between calls.
#[derive(Debug)]
pub(crate) struct HeldRun {
    conversation: ConversationId,
    number: RunNumber,
    own: Option<Run>,
}

/// The recorded state of one step.
#[derive(Debug)]
pub(crate) enum StepState<'a> {
    /// Nothing: carry it out.
    NotStarted,
    /// It was started, and its end is unknown.
    Unknown,
    /// It was carried out; this was recorded.
    Finished(&'a [u8]),
}

impl<'a> EngineRun<'a> {
    /// Finds the run of a call, or begins one for it. The call's step and the next one can be recalled.
    pub(crate) fn enter(journal: &'a Journal, origin: &Origin) -> Result<EngineRun<'a>, WapError> {
        EngineRun::enter_for(journal, origin, 2)
    }

    /// The same for a call that comprises `steps` steps.
    pub(crate) fn enter_for(
        journal: &'a Journal,
        origin: &Origin,
        steps: usize,
    ) -> Result<EngineRun<'a>, WapError> {
        let stands_for_one_call = origin.run.sequence == 0;
        // A long reply makes many calls, and most steps of its run belong to others.
        let end = origin.step.saturating_add(u32::try_from(steps).unwrap_or(u32::MAX));
        let recorded =
            |number| journal.reader().steps_within(number, origin.step..end).map_err(journal_error);
        let (number, own, steps, is_over) =
            match journal.begin_run(&journal_key(origin)).map_err(journal_error)? {
                RunState::New(run) => (run.number(), Some(run), Vec::new(), false),
                RunState::Resumed { run, steps } => {
                    let steps = steps.all().to_vec();
                    let is_over = stands_for_one_call && !steps.is_empty();
                    (run.number(), Some(run), steps, is_over)
                }
                RunState::InProgress { number } => (number, None, recorded(number)?, false),
                RunState::Finished { number, .. } => (number, None, recorded(number)?, true),
                RunState::KnownElsewhere { key, .. } => {
                    let text = format!(
                        "the same was asked for under sequence {} already, so nothing was done",
                        key.sequence
                    );
                    return Err(WapError::new(Reason::Conflict, text));
                }
            };
        let conversation = origin.conversation.clone();
        Ok(EngineRun { journal, conversation, number, own, stands_for_one_call, is_over, steps })
    }

    /// Releases the reference to the journal; the run stays open, so that nothing else carries it out.
    pub(crate) fn into_held(mut self) -> HeldRun {
        HeldRun { conversation: self.conversation.clone(), number: self.number, own: self.own.take() }
    }

    /// Resumes a held run.
    pub(crate) fn take_up(journal: &'a Journal, held: HeldRun) -> EngineRun<'a> {
        let HeldRun { conversation, number, own } = held;
        EngineRun {
            journal,
            conversation,
            number,
            own,
            stands_for_one_call: false,
            is_over: false,
            steps: Vec::new(),
        }
    }

    pub(crate) fn conversation(&self) -> &ConversationId {
        &self.conversation
    }

    pub(crate) fn number(&self) -> RunNumber {
        self.number
    }

    /// Returns the recorded description of a step, if there is one.
    pub(crate) fn description(&self, index: u32) -> Option<&str> {
        let position = self.steps.binary_search_by_key(&index, |step| step.index).ok()?;
        Some(&self.steps[position].description)
    }

    /// Returns the recorded state of the step at `index`, which the caller expects to be of kind `kind`.
    ///
    /// # Errors
    ///
    /// [`Reason::Conflict`] if the step was of another kind, or if the run is over and has no such step.
    pub(crate) fn recall(&self, index: u32, kind: StepKind) -> Result<StepState<'_>, WapError> {
        let position = self.steps.binary_search_by_key(&index, |step| step.index).ok();
        match position.map(|position| &self.steps[position]) {
            None if self.is_over => {
                Err(WapError::new(Reason::Conflict, "the run of this call is over, so nothing was done"))
            }
            None => Ok(StepState::NotStarted),
            Some(step) if step.kind != kind => {
                let text = format!("step {index} of this run was another one, so nothing was done");
                Err(WapError::new(Reason::Conflict, text))
            }
            Some(step) => Ok(step.outcome.as_deref().map_or(StepState::Unknown, StepState::Finished)),
        }
    }
}

impl Drop for EngineRun<'_> {
    fn drop(&mut self) {
        if self.own.is_some() && self.stands_for_one_call {
            // A failure leaves the run unfinished in the journal. If repeated, it still answers from its record.
            let _ = self.journal.finish_run_lazily(self.number, b"");
        }
    }
}

/// The journal's key of a call's run. A digest that is a content hash is taken as such, any other text is hashed.
pub(crate) fn journal_key(origin: &Origin) -> RunKey {
    let digest = &origin.run.digest;
    RunKey {
        conversation: origin.conversation.0.clone(),
        sequence: u64::from(origin.run.sequence),
        content: ContentHash::from_str(digest).unwrap_or_else(|_| ContentHash::of(digest.as_bytes())),
    }
}
