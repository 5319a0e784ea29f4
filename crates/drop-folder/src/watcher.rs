//! Waits for changes in a folder.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecursiveMode, Watcher as _};
use wap_core::CancelFlag;

/// The polling interval if no event arrives: network file systems and containers lose events.
const SAFETY_POLL: Duration = Duration::from_millis(1500);

/// Wakes its owner when a folder changes, after a timeout, or on cancellation.
#[derive(Debug)]
pub struct FolderWatcher {
    wakes: Receiver<()>,
    // Kept for its drop, which ends the events. `None` if the folder cannot be watched.
    _watcher: Option<notify::RecommendedWatcher>,
    _cancel: wap_core::CancelGuard,
}

impl FolderWatcher {
    /// Starts to watch a folder. If it cannot be watched, polling remains.
    pub fn new(folder: &Path, cancel: &CancelFlag) -> FolderWatcher {
        let (sender, wakes) = mpsc::sync_channel(1);
        let on_cancel = sender.clone();
        let wake = |sender: &SyncSender<()>| {
            // A full channel means that a wake-up is already pending.
            let _ = sender.try_send(());
        };
        let guard = cancel.on_cancel(Box::new(move || wake(&on_cancel)));
        // The name in an event is not used: the whole folder is listed.
        let on_event = move |event: notify::Result<Event>| {
            if !event.is_ok_and(|event| is_only_a_read(event.kind)) {
                wake(&sender);
            }
        };
        let watcher = notify::recommended_watcher(on_event)
            .and_then(|mut watcher| watcher.watch(folder, RecursiveMode::NonRecursive).map(|()| watcher))
            .ok();
        FolderWatcher { wakes, _watcher: watcher, _cancel: guard }
    }

    /// Blocks until there is a reason to list the folder, at most `at_most` or the polling interval.
    pub fn wait(&self, at_most: Option<Duration>) {
        let pause = at_most.unwrap_or(SAFETY_POLL).min(SAFETY_POLL);
        match self.wakes.recv_timeout(pause) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            // Without a watcher and a canceller, no wake-up can arrive: polling remains.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(pause),
        }
    }
}

/// Checks whether an event is only a read: listing the folder is such an event itself, and must not cause the next listing.
fn is_only_a_read(kind: EventKind) -> bool {
    matches!(kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_wakes_and_listing_the_folder_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let watcher = FolderWatcher::new(folder.path(), &CancelFlag::new());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let pause = Duration::from_millis(300);
        assert_eq!(watcher.wakes.recv_timeout(pause), Err(RecvTimeoutError::Timeout));
        std::fs::write(folder.path().join("reply.txt"), "text").unwrap();
        assert_eq!(watcher.wakes.recv_timeout(Duration::from_secs(10)), Ok(()));
    }
}
