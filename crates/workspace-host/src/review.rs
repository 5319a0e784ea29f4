//! The queue of changes that wait for a person, and the trials that this process holds.
//!
//! A proposal is planned on arrival, tried at the reviewer's request, and landed as it was tried: the overlay of the
//! trial is adopted in one commit, and then the same calls are made as usual, which the engine answers from its record.

pub(crate) mod calls;
mod carry_out;
mod deletions;
mod landing;
pub mod overlay_process;
mod plan;
pub(crate) mod proposal_text;
pub mod reviewed_workspace;
mod trial_process;
mod trial_run;
mod trying;
pub(crate) mod visible_file_step;

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use change_journal::Journal;
use change_review::{ProposalId, Queue, QueueError, QueueLimits, RecordedStep, Resolution};
use local_workspace::HeldTrial;

use crate::failure::{Exit, Failure};
use crate::owner::session_call::SessionRefusal;
use crate::state::WorkspacePaths;

pub use carry_out::{CallAnswer, CarriedOut, CarryOut};
pub use trial_process::{TrialFolder, remove_stale_trials};

/// The queue of a state folder that this process owns.
#[derive(Debug)]
pub struct Reviews {
    pub(crate) queue: Queue,
    journal: Journal,
    paths: WorkspacePaths,
    /// The options for a process with the same confinement; `None` if none is started.
    arguments: Option<Vec<OsString>>,
    held: Mutex<HashMap<ProposalId, HeldReview>>,
    /// The proposals that are being tried, each with its choice: the trials of one proposal share a run, so there can
    /// only be one at a time.
    trying: Mutex<HashMap<ProposalId, Resolution>>,
    trial_ended: Condvar,
    /// Held while a proposal lands: one at a time.
    landing: Mutex<()>,
}

/// A trial whose result is what the reviewer sees.
#[derive(Debug)]
struct HeldReview {
    resolution: Resolution,
    /// The plan at the time of the trial: if it differs now, the folder has changed.
    basis: String,
    /// The steps with their answers.
    steps: Vec<RecordedStep>,
    trial: HeldTrial,
    /// The journal and the outputs of the process that carried it out.
    folder: TrialFolder,
}

impl Reviews {
    /// Opens the queue, and removes the leftovers of trials of killed processes.
    pub(crate) fn open(
        journal: &Journal,
        paths: &WorkspacePaths,
        arguments: Option<Vec<OsString>>,
    ) -> Reviews {
        remove_stale_trials(&paths.base);
        Reviews {
            queue: Queue::new(journal.clone(), QueueLimits::default()),
            journal: journal.clone(),
            paths: paths.clone(),
            arguments,
            held: Mutex::default(),
            trying: Mutex::default(),
            trial_ended: Condvar::new(),
            landing: Mutex::default(),
        }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<ProposalId, HeldReview>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trying(&self) -> MutexGuard<'_, HashMap<ProposalId, Resolution>> {
        self.trying.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<QueueError> for SessionRefusal {
    fn from(error: QueueError) -> SessionRefusal {
        let advice = match &error {
            QueueError::Unknown { .. } => {
                Some("`agentd review --all` lists the proposals, also those that are over")
            }
            QueueError::Damaged { .. } => Some("`agentd review ID --drop` removes what cannot be read"),
            QueueError::Readable { .. } => Some("land it (--land) or send it back (--send-back)"),
            QueueError::Revised { .. } => Some("read the draft again, and decide on it anew"),
            _ => None,
        };
        let exit = if matches!(error, QueueError::Unknown { .. }) { Exit::Usage } else { Exit::Failed };
        let failure = Failure::new(exit, error.to_string());
        match advice {
            Some(advice) => failure.advise(advice).into(),
            None => failure.into(),
        }
    }
}
