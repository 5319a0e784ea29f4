//! Owns the open journal: opening, closing, and every write.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use crate::change::{ChangeNumber, ChangeRecord, ChangeState};
use crate::document::{DocumentVersion, DocumentWrite};
use crate::error::{JournalError, OpenError};
use crate::limits::JournalLimits;
use crate::open_runs::{OpenRun, OpenRuns};
use crate::reader::JournalReader;
use crate::run::{RunKey, RunNumber, RunState};
use crate::step::{StepKind, StepRecord};
use crate::store::checkpoint::Checkpointer;
use crate::store::connection::Location;
use content_hash::ContentHash;

use crate::store::content_store::{BlobFiles, KeepContent};
use crate::store::counters::{Counters, JournalCounts};
use crate::store::failure::Failure;
use crate::store::folder_lock::FolderLock;
use crate::store::open::{self, OpenReport, Opened};
use crate::write::prepare::Preparation;
use crate::write::run_writes::{AcknowledgeSetAside, FinishRun};
use crate::write::step_writes::{
    ChangeRows, ConflictChanges, FinishStep, MarkChanges, RecordSteps, StartStep, StepRow,
};
use crate::write::work::{Flush, Job, Queued, Work, insert_run};
use crate::write::writer::Writer;

/// An open journal. Cheap to clone; usable from any number of threads; closed when the last clone is dropped.
///
/// Unless it says otherwise, a method that writes returns once the write is on the disk, and leaves no trace
/// of the write if it fails.
#[derive(Clone)]
pub struct Journal {
    shared: Arc<Shared>,
}

struct Shared {
    limits: JournalLimits,
    reader: JournalReader,
    blobs: Option<BlobFiles>,
    counters: Arc<Counters>,
    open_runs: Arc<OpenRuns>,
    /// Set by the writer while no more lazy documents are kept.
    is_full: Arc<AtomicBool>,
    /// `None` only while the journal is being closed.
    queue: Option<Sender<Box<dyn Job>>>,
    /// `None` only while the journal is being closed.
    writer: Option<JoinHandle<()>>,
    /// Declared last: fields are dropped in order, so the folder is unlocked after everything else has
    /// closed.
    _lock: Option<FolderLock>,
}

impl fmt::Debug for Journal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Journal").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.reader.close_idle();
        // The writer thread ends when its queue closes, after committing the lazy writes.
        self.queue = None;
        if let Some(writer) = self.writer.take() {
            // The thread has reported its own panic; every acknowledged write is on the disk.
            let _ = writer.join();
        }
    }
}

impl Journal {
    /// Opens the journal in `folder`, whose files all belong to this crate. The folder is created if its
    /// parent exists. A damaged database is quarantined under another name and replaced by a new one, and
    /// reported.
    ///
    /// # Errors
    ///
    /// `Held` while it is open elsewhere, `Newer` if a newer program wrote it, `ReadOnly` or `Denied` if it
    /// cannot be written, `Missing` if the parent folder does not exist, `NoSpace` on a full disk.
    pub fn open(folder: &Path, limits: JournalLimits) -> Result<(Self, OpenReport), OpenError> {
        open::ensure_folder(folder)?;
        let lock = FolderLock::take(folder)?;
        let opened = open::open_folder(folder, &limits)?;
        let counters = Arc::new(Counters::default());
        let blobs = BlobFiles::new(folder, Arc::clone(&counters));
        Self::start(Location::Folder(folder.to_owned()), opened, limits, counters, Some(blobs), Some(lock))
    }

    /// Makes a journal in memory, without a lock and without files. Dropping it discards it.
    ///
    /// # Errors
    ///
    /// Only if memory or threads run out.
    pub fn in_memory() -> Result<Self, OpenError> {
        let location = Location::memory();
        let opened = open::open_memory(&location)?;
        let counters = Arc::new(Counters::default());
        Ok(Self::start(location, opened, JournalLimits::default(), counters, None, None)?.0)
    }

    /// Opens the journal in `folder` to read only; see [`JournalReader::open`].
    ///
    /// # Errors
    ///
    /// Those of [`JournalReader::open`].
    pub fn open_read_only(folder: &Path) -> Result<JournalReader, OpenError> {
        JournalReader::open(folder)
    }

    fn start(
        location: Location,
        opened: Opened,
        limits: JournalLimits,
        counters: Arc<Counters>,
        blobs: Option<BlobFiles>,
        lock: Option<FolderLock>,
    ) -> Result<(Self, OpenReport), OpenError> {
        let Opened { connection, opening, next_run, report } = opened;
        let (queue, queued) = channel();
        let is_full = Arc::new(AtomicBool::new(false));
        let writer = Writer {
            connection,
            checkpointer: Checkpointer::start(&location, &limits)?,
            location: location.clone(),
            opening,
            limits: limits.clone(),
            counters: Arc::clone(&counters),
            lazy: Vec::new(),
            lazy_due: None,
            is_full: Arc::clone(&is_full),
            stopped: None,
        };
        let thread = thread::Builder::new()
            .name("journal-writer".into())
            .spawn(move || writer.run(&queued))
            .map_err(Failure::from)?;
        let shared = Shared {
            limits,
            reader: JournalReader::new(location),
            blobs,
            counters,
            open_runs: Arc::new(OpenRuns::new(next_run)),
            is_full,
            queue: Some(queue),
            writer: Some(thread),
            _lock: lock,
        };
        Ok((Self { shared: Arc::new(shared) }, report))
    }

    /// Returns the reader of this journal.
    pub fn reader(&self) -> &JournalReader {
        &self.shared.reader
    }

    /// Returns the number of waits for the disk since the journal was opened.
    pub fn counts(&self) -> JournalCounts {
        self.shared.counters.read()
    }

    /// Begins the run that `key` names, unless it is finished, in progress, or recorded under another
    /// sequence.
    ///
    /// Nothing is written yet: the run's row is part of the first write of the run.
    ///
    /// # Errors
    ///
    /// Only if the journal cannot be read.
    pub fn begin_run(&self, key: &RunKey) -> Result<RunState, JournalError> {
        self.shared.open_runs.begin(key, false, &self.shared.reader)
    }

    /// Like [`begin_run`](Self::begin_run), for content that may be repeated under a new sequence.
    ///
    /// # Errors
    ///
    /// Only if the journal cannot be read.
    pub fn begin_run_again(&self, key: &RunKey) -> Result<RunState, JournalError> {
        self.shared.open_runs.begin(key, true, &self.shared.reader)
    }

    /// Returns whether a run is open in this process.
    #[must_use]
    pub fn is_open(&self, run: RunNumber) -> bool {
        self.shared.open_runs.find(run).is_some()
    }

    /// Records the start of a step whose outcome follows with [`finish_step`](Self::finish_step). If the
    /// process dies in between, the resumed run recalls the step as
    /// [`Recall::Unknown`](crate::Recall::Unknown).
    ///
    /// # Errors
    ///
    /// `RunNotOpen`, or `StepRecorded` if the step was started or recorded before.
    pub fn start_step(
        &self,
        run: RunNumber,
        index: u32,
        kind: StepKind,
        description: &str,
    ) -> Result<(), JournalError> {
        let run = self.open_run(run)?;
        self.wait_for(StartStep { run, index, kind, description: description.to_owned() })
    }

    /// Records the outcome of a started step and its changes, in one commit. Returns the numbers of
    /// the changes in their order.
    ///
    /// # Errors
    ///
    /// `RunNotOpen`, `StepNotOpen`, `EmptyChange`, `UnknownUndo`, `ContentMissing`, `TooLarge`.
    pub fn finish_step(
        &self,
        run: RunNumber,
        index: u32,
        outcome: &[u8],
        changes: &[ChangeRecord<'_>],
    ) -> Result<Vec<ChangeNumber>, JournalError> {
        let run = self.open_run(run)?;
        let preparation = self.preparation();
        let outcome = preparation.outcome(outcome)?;
        let mut rows = ChangeRows::default();
        preparation.add_changes(index, changes, &mut rows)?;
        self.wait_for(FinishStep { run, index, outcome, rows })
    }

    /// Records consecutive steps, the first of which has the index `first_index` (0-based), with their
    /// outcomes and changes, before and after, in one commit: all of it or none. Returns the numbers of all
    /// changes in their order.
    ///
    /// # Errors
    ///
    /// `RunNotOpen`, `StepRecorded`, `EmptyChange`, `UnknownUndo`, `ContentMissing`, `TooLarge`.
    ///
    /// # Panics
    ///
    /// If the last index would not fit into 32 bits.
    pub fn record_steps(
        &self,
        run: RunNumber,
        first_index: u32,
        steps: &[StepRecord<'_>],
    ) -> Result<Vec<ChangeNumber>, JournalError> {
        self.record_steps_at(run, (first_index..).zip(steps))
    }

    /// Records steps at any indexes (0-based), like [`record_steps`](Self::record_steps).
    ///
    /// # Errors
    ///
    /// Those of [`Journal::record_steps`].
    pub fn record_steps_at<'s, 'r: 's>(
        &self,
        run: RunNumber,
        steps: impl IntoIterator<Item = (u32, &'s StepRecord<'r>)>,
    ) -> Result<Vec<ChangeNumber>, JournalError> {
        let run = self.open_run(run)?;
        let preparation = self.preparation();
        let (mut rows, mut prepared) = (ChangeRows::default(), Vec::new());
        for (index, step) in steps {
            prepared.push(StepRow {
                index,
                kind: step.kind,
                description: step.description.to_owned(),
                outcome: preparation.outcome(step.outcome)?,
            });
            preparation.add_changes(index, &step.changes, &mut rows)?;
        }
        self.wait_for(RecordSteps { run, steps: prepared, rows })
    }

    /// Notes that the paths of these changes were observed to hold their after sides. Lazy: it returns at
    /// once and is part of the next commit; a crash before that only makes recovery check again.
    ///
    /// # Errors
    ///
    /// Only `Closed`. Numbers that do not exist are ignored.
    pub fn publish_changes(&self, numbers: &[ChangeNumber]) -> Result<(), JournalError> {
        self.mark(numbers, ChangeState::Published)
    }

    /// Notes that the paths of these changes and their folders have been synced. Lazy, like
    /// [`publish_changes`](Self::publish_changes).
    ///
    /// # Errors
    ///
    /// Only `Closed`. Numbers that do not exist are ignored.
    pub fn settle_changes(&self, numbers: &[ChangeNumber]) -> Result<(), JournalError> {
        self.mark(numbers, ChangeState::Settled)
    }

    /// Notes that another program changed the path and its version stayed, and replaces the outcome of the
    /// change's step with `outcome`. Lazy, like [`publish_changes`](Self::publish_changes); recovery would
    /// reach the same result. A change that is settled stays settled.
    ///
    /// # Errors
    ///
    /// `TooLarge` or `Closed`. A number that does not exist is ignored.
    pub fn conflict_change(&self, number: ChangeNumber, outcome: &[u8]) -> Result<(), JournalError> {
        self.conflict_changes(&[number], outcome)
    }

    /// Marks several changes of one step as conflicted at once, like
    /// [`conflict_change`](Self::conflict_change).
    ///
    /// # Errors
    ///
    /// Those of [`conflict_change`](Self::conflict_change).
    pub fn conflict_changes(&self, numbers: &[ChangeNumber], outcome: &[u8]) -> Result<(), JournalError> {
        let outcome = self.preparation().outcome(outcome)?;
        self.enqueue(Queued::new(ConflictChanges { numbers: numbers.to_owned(), outcome }, None))
    }

    /// Finishes a run and writes documents in the same commit. Returns the version of each document, `None`
    /// for a removed one. The run is then closed.
    ///
    /// # Errors
    ///
    /// `RunNotOpen`, `StepUnfinished`, `TooLarge`; the run stays open.
    pub fn finish_run(
        &self,
        run: RunNumber,
        outcome: &[u8],
        documents: &[DocumentWrite<'_>],
    ) -> Result<Vec<Option<DocumentVersion>>, JournalError> {
        let open_run = self.open_run(run)?;
        let preparation = self.preparation();
        let outcome = preparation.outcome(outcome)?;
        let documents = preparation.documents(documents)?;
        let versions = self.wait_for(FinishRun { run: open_run, outcome, documents })?;
        // Only now: after a failed write the run stays open, and can be finished again.
        self.shared.open_runs.close(run);
        Ok(versions)
    }

    /// Finishes a run that cannot be requested twice, such as one of [`RunKey::once`]. Lazy: it returns at
    /// once and is part of the next commit. A run that recorded nothing leaves no trace.
    ///
    /// # Errors
    ///
    /// `RunNotOpen`, `TooLarge`, `Closed`. A step without an outcome leaves the run unfinished, silently.
    pub fn finish_run_lazily(&self, run: RunNumber, outcome: &[u8]) -> Result<(), JournalError> {
        let open_run = self.open_run(run)?;
        let preparation = self.preparation();
        let outcome = preparation.outcome(outcome)?;
        let documents = preparation.documents(&[])?;
        // A run without a row has recorded nothing, so there is nothing to finish.
        if open_run.written.load(Ordering::Acquire) {
            self.enqueue(Queued::new(FinishRun { run: open_run, outcome, documents }, None))?;
        }
        self.shared.open_runs.close(run);
        Ok(())
    }

    /// Writes documents outside any run, in one commit. Returns the version of each, `None` for a removed one.
    ///
    /// # Errors
    ///
    /// `TooLarge`, and those of the disk.
    pub fn write_documents(
        &self,
        documents: &[DocumentWrite<'_>],
    ) -> Result<Vec<Option<DocumentVersion>>, JournalError> {
        self.wait_for(self.preparation().documents(documents)?)
    }

    /// Like [`write_documents`](Self::write_documents), but lazy: it returns at once and is part of the next
    /// commit, before all later writes. While the disk has no space for it, later writes are refused as
    /// well, even those that would fit.
    ///
    /// # Errors
    ///
    /// `TooLarge` or `Closed`; `NoSpace` if too many lazy writes are already waiting because they cannot be committed.
    pub fn write_documents_lazily(&self, documents: &[DocumentWrite<'_>]) -> Result<(), JournalError> {
        let documents = self.preparation().documents(documents)?;
        // A document that was accepted must not be lost while later writes are committed.
        if self.shared.is_full.load(Ordering::Relaxed) {
            return Err(JournalError::NoSpace);
        }
        self.enqueue(Queued::new(documents, None))
    }

    /// Keeps a content that no change refers to, such as a version of a file that a client received. Lazy: it
    /// returns at once and is part of the next commit, except that a large content is synced as a file first.
    ///
    /// # Errors
    ///
    /// `TooLarge` or `Closed`, and for a large content those of the disk.
    pub fn keep_content(&self, bytes: &[u8]) -> Result<ContentHash, JournalError> {
        let row = self.preparation().kept_content(bytes)?;
        let hash = row.hash;
        self.enqueue(Queued::new(KeepContent { row }, None))?;
        Ok(hash)
    }

    /// Writes a copy of the journal's current state into the new folder `folder`, whose parent exists. The
    /// copy opens like any other journal. It contains the runs that are open here under their numbers, even
    /// those that have recorded nothing yet. Large contents, which are files, are not copied: reading one
    /// from the copy fails with `ContentMissing`.
    ///
    /// # Errors
    ///
    /// Those of reading and writing, and of a folder that already exists. A partial copy stays.
    pub fn copy_to(&self, folder: &Path) -> Result<(), JournalError> {
        self.flush()?;
        self.shared.reader.copy_to(folder)?;
        let copy = Location::Folder(folder.to_owned()).connect_to_write()?;
        self.shared.open_runs.all().iter().try_for_each(|run| Ok(insert_run(&copy, run)?))
    }

    /// Waits until all earlier lazy writes are on the disk.
    ///
    /// # Errors
    ///
    /// Those of the disk; the lazy writes then stay queued.
    pub fn flush(&self) -> Result<(), JournalError> {
        self.wait_for(Flush)
    }

    /// Acknowledges the databases that were quarantined, so that reports no longer list them.
    ///
    /// # Errors
    ///
    /// Those of the disk.
    pub fn acknowledge_set_aside(&self) -> Result<(), JournalError> {
        self.wait_for(AcknowledgeSetAside)
    }

    fn mark(&self, numbers: &[ChangeNumber], state: ChangeState) -> Result<(), JournalError> {
        self.enqueue(Queued::new(MarkChanges { numbers: numbers.to_owned(), state }, None))
    }

    fn open_run(&self, run: RunNumber) -> Result<Arc<OpenRun>, JournalError> {
        self.shared.open_runs.find(run).ok_or(JournalError::RunNotOpen { run })
    }

    fn preparation(&self) -> Preparation<'_> {
        let Shared { limits, reader, blobs, .. } = &*self.shared;
        Preparation { limits, reader, blobs: blobs.as_ref() }
    }

    pub(crate) fn blobs(&self) -> Option<&BlobFiles> {
        self.shared.blobs.as_ref()
    }

    pub(crate) fn wait_for<W: Work>(&self, work: W) -> Result<W::Value, JournalError> {
        let (reply, answer) = sync_channel(1);
        self.enqueue(Queued::new(work, Some(reply)))?;
        answer.recv().map_err(|_| JournalError::Closed)?
    }

    fn enqueue<W: Work>(&self, job: Queued<W>) -> Result<(), JournalError> {
        let queue = self.shared.queue.as_ref().ok_or(JournalError::Closed)?;
        queue.send(Box::new(job)).map_err(|_| JournalError::Closed)
    }
}
