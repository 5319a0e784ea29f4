//! Waiting for something to happen in the inbox.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use notify::{RecursiveMode, Watcher as _};
use wap_core::CancelFlag;

/// How often the inbox is looked at when no event arrives: network file systems and containers lose events.
const SAFETY_POLL: Duration = Duration::from_millis(1500);

/// Wakes its owner when something in a folder changes, when a while has passed, or when it is cancelled.
#[derive(Debug)]
pub struct InboxWatcher {
    wakes: Receiver<()>,
    // Dropping the watcher ends the events.
    _watcher: Option<notify::RecommendedWatcher>,
    _cancel: wap_core::CancelGuard,
}

impl InboxWatcher {
    /// Starts to watch a folder. Where watching is not to be had, the safety poll alone goes on.
    pub fn new(folder: &Path, cancel: &CancelFlag) -> InboxWatcher {
        let (sender, wakes) = mpsc::sync_channel(1);
        let on_cancel = sender.clone();
        let wake = |sender: &SyncSender<()>| {
            // A full channel means that a wake-up is already waiting.
            let _ = sender.try_send(());
        };
        let guard = cancel.on_cancel(Box::new(move || wake(&on_cancel)));
        // What an event says does not matter: the inbox is looked at as a whole.
        let watcher = notify::recommended_watcher(move |_| wake(&sender))
            .and_then(|mut watcher| watcher.watch(folder, RecursiveMode::NonRecursive).map(|()| watcher))
            .ok();
        InboxWatcher { wakes, _watcher: watcher, _cancel: guard }
    }

    /// Blocks until there is a reason to look, at most `at_most` or the safety poll's interval.
    pub fn wait(&self, at_most: Option<Duration>) {
        let pause = at_most.unwrap_or(SAFETY_POLL).min(SAFETY_POLL);
        match self.wakes.recv_timeout(pause) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            // Without a watcher and without a canceller nobody can wake us: the poll remains.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(pause),
        }
    }
}
