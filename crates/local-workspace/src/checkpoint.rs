//! Syncing published files in the background, settling their changes in the journal, and looking at what they replaced.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{Builder, JoinHandle};

use change_journal::{ChangeNumber, Journal};
use rel_path::RelPath;
use sandbox_fs::{FileRoot, FsError};

use crate::late_writes::LateWrites;

/// The background thread that syncs. Dropping it waits for what is under way.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    queue: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
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
        let thread = Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || run(&root, &journal, &late_writes, &tasks))?;
        Ok(Checkpoint { queue: Some(queue), thread: Some(thread) })
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
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(root: &FileRoot, journal: &Journal, late_writes: &LateWrites, tasks: &Receiver<Task>) {
    while let Ok(first) = tasks.recv() {
        let mut changes = Vec::new();
        let mut waiting = Vec::new();
        // Everything that has queued up meanwhile shares one round: a file that was changed ten times is synced once.
        for task in std::iter::once(first).chain(tasks.try_iter()) {
            match task {
                Task::Settle(more) => changes.extend(more),
                Task::Answer(answer) => waiting.push(answer),
            }
        }
        settle(root, journal, &changes);
        late_writes.look();
        for answer in waiting {
            let _ = answer.send(());
        }
    }
    late_writes.look();
}

fn settle(root: &FileRoot, journal: &Journal, changes: &[(ChangeNumber, RelPath)]) {
    let paths: BTreeSet<_> = changes.iter().map(|(_, path)| path).collect();
    // All folders on the way: those above the nearest one may be as new as the file.
    let folders: BTreeSet<_> = paths.iter().flat_map(|path| folders_above(path)).collect();
    let failed: BTreeSet<_> = paths.into_iter().filter(|path| sync_file(root, path).is_err()).collect();
    let unsynced_folders: BTreeSet<_> =
        folders.iter().filter(|folder| sync_folder(root, folder).is_err()).collect();
    let is_synced = |path: &RelPath| {
        !failed.contains(path) && folders_above(path).all(|folder| !unsynced_folders.contains(&folder))
    };
    let numbers: Vec<_> =
        changes.iter().filter(|(_, path)| is_synced(path)).map(|(number, _)| *number).collect();
    // What cannot be noted now is found again when the journal is next opened.
    let _ = journal.settle_changes(&numbers);
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
