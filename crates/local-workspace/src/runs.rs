//! Which run an effect belongs to, and what is known about its steps already.

use std::str::FromStr;

use change_journal::{ContentHash, Journal, RecordedStep, Run, RunKey, RunNumber, RunState};
use wap_core::{Origin, Reason, WapError};

use crate::errors::journal_error;

/// The journal's run of a call.
///
/// Somebody else may have begun it and will finish it, a session for instance; or it is the call's own, and is finished
/// with it.
#[derive(Debug)]
pub(crate) struct EngineRun<'a> {
    journal: &'a Journal,
    number: RunNumber,
    own: Option<Run>,
    steps: Vec<RecordedStep>,
}

/// What is known about one step.
#[derive(Debug)]
pub(crate) enum Known<'a> {
    /// Nothing: carry it out.
    NotStarted,
    /// It was started, and nobody knows how it ended.
    Unknown,
    /// It was carried out; this was recorded.
    Finished(&'a [u8]),
}

impl<'a> EngineRun<'a> {
    /// Finds the open run of a call, or begins one for it.
    pub(crate) fn enter(journal: &'a Journal, origin: &Origin) -> Result<EngineRun<'a>, WapError> {
        let state = journal.begin_run(&journal_key(origin)).map_err(journal_error)?;
        let (number, own, steps) = match state {
            RunState::New(run) => (run.number(), Some(run), Vec::new()),
            RunState::Resumed { run, steps } => (run.number(), Some(run), steps.all().to_vec()),
            RunState::InProgress { number } => {
                (number, None, journal.reader().steps(number).map_err(journal_error)?)
            }
            RunState::Finished { .. } | RunState::KnownElsewhere { .. } => {
                return Err(WapError::new(
                    Reason::Conflict,
                    "this call was already carried out, under the same run",
                ));
            }
        };
        Ok(EngineRun { journal, number, own, steps })
    }

    pub(crate) fn number(&self) -> RunNumber {
        self.number
    }

    /// What is known about the step at `index`.
    pub(crate) fn recall(&self, index: u32) -> Known<'_> {
        match self.steps.iter().find(|step| step.index == index) {
            None => Known::NotStarted,
            Some(step) => step.outcome.as_deref().map_or(Known::Unknown, Known::Finished),
        }
    }
}

impl Drop for EngineRun<'_> {
    fn drop(&mut self) {
        if self.own.is_some() {
            // A failure leaves the run unfinished in the journal, which nobody can ask for again.
            let _ = self.journal.finish_run_lazily(self.number, b"");
        }
    }
}

/// The journal's key of a call's run. A digest that is a content hash is taken as such, any other text is hashed.
fn journal_key(origin: &Origin) -> RunKey {
    let digest = &origin.run.digest;
    RunKey {
        conversation: origin.conversation.0.clone(),
        sequence: u64::from(origin.run.sequence),
        content: ContentHash::from_str(digest).unwrap_or_else(|_| ContentHash::of(digest.as_bytes())),
    }
}
