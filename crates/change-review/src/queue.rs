//! The proposals of a state folder, as documents of its journal.

mod documents;
mod entry;
mod error;

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use change_journal::{DocumentWrite, Journal};

use self::documents::encoded;
use self::entry::{Entry, Progress, all_names, name};
pub use self::error::QueueError;
use crate::draft::Draft;
use crate::proposal::{Content, Proposal, ProposalEnd, ProposalId, ProposalSummary, State};
use crate::step::ProposedStep;
use crate::tried::Tried;

/// The most earlier proposals of a conversation that a proposal is compared with.
const MOST_EARLIER: usize = 8;

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

/// The bounds of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// The maximum number of waiting proposals.
    pub pending: usize,
    /// The total size of waiting proposals' documents, in bytes, above which no further one is accepted.
    pub pending_bytes: u64,
    /// The number of decided proposals that are kept.
    pub kept: usize,
    /// The total size of decided proposals' documents, in bytes, above which the oldest are removed. A proposal whose
    /// outcome was not received stays.
    pub kept_bytes: u64,
}

impl Default for QueueLimits {
    fn default() -> QueueLimits {
        QueueLimits { pending: 1_000, pending_bytes: 256 << 20, kept: 200, kept_bytes: 64 << 20 }
    }
}

/// The queue of proposals. Every change is on the disk when a method returns; drafts, too.
#[derive(Debug)]
pub struct Queue {
    journal: Journal,
    limits: QueueLimits,
    /// The number of changes of the queue since it was opened. Locked for each change, so that changes are made one at
    /// a time.
    generation: Mutex<u64>,
    changed: Condvar,
}

impl Queue {
    /// Opens the queue in a journal.
    #[must_use]
    pub fn new(journal: Journal, limits: QueueLimits) -> Queue {
        Queue { journal, limits, generation: Mutex::new(0), changed: Condvar::new() }
    }

    /// Adds a proposal, or returns an earlier one of the same conversation with the same request whose outcome was not
    /// received.
    ///
    /// # Errors
    ///
    /// [`QueueError::Full`], and failures of the journal.
    pub fn propose(&self, new: NewProposal) -> Result<Proposal, QueueError> {
        let mut generation = self.lock();
        let all = self.entries()?;
        // A decision answers only the latest request: an older one would refer to another state of the folder.
        let newest = all.iter().rfind(|entry| entry.summary.conversation == new.conversation);
        let newest = newest.map(|entry| entry.summary.id);
        let is_open = |entry: &&Entry| match entry.progress {
            Progress::Decided => newest == Some(entry.summary.id),
            Progress::Pending | Progress::Landing => true,
            Progress::Answered | Progress::Unreadable => false,
        };
        let request = new.content.request_hash();
        let is_same =
            |entry: &&Entry| entry.summary.conversation == new.conversation && entry.request == request;
        if let Some(same) = all.iter().filter(is_open).find(is_same) {
            // A proposal that has become unreadable since is not an answer.
            match self.proposal(same.summary.id) {
                Err(QueueError::Damaged { .. }) => {}
                same => return same,
            }
        }
        let waiting = all.iter().filter(|entry| entry.is_pending());
        let (count, bytes) = waiting.fold((0, 0), |(count, bytes), entry| (count + 1, bytes + entry.bytes));
        if count >= self.limits.pending || bytes >= self.limits.pending_bytes {
            return Err(QueueError::Full { count, bytes });
        }
        let id = ProposalId(all.iter().map(|entry| entry.summary.id.0).max().unwrap_or(0) + 1);
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
        let old = self.exceeding_limits(&all);
        let removals: Vec<_> = old.iter().map(|name| DocumentWrite::Remove { name }).collect();
        self.put_with(&proposal, &removals)?;
        self.announce(&mut generation);
        Ok(proposal)
    }

    /// Lists the proposals, the oldest first. Unreadable ones are included, with their fault.
    ///
    /// # Errors
    ///
    /// Failures of the journal.
    pub fn list(&self) -> Result<Vec<ProposalSummary>, QueueError> {
        Ok(self.entries()?.into_iter().map(|entry| entry.summary).collect())
    }

    /// Returns the numbers of the proposals whose landing was begun and not finished.
    ///
    /// # Errors
    ///
    /// Failures of the journal.
    pub fn landing(&self) -> Result<Vec<ProposalId>, QueueError> {
        let mut all = self.entries()?;
        all.retain(|entry| entry.progress == Progress::Landing);
        Ok(all.into_iter().map(|entry| entry.summary.id).collect())
    }

    /// Returns a proposal.
    ///
    /// # Errors
    ///
    /// [`QueueError::Unknown`], and failures of the journal.
    pub fn proposal(&self, id: ProposalId) -> Result<Proposal, QueueError> {
        self.read(&name("proposal", id), id)?.ok_or(QueueError::Unknown { id })
    }

    /// Returns the decided proposals of the same conversation that came before a proposal, the newest first: at most 8.
    ///
    /// # Errors
    ///
    /// Failures of the journal.
    pub fn earlier(&self, proposal: &Proposal) -> Result<Vec<Proposal>, QueueError> {
        let all = self.entries()?;
        let is_earlier = |entry: &&Entry| {
            let summary = &entry.summary;
            // A closed one need not have been reviewed.
            let is_reviewed = entry.is_decided() && summary.end != Some(ProposalEnd::Closed);
            is_reviewed && summary.id < proposal.id && summary.conversation == proposal.conversation
        };
        let newest = all.iter().rev().filter(is_earlier).take(MOST_EARLIER);
        // Unreadable ones are skipped.
        let read = newest
            .map(|entry| self.proposal(entry.summary.id))
            .filter(|read| !matches!(read, Err(QueueError::Damaged { .. } | QueueError::Unknown { .. })));
        read.collect()
    }

    /// Returns the draft of a proposal; an empty one if nothing was written.
    ///
    /// # Errors
    ///
    /// Failures of the journal.
    pub fn draft(&self, id: ProposalId) -> Result<Draft, QueueError> {
        Ok(self.read(&name("draft", id), id)?.unwrap_or_default())
    }

    /// Returns the outcome of the last trial of a proposal; `None` if it was not tried.
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

    /// Keeps the outcome of a trial. The steps, if given, replace those of the proposal.
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
        let (name, bytes) = (name("tried", id), encoded(tried));
        let write = DocumentWrite::Put { name: &name, bytes: &bytes };
        match steps {
            Some(steps) => {
                proposal.steps = steps;
                proposal.is_tried = true;
                self.put_with(&proposal, &[write])?;
            }
            None => drop(self.journal.write_documents(&[write])?),
        }
        self.announce(&mut generation);
        Ok(())
    }

    /// Replaces the planned steps of a proposal, after the folder has changed. The draft moves to its next revision: a
    /// decision on the earlier steps is refused.
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
        let (name, bytes) = (name("draft", id), encoded(&draft));
        self.put_with(&proposal, &[DocumentWrite::Put { name: &name, bytes: &bytes }])?;
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
        // Under the lock of all changes: a draft saved from now on belongs to a decided proposal.
        let saved = self.draft(id)?.revision;
        if saved != revision {
            return Err(QueueError::Revised { revision: saved });
        }
        proposal.state = landing;
        self.put_with(&proposal, &[])?;
        self.announce(&mut generation);
        Ok(())
    }

    /// Advances a proposal, if `may` allows it for its current state.
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
        self.put_with(&proposal, &[])?;
        self.announce(&mut generation);
        Ok(proposal)
    }

    /// Waits until a proposal is over, or the time is up, and returns its current state.
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

    /// Removes the unreadable parts of a proposal: all of it, or its draft and its trial if the proposal itself can be
    /// read.
    ///
    /// # Errors
    ///
    /// [`QueueError::Readable`] if all of it can be read, [`QueueError::Decided`] if it is also over,
    /// [`QueueError::Unknown`], and failures of the journal.
    pub fn drop_unreadable(&self, id: ProposalId) -> Result<(), QueueError> {
        let mut generation = self.lock();
        let is_damaged = |fault: Option<QueueError>| matches!(fault, Some(QueueError::Damaged { .. }));
        match self.proposal(id) {
            Ok(proposal) => {
                let draft = is_damaged(self.draft(id).err()).then(|| name("draft", id));
                let tried = is_damaged(self.tried(id).err()).then(|| name("tried", id));
                let names: Vec<String> = draft.into_iter().chain(tried).collect();
                if names.is_empty() {
                    let is_over = matches!(proposal.state, State::Decided(_));
                    return Err(if is_over {
                        QueueError::Decided { id }
                    } else {
                        QueueError::Readable { id }
                    });
                }
                let removals: Vec<_> = names.iter().map(|name| DocumentWrite::Remove { name }).collect();
                self.journal.write_documents(&removals)?;
            }
            Err(QueueError::Damaged { .. }) => {
                let names = all_names(id);
                let removals = names.each_ref().map(|name| DocumentWrite::Remove { name });
                self.journal.write_documents(&removals)?;
            }
            Err(error) => return Err(error),
        }
        self.announce(&mut generation);
        Ok(())
    }

    /// Returns the names of the documents of the oldest decided proposals that exceed the limits.
    fn exceeding_limits(&self, all: &[Entry]) -> Vec<String> {
        let over: Vec<&Entry> = all.iter().filter(|entry| entry.is_decided()).collect();
        let mut count = over.len();
        let mut bytes: u64 = over.iter().map(|entry| entry.bytes).sum();
        let mut names = Vec::new();
        for entry in over {
            let is_too_much = bytes > self.limits.kept_bytes && entry.progress == Progress::Answered;
            if count > self.limits.kept || is_too_much {
                names.extend(all_names(entry.summary.id));
                count -= 1;
                bytes -= entry.bytes;
            }
        }
        names
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.generation.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self, generation: &mut u64) {
        *generation += 1;
        self.changed.notify_all();
    }
}
