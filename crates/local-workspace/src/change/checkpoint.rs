//! Syncing published files in the background, settling their changes in the journal, and checking the files that they
//! replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use change_journal::{ChangeNumber, ChangeState, Journal, RecordedChange};
use rel_path::RelPath;
use sandbox_fs::FileRoot;
use wap_core::ConversationId;

use crate::change::late_writes::LateWrites;
use crate::recover::disk_sync::{DiskSync, SyncError, is_failed_sync};
use crate::recover::unsynced::{mark, unmark, write_again};
use crate::turns::Turns;

/// The delay before a failed sync is retried, if nothing else is synced before.
const TRY_AGAIN: Duration = Duration::from_secs(10);

/// The number of a path's latest changes among which the one in force is searched.
const LATEST_CHANGES: u32 = 16;

/// After this many disk failures in one round, the rest waits for the next round.
const MOST_FAILURES: usize = 3;

/// The background thread that syncs. Dropping it waits for pending work.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    queue: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
    unsynced: Arc<Unsynced>,
}

/// The paths that failed to sync, published by the checkpoint's thread for the others.
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
        turns: Arc<Turns>,
    ) -> io::Result<Checkpoint> {
        let (queue, tasks) = mpsc::channel();
        let unsynced = Arc::new(Unsynced::default());
        let worker = Worker {
            root,
            journal,
            late_writes,
            turns,
            unsynced: Arc::clone(&unsynced),
            left: BTreeMap::new(),
            last_tried: None,
            not_made: BTreeMap::new(),
        };
        let thread = Builder::new().name("checkpoint".to_owned()).spawn(move || worker.run(&tasks))?;
        Ok(Checkpoint { queue: Some(queue), thread: Some(thread), unsynced })
    }

    /// The paths of changes whose sync has failed so far.
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
            // If the thread is gone, changes stay unsettled and the next opening checks them again.
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
    /// The turns of changes: a rewritten file is a new one, which must not appear between the check and the exchange of
    /// a batch, an undo or an adoption.
    turns: Arc<Turns>,
    unsynced: Arc<Unsynced>,
    /// Changes that failed to sync, oldest first, with their paths.
    left: BTreeMap<RelPath, Vec<ChangeNumber>>,
    /// The path of these that was tried last: the next round begins after it.
    last_tried: Option<RelPath>,
    /// Changes whose sync could not be attempted, oldest first, with their paths.
    not_made: BTreeMap<RelPath, Vec<ChangeNumber>>,
}

/// The paths of a round that are not synced.
#[derive(Debug, Default)]
struct NotSynced {
    /// Paths for which the disk reported an error.
    failed: BTreeSet<RelPath>,
    /// Paths whose sync could not be attempted.
    not_made: BTreeSet<RelPath>,
}

impl NotSynced {
    fn add<'p>(&mut self, synced: &Result<(), SyncError>, paths: impl Iterator<Item = &'p RelPath>) {
        match synced {
            Ok(()) => {}
            Err(SyncError::Disk(_)) => self.failed.extend(paths.cloned()),
            Err(SyncError::NotMade(_)) => self.not_made.extend(paths.cloned()),
        }
    }
}

impl Worker {
    fn run(mut self, tasks: &Receiver<Task>) {
        loop {
            let first = match self.left.is_empty() && self.not_made.is_empty() {
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
            // Everything that has queued up shares one round: a file that was changed ten times is synced once.
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
        let mut by_path = std::mem::take(&mut self.not_made);
        for (number, path) in changes {
            by_path.entry(path).or_default().push(number);
        }
        let NotSynced { failed, not_made } = self.sync(&by_path);
        for path in not_made.iter().filter(|path| !failed.contains(*path)) {
            // These errors say nothing about the disk, so the files are only synced once more.
            self.not_made.extend(by_path.remove_entry(path));
        }
        // The newest change of a path settles the older ones: they no longer have to be published.
        let old = std::mem::take(&mut self.left);
        let (superseded, mut left): (BTreeMap<_, _>, BTreeMap<_, _>) =
            old.into_iter().partition(|(path, _)| by_path.contains_key(path) && !failed.contains(path));
        let mut settled: Vec<_> = superseded.into_values().flatten().collect();
        unmark(&self.journal, settled.iter().copied());
        if !failed.is_empty() {
            let numbers = |path: &RelPath| by_path[path].iter().copied();
            // Before anything else: the next process that opens the journal must not trust these files.
            // If that fails, too, they at least stay unsettled.
            let _ = mark(&self.journal, failed.iter().flat_map(numbers));
        }
        for (path, numbers) in by_path {
            match failed.contains(&path) {
                true => left.entry(path).or_default().extend(numbers),
                false => settled.extend(numbers),
            }
        }
        settled.extend(self.write_again(left));
        // Anything that cannot be recorded now is found again when the journal is next opened.
        let _ = self.journal.settle_changes(&settled);
        self.unsynced.set(self.left.keys());
    }

    /// Syncs files, then the folders above them. Returns the paths that are not synced.
    fn sync(&self, by_path: &BTreeMap<RelPath, Vec<ChangeNumber>>) -> NotSynced {
        // All folders on the way: those above the nearest one may be as new as the file.
        let folders: BTreeSet<_> = by_path.keys().flat_map(folders_above).collect();
        let mut sync = DiskSync::new(&self.root);
        let mut not_synced = NotSynced::default();
        for path in by_path.keys() {
            not_synced.add(&sync.file(path), std::iter::once(path));
        }
        for folder in folders {
            let within = by_path.keys().filter(|path| path.starts_with(&folder));
            not_synced.add(&sync.folder(&folder), within);
        }
        not_synced
    }

    /// Writes failed changes once more, and keeps those that fail again. Returns the changes that are now on the disk.
    fn write_again(&mut self, mut left: BTreeMap<RelPath, Vec<ChangeNumber>>) -> Vec<ChangeNumber> {
        let mut settled = Vec::new();
        let mut failures = 0;
        let (tried, others): (Vec<_>, Vec<_>) =
            left.keys().cloned().partition(|path| self.last_tried.as_ref().is_some_and(|last| path <= last));
        for path in others.into_iter().chain(tried) {
            // A failing disk would make `wait` last for one attempt per file.
            if failures == MOST_FAILURES {
                break;
            }
            let Some(numbers) = left.remove(&path) else { continue };
            let turn = self.turns.wait();
            let written = self
                .change_in_force(&path, &numbers)
                .map(|change| write_again(&self.root, &self.journal, &path, &change));
            drop(turn);
            self.last_tried = Some(path.clone());
            match written {
                Some(Ok(replaced)) => {
                    if let Some((replaced, content)) = replaced {
                        self.late_writes.watch(path, &no_conversation(), replaced, content);
                    }
                    unmark(&self.journal, numbers.iter().copied());
                    settled.extend(numbers);
                }
                failed => {
                    // A file that cannot be written for another reason must not keep the others from being tried.
                    let is_of_disk =
                        failed.is_some_and(|failed| failed.is_err_and(|error| is_failed_sync(&error)));
                    failures += usize::from(is_of_disk);
                    self.left.insert(path, numbers);
                }
            }
        }
        self.left.extend(left);
        settled
    }

    /// Reads the last of these changes again; `None` if it cannot be read, or if a newer change of the path is pending,
    /// which is synced separately.
    fn change_in_force(&self, path: &RelPath, numbers: &[ChangeNumber]) -> Option<RecordedChange> {
        let changes = self.journal.reader().changes_of_path(path.as_bytes(), LATEST_CHANGES).ok()?;
        let newest = changes.into_iter().find(|change| change.state != ChangeState::Conflicted)?;
        (Some(&newest.number) == numbers.last()).then_some(newest)
    }
}

/// The conversation for work that no call has requested.
fn no_conversation() -> ConversationId {
    ConversationId(String::new())
}

fn folders_above(path: &RelPath) -> impl Iterator<Item = RelPath> {
    std::iter::successors(path.parent(), RelPath::parent)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use change_journal::{ChangeRecord, EntryRecord, JournalLimits, RunKey, RunState, StepKind, StepRecord};
    use sandbox_fs::{FsPolicy, RootRules};
    use tempfile::TempDir;

    use super::*;

    /// A worker over a folder, with the changes that gave each file its text.
    fn worker(files: &[(&str, &str)]) -> (TempDir, Worker, BTreeMap<RelPath, Vec<ChangeNumber>>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("workspace");
        fs::create_dir(&path).unwrap();
        let root = Arc::new(FileRoot::open(&path, &RootRules::none(), FsPolicy::default()).unwrap());
        let (journal, _) = Journal::open(&folder.path().join("journal"), JournalLimits::default()).unwrap();
        let late_writes = Arc::new(LateWrites::new(Arc::clone(&root), journal.clone()));
        let mut left = BTreeMap::new();
        for (name, text) in files {
            fs::write(path.join(name), text).unwrap();
            left.insert(RelPath::parse(name).unwrap(), vec![record(&journal, name, text)]);
        }
        let worker = Worker {
            root,
            journal,
            late_writes,
            turns: Arc::default(),
            unsynced: Arc::default(),
            left: BTreeMap::new(),
            last_tried: None,
            not_made: BTreeMap::new(),
        };
        (folder, worker, left)
    }

    fn record(journal: &Journal, name: &str, text: &str) -> ChangeNumber {
        let RunState::New(run) = journal.begin_run(&RunKey::once("test", text.as_bytes())).unwrap() else {
            panic!("the run is new")
        };
        let after = EntryRecord::file(text.as_bytes());
        let change = ChangeRecord::intended(name.as_bytes(), None, Some(after));
        let step =
            StepRecord { kind: StepKind::FileChange, description: "", outcome: b"", changes: vec![change] };
        journal.record_steps(run.number(), 0, &[step]).unwrap()[0]
    }

    #[test]
    fn files_that_can_never_be_written_again_do_not_keep_others_from_it() {
        let (folder, mut worker, left) = worker(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]);
        for name in ["a", "b", "c"] {
            let file = fs::File::create(folder.path().join("workspace").join(name)).unwrap();
            file.set_len((64 << 20) + 1).unwrap();
        }
        let last = left[&RelPath::parse("d").unwrap()].clone();
        assert_eq!(worker.write_again(left), last);
        assert_eq!(worker.left.len(), 3);
    }

    #[test]
    fn a_file_is_not_written_again_while_another_change_has_its_turn() {
        let (folder, mut worker, left) = worker(&[("a", "1")]);
        let inode = || {
            let metadata = fs::metadata(folder.path().join("workspace/a")).unwrap();
            std::os::unix::fs::MetadataExt::ino(&metadata)
        };
        let before = inode();
        let turns = Arc::clone(&worker.turns);
        let turn = turns.wait();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| worker.write_again(left));
            while turns.waiting() == 0 {
                assert!(!thread.is_finished(), "it did not wait for its turn");
                std::thread::yield_now();
            }
            assert_eq!(inode(), before);
            drop(turn);
            assert_eq!(thread.join().unwrap().len(), 1);
        });
        assert_ne!(inode(), before);
    }

    #[test]
    fn a_round_begins_after_the_last_path_that_was_tried() {
        let (_folder, mut worker, left) = worker(&[("a", "1"), ("b", "2"), ("c", "3")]);
        worker.last_tried = RelPath::parse("b").ok();
        let expected: Vec<_> = ["c", "a", "b"].map(|name| left[&RelPath::parse(name).unwrap()][0]).into();
        assert_eq!(worker.write_again(left), expected);
    }

    #[test]
    fn file_that_the_user_has_emptied_and_file_with_a_newer_change_stay() {
        let (folder, mut worker, left) = worker(&[("emptied", "1"), ("newer", "2"), ("zeros", "3")]);
        let at = |name: &str| folder.path().join("workspace").join(name);
        fs::write(at("emptied"), "").unwrap();
        fs::write(at("zeros"), "\0").unwrap();
        let inode = || std::os::unix::fs::MetadataExt::ino(&fs::metadata(at("newer")).unwrap());
        let before = inode();
        record(&worker.journal, "newer", "of the newer change");
        assert_eq!(worker.write_again(left).len(), 2);
        assert_eq!(fs::read_to_string(at("emptied")).unwrap(), "");
        // A sector that the disk lost.
        assert_eq!(fs::read_to_string(at("zeros")).unwrap(), "3");
        assert_eq!(inode(), before);
        assert_eq!(worker.left.len(), 1);
    }
}
