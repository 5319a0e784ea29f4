//! The proposals of a state folder, as documents of its journal.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use change_journal::{DocumentWrite, Journal, JournalError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::draft::Draft;
use crate::proposal::{Content, Proposal, ProposalId, ProposalSummary, State};
use crate::step::ProposedStep;
use crate::tried::Tried;

/// The most proposals that may wait.
const MOST_PENDING: usize = 1_000;

/// The number of proposals that are kept when they are over.
const KEPT: usize = 200;

const PROPOSALS: &str = "review/proposal/";

/// A new proposal.
#[derive(Clone, Debug)]
pub struct NewProposal {
    /// The session or the client that it is from.
    pub conversation: String,
    /// The front end that it came through.
    pub front_end: String,
    /// Its subject, in one line.
    pub subject: String,
    /// The reply or the calls that are carried out when it lands.
    pub content: Content,
    /// The steps as they were planned.
    pub steps: Vec<ProposedStep>,
}

/// The refusal of a change to the queue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// There is no such proposal.
    #[error("there is no proposal {id}")]
    Unknown {
        /// The number.
        id: ProposalId,
    },
    /// The proposal is over.
    #[error("proposal {id} is over already")]
    Decided {
        /// The number.
        id: ProposalId,
    },
    /// Another window has saved the draft since it was read.
    #[error("the draft was saved by another window meanwhile: its revision is {revision}")]
    Revised {
        /// The revision that it has now.
        revision: u64,
    },
    /// Too many proposals wait.
    #[error("{MOST_PENDING} proposals wait already: review some of them first")]
    Full,
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A document is not what this version writes.
    #[error("proposal {id} cannot be read: {error}")]
    Damaged {
        /// The number.
        id: ProposalId,
        /// The fault.
        error: String,
    },
}

/// The queue of proposals. Every change is on the disk when a method returns; drafts, too.
#[derive(Debug)]
pub struct Queue {
    journal: Journal,
    /// The number of changes of the queue since it was opened. Held for each change, so that changes are one at a time.
    generation: Mutex<u64>,
    changed: Condvar,
}

impl Queue {
    /// Opens the queue in a journal.
    #[must_use]
    pub fn new(journal: Journal) -> Queue {
        Queue { journal, generation: Mutex::new(0), changed: Condvar::new() }
    }

    /// Adds a proposal, or returns the one with the same content that the same conversation proposed before and whose
    /// outcome it has not received.
    ///
    /// # Errors
    ///
    /// [`QueueError::Full`], and failures of the journal.
    pub fn propose(
        &self,
        new: NewProposal,
        is_same: impl Fn(&Content) -> bool,
    ) -> Result<Proposal, QueueError> {
        let mut generation = self.lock();
        let all = self.all()?;
        // A decision answers only the request that came last: an older one would answer for another state of the folder.
        let newest = all.iter().rfind(|proposal| proposal.conversation == new.conversation);
        let newest = newest.map(|proposal| proposal.id);
        let is_open = |proposal: &&Proposal| match &proposal.state {
            State::Decided(decision) => !decision.is_answered && newest == Some(proposal.id),
            State::Pending | State::Landing { .. } => true,
        };
        let same = all
            .iter()
            .filter(is_open)
            .find(|proposal| proposal.conversation == new.conversation && is_same(&proposal.content));
        if let Some(same) = same {
            return Ok(same.clone());
        }
        if all.iter().filter(|proposal| proposal.is_pending()).count() >= MOST_PENDING {
            return Err(QueueError::Full);
        }
        let id = ProposalId(all.iter().map(|proposal| proposal.id.0).max().unwrap_or(0) + 1);
        let NewProposal { conversation, front_end, subject, content, steps } = new;
        let came_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let state = State::Pending;
        let proposal = Proposal {
            id,
            conversation,
            front_end,
            came_at,
            subject,
            content,
            steps,
            is_tried: false,
            state,
        };
        self.put(&proposal)?;
        self.forget_old(&all)?;
        self.announce(&mut generation);
        Ok(proposal)
    }

    /// Lists the proposals, the oldest first.
    ///
    /// # Errors
    ///
    /// Failures of the journal.
    pub fn list(&self) -> Result<Vec<ProposalSummary>, QueueError> {
        Ok(self.all()?.iter().map(Proposal::summary).collect())
    }

    /// Returns the proposals whose landing was begun and not finished.
    ///
    /// # Errors
    ///
    /// Failures of the journal.
    pub fn landing(&self) -> Result<Vec<Proposal>, QueueError> {
        let all = self.all()?;
        Ok(all.into_iter().filter(|proposal| matches!(proposal.state, State::Landing { .. })).collect())
    }

    /// Returns a proposal.
    ///
    /// # Errors
    ///
    /// [`QueueError::Unknown`], and failures of the journal.
    pub fn proposal(&self, id: ProposalId) -> Result<Proposal, QueueError> {
        self.read(&name("proposal", id), id)?.ok_or(QueueError::Unknown { id })
    }

    /// Returns the draft of a proposal; an empty one if nothing was written.
    ///
    /// # Errors
    ///
    /// Failures of the journal.
    pub fn draft(&self, id: ProposalId) -> Result<Draft, QueueError> {
        Ok(self.read(&name("draft", id), id)?.unwrap_or_default())
    }

    /// Returns what came of the last trial of a proposal; `None` if it was not tried.
    ///
    /// # Errors
    ///
    /// Failures of the journal.
    pub fn tried(&self, id: ProposalId) -> Result<Option<Tried>, QueueError> {
        self.read(&name("tried", id), id)
    }

    /// Saves a draft whose revision is the one that was read, and returns it with its next revision.
    ///
    /// # Errors
    ///
    /// [`QueueError::Revised`], [`QueueError::Decided`], [`QueueError::Unknown`], and failures of the journal.
    pub fn save_draft(&self, id: ProposalId, draft: Draft) -> Result<Draft, QueueError> {
        let mut generation = self.lock();
        if !self.proposal(id)?.is_pending() {
            return Err(QueueError::Decided { id });
        }
        let saved = self.draft(id)?;
        if saved.revision != draft.revision {
            return Err(QueueError::Revised { revision: saved.revision });
        }
        let draft = Draft { revision: saved.revision + 1, ..draft };
        self.write(&name("draft", id), &draft)?;
        self.announce(&mut generation);
        Ok(draft)
    }

    /// Keeps what came of a trial. The steps replace those of the proposal, if they are given.
    ///
    /// # Errors
    ///
    /// [`QueueError::Decided`], [`QueueError::Unknown`], and failures of the journal.
    pub fn keep_trial(
        &self,
        id: ProposalId,
        tried: &Tried,
        steps: Option<Vec<ProposedStep>>,
    ) -> Result<(), QueueError> {
        let mut generation = self.lock();
        let mut proposal = self.proposal(id)?;
        if !proposal.is_pending() {
            return Err(QueueError::Decided { id });
        }
        self.write(&name("tried", id), tried)?;
        if let Some(steps) = steps {
            proposal.steps = steps;
            proposal.is_tried = true;
            self.put(&proposal)?;
        }
        self.announce(&mut generation);
        Ok(())
    }

    /// Replaces the planned steps of a proposal, after the folder has changed. The draft gets its next revision: a decision on
    /// the earlier steps is refused.
    ///
    /// # Errors
    ///
    /// [`QueueError::Decided`], [`QueueError::Unknown`], and failures of the journal.
    pub fn plan_again(&self, id: ProposalId, steps: Vec<ProposedStep>) -> Result<Proposal, QueueError> {
        let mut generation = self.lock();
        let mut proposal = self.proposal(id)?;
        if !proposal.is_pending() {
            return Err(QueueError::Decided { id });
        }
        proposal.steps = steps;
        proposal.is_tried = false;
        let mut draft = self.draft(id)?;
        draft.revision += 1;
        let names = [name("proposal", id), name("draft", id)];
        let bytes = [encoded(&proposal), encoded(&draft)];
        let writes = [0, 1].map(|at| DocumentWrite::Put { name: &names[at], bytes: &bytes[at] });
        self.journal.write_documents(&writes)?;
        self.announce(&mut generation);
        Ok(proposal)
    }

    /// Begins the landing of a draft with this revision.
    ///
    /// # Errors
    ///
    /// [`QueueError::Revised`] if another window has saved the draft, [`QueueError::Decided`], [`QueueError::Unknown`], and
    /// failures of the journal.
    pub fn begin_landing(&self, id: ProposalId, revision: u64, landing: State) -> Result<(), QueueError> {
        let mut generation = self.lock();
        let mut proposal = self.proposal(id)?;
        if !proposal.is_pending() {
            return Err(QueueError::Decided { id });
        }
        // Under the lock of all changes: a draft that is saved now is one of a proposal that is over.
        let saved = self.draft(id)?.revision;
        if saved != revision {
            return Err(QueueError::Revised { revision: saved });
        }
        proposal.state = landing;
        self.put(&proposal)?;
        self.announce(&mut generation);
        Ok(())
    }

    /// Moves a proposal on, if `may` allows it for the state that it has.
    ///
    /// # Errors
    ///
    /// [`QueueError::Decided`] if it does not, [`QueueError::Unknown`], and failures of the journal.
    pub fn advance(
        &self,
        id: ProposalId,
        state: State,
        may: impl Fn(&State) -> bool,
    ) -> Result<Proposal, QueueError> {
        let mut generation = self.lock();
        let mut proposal = self.proposal(id)?;
        if !may(&proposal.state) {
            return Err(QueueError::Decided { id });
        }
        proposal.state = state;
        self.put(&proposal)?;
        self.announce(&mut generation);
        Ok(proposal)
    }

    /// Waits until a proposal is over, or for this long, and returns it as it is then.
    ///
    /// # Errors
    ///
    /// [`QueueError::Unknown`], and failures of the journal.
    pub fn wait(
        &self,
        id: ProposalId,
        longest: Duration,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Proposal, QueueError> {
        let deadline = Instant::now() + longest;
        loop {
            let generation = self.lock();
            let proposal = self.proposal(id)?;
            let left = deadline.saturating_duration_since(Instant::now());
            if matches!(proposal.state, State::Decided(_)) || left.is_zero() || is_cancelled() {
                return Ok(proposal);
            }
            // A cancellation wakes no condition variable.
            let pause = left.min(Duration::from_millis(200));
            drop(self.changed.wait_timeout(generation, pause));
        }
    }

    fn all(&self) -> Result<Vec<Proposal>, QueueError> {
        let heads = self.journal.reader().documents(PROPOSALS)?;
        // A name that this version does not write is another version's.
        let ids = heads.iter().filter_map(|head| head.name.strip_prefix(PROPOSALS)?.parse().ok());
        ids.filter_map(|id| self.read(&name("proposal", ProposalId(id)), ProposalId(id)).transpose())
            .collect()
    }

    /// Removes the oldest of the proposals that are over, beyond the number that is kept.
    fn forget_old(&self, all: &[Proposal]) -> Result<(), QueueError> {
        let over: Vec<ProposalId> = all
            .iter()
            .filter(|proposal| matches!(proposal.state, State::Decided(_)))
            .map(|proposal| proposal.id)
            .collect();
        for id in over.iter().take(over.len().saturating_sub(KEPT)) {
            let names = ["proposal", "draft", "tried"].map(|kind| name(kind, *id));
            let removals = names.each_ref().map(|name| DocumentWrite::Remove { name });
            self.journal.write_documents_lazily(&removals)?;
        }
        Ok(())
    }

    fn put(&self, proposal: &Proposal) -> Result<(), QueueError> {
        self.write(&name("proposal", proposal.id), proposal)
    }

    fn write<T: Serialize>(&self, name: &str, value: &T) -> Result<(), QueueError> {
        self.journal.write_documents(&[DocumentWrite::Put { name, bytes: &encoded(value) }])?;
        Ok(())
    }

    fn read<T: DeserializeOwned>(&self, name: &str, id: ProposalId) -> Result<Option<T>, QueueError> {
        let Some(document) = self.journal.reader().document(name)? else { return Ok(None) };
        let read = serde_json::from_slice(&document.bytes);
        read.map(Some).map_err(|error| QueueError::Damaged { id, error: error.to_string() })
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.generation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self, generation: &mut u64) {
        *generation += 1;
        self.changed.notify_all();
    }
}

fn encoded<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).expect("the values have string keys")
}

/// Returns the name of a document, with the number in a form whose order is that of the numbers.
fn name(kind: &str, id: ProposalId) -> String {
    format!("review/{kind}/{:012}", id.0)
}
