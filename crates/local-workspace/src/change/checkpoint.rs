//! Syncing published files in the background, settling their changes in the journal, and looking at what they replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use change_journal::{ChangeNumber, Journal};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};
use wap_core::ConversationId;

use crate::change::late_writes::LateWrites;
use crate::recover::unsynced::{is_failed_sync, mark, unmark, write_again};

/// The delay before a failed sync is retried, if nothing else is synced before.
const TRY_AGAIN: Duration = Duration::from_secs(10);

/// After this many failures in one round the rest waits for the next one.
const MOST_FAILURES: usize = 3;

/// The background thread that syncs. Dropping it waits for what is under way.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    queue: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
    unsynced: Arc<Unsynced>,
}

/// The paths that the disk has not taken, published by the checkpoint's thread for the others.
#[derive(Debug, Default)]
struct Unsynced(Mutex<Vec<String>>);

impl Unsynced {
    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set<'p>(&self, paths: impl Iterator<Item = &'p RelPath>) {
        *self.lock() = paths.map(RelPath::to_string).collect();
    }
}

enum Task {
    Settle(Vec<(ChangeNumber, RelPath)>),
    Answer(SyncSender<()>),
}

impl Checkpoint {
    pub(crate) fn start(
        root: Arc<FileRoot>,
        journal: Journal,
        late_writes: Arc<LateWrites>,
    ) -> io::Result<Checkpoint> {
        let (queue, tasks) = mpsc::channel();
        let unsynced = Arc::new(Unsynced::default());
        let worker =
            Worker { root, journal, late_writes, unsynced: Arc::clone(&unsynced), left: BTreeMap::new() };
        let thread = Builder::new().name("checkpoint".to_owned()).spawn(move || worker.run(&tasks))?;
        Ok(Checkpoint { queue: Some(queue), thread: Some(thread), unsynced })
    }

    /// The paths of changes that the disk has not taken yet, although it was asked to.
    pub(crate) fn unsynced(&self) -> Vec<String> {
        self.unsynced.lock().clone()
    }

    /// Takes published changes to be synced and settled.
    pub(crate) fn add(&self, changes: Vec<(ChangeNumber, RelPath)>) {
        if !changes.is_empty() {
            self.send(Task::Settle(changes));
        }
    }

    /// Waits until everything that was added before is settled.
    pub(crate) fn wait(&self) {
        let (answer, answered) = mpsc::sync_channel(1);
        self.send(Task::Answer(answer));
        // The thread ends only after the queue is closed, which needs this value itself.
        let _ = answered.recv();
    }

    fn send(&self, task: Task) {
        if let Some(queue) = &self.queue {
            // If the thread is gone, changes stay unsettled and the next opening looks at them again.
            let _ = queue.send(task);
        }
    }
}

impl Drop for Checkpoint {
    fn drop(&mut self) {
        // Closing the queue ends the thread, once it has settled what is left in it.
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state of the checkpoint's thread.
struct Worker {
    root: Arc<FileRoot>,
    journal: Journal,
    late_writes: Arc<LateWrites>,
    unsynced: Arc<Unsynced>,
    /// Changes that the disk did not take, oldest first, with their paths.
    left: BTreeMap<RelPath, Vec<ChangeNumber>>,
}

impl Worker {
    fn run(mut self, tasks: &Receiver<Task>) {
        loop {
            let first = match self.left.is_empty() {
                true => tasks.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => tasks.recv_timeout(TRY_AGAIN),
            };
            let first = match first {
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let mut changes = Vec::new();
            let mut waiting = Vec::new();
            // Everything that has queued up meanwhile shares one round: a file that was changed ten times is synced once.
            for task in first.into_iter().chain(tasks.try_iter()) {
                match task {
                    Task::Settle(more) => changes.extend(more),
                    Task::Answer(answer) => waiting.push(answer),
                }
            }
            self.settle(changes);
            self.late_writes.look();
            for answer in waiting {
                let _ = answer.send(());
            }
        }
        self.late_writes.look_last();
    }

    fn settle(&mut self, changes: Vec<(ChangeNumber, RelPath)>) {
        let mut by_path: BTreeMap<RelPath, Vec<ChangeNumber>> = BTreeMap::new();
        for (number, path) in changes {
            by_path.entry(path).or_default().push(number);
        }
        let failed = self.sync(&by_path);
        // With the newest change of a path the older ones are settled: nothing of theirs is to be brought into place any more.
        let old = std::mem::take(&mut self.left);
        let (superseded, mut left): (BTreeMap<_, _>, BTreeMap<_, _>) =
            old.into_iter().partition(|(path, _)| by_path.contains_key(path) && !failed.contains(path));
        let mut settled: Vec<_> = superseded.into_values().flatten().collect();
        unmark(&self.journal, settled.iter().copied());
        if !failed.is_empty() {
            let numbers = |path: &RelPath| by_path[path].iter().copied();
            // Before anything else: the next process that opens the journal must not trust these files.
            // Where that fails, too, they stay unsettled at least.
            let _ = mark(&self.journal, failed.iter().flat_map(numbers));
        }
        for (path, numbers) in by_path {
            match failed.contains(&path) {
                true => left.entry(path).or_default().extend(numbers),
                false => settled.extend(numbers),
            }
        }
        settled.extend(self.write_again(left));
        // What cannot be noted now is found again when the journal is next opened.
        let _ = self.journal.settle_changes(&settled);
        self.unsynced.set(self.left.keys());
    }

    /// Syncs files, then the folders above them. Answers with the paths of which the disk did not take something.
    fn sync(&self, by_path: &BTreeMap<RelPath, Vec<ChangeNumber>>) -> BTreeSet<RelPath> {
        // All folders on the way: those above the nearest one may be as new as the file.
        let folders: BTreeSet<_> = by_path.keys().flat_map(folders_above).collect();
        let is_failed = |synced: Result<(), FsError>| synced.is_err_and(|error| is_failed_sync(&error));
        let mut failed: BTreeSet<_> =
            by_path.keys().filter(|path| is_failed(sync_file(&self.root, path))).cloned().collect();
        for folder in folders.iter().filter(|folder| is_failed(sync_folder(&self.root, folder))) {
            failed.extend(by_path.keys().filter(|path| path.starts_with(folder)).cloned());
        }
        failed
    }

    /// Writes what the disk did not take once more, and keeps what it does not take now either. Answers with the changes
    /// that are on the disk.
    fn write_again(&mut self, left: BTreeMap<RelPath, Vec<ChangeNumber>>) -> Vec<ChangeNumber> {
        let mut settled = Vec::new();
        let mut failures = 0;
        for (path, numbers) in left {
            let newest = numbers.last().and_then(|number| self.journal.reader().change(*number).ok()?);
            let written = newest
                // A disk that takes nothing would make `wait` last for one attempt per file.
                .filter(|_| failures < MOST_FAILURES)
                .map(|change| write_again(&self.root, &self.journal, &path, &change));
            match written {
                Some(Ok(replaced)) => {
                    if let Some((replaced, content)) = replaced {
                        self.late_writes.watch(path, &no_conversation(), replaced, content);
                    }
                    unmark(&self.journal, numbers.iter().copied());
                    settled.extend(numbers);
                }
                failed => {
                    failures += usize::from(failed.is_some());
                    self.left.insert(path, numbers);
                }
            }
        }
        settled
    }
}

/// The conversation of what no call has asked for.
fn no_conversation() -> ConversationId {
    ConversationId(String::new())
}

fn folders_above(path: &RelPath) -> impl Iterator<Item = RelPath> {
    std::iter::successors(path.parent(), RelPath::parent)
}

/// A file that is gone was deleted, by us or since; its folder's sync covers that.
fn sync_file(root: &FileRoot, path: &RelPath) -> Result<(), FsError> {
    match root.sync_file(path) {
        Err(
            FsError::NotFound { .. }
            | FsError::ParentMissing { .. }
            | FsError::NotAFile { .. }
            | FsError::IsLink { .. },
        ) => Ok(()),
        other => other,
    }
}

fn sync_folder(root: &FileRoot, folder: &RelPath) -> Result<(), FsError> {
    match root.sync_folder(folder) {
        Err(FsError::NotFound { .. } | FsError::ParentMissing { .. } | FsError::NotAFolder { .. }) => Ok(()),
        other => other,
    }
}
