//! Watches for a session that advances without the process that waits for its replies: `agentd apply`, or the page, may execute one.

use std::thread::{self, JoinHandle};

use drop_folder::FolderWatcher;
use tag_session::{read_session, session_page};
use tagproto::{Session, SessionId};
use wap_core::CancelFlag;
use workspace_host::{SharedSessions, WorkspacePaths};

/// A thread that looks for a newer message of a session in the journal. It ends with this value.
pub(super) struct AdvanceWatch {
    stop: CancelFlag,
    thread: Option<JoinHandle<()>>,
}

impl AdvanceWatch {
    /// Begins to watch; `wake` is raised once the session is complete, or its pending message is another one than `announced`.
    pub(super) fn begin(
        sessions: &SharedSessions,
        id: SessionId,
        announced: u32,
        wake: &CancelFlag,
    ) -> AdvanceWatch {
        let (paths, stop) = (sessions.paths().clone(), CancelFlag::new());
        let (stopped, wake) = (stop.clone(), wake.clone());
        let has_advanced = move |session: &Session| has_advanced(session, announced);
        let watch = move || {
            if watch(&paths, id, &has_advanced, &stopped) {
                wake.cancel();
            }
        };
        // Without the thread, the session is followed by its inbox alone.
        let thread = thread::Builder::new().name("session-watch".to_owned()).spawn(watch).ok();
        AdvanceWatch { stop, thread }
    }
}

impl Drop for AdvanceWatch {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Checks whether a session has another pending message than the one that was announced last, or is complete.
pub(super) fn has_advanced(session: &Session, announced: u32) -> bool {
    session.is_complete || session.sequence_number != announced
}

/// Blocks until the session has advanced; returns false if the watch was stopped first.
fn watch(
    paths: &WorkspacePaths,
    id: SessionId,
    has_advanced: &dyn Fn(&Session) -> bool,
    stop: &CancelFlag,
) -> bool {
    let watcher = FolderWatcher::new(&paths.base.join("journal"), stop);
    let mut looked_at = None;
    while !stop.is_cancelled() {
        // A journal that cannot be read now is reported by the command that needs it.
        if let Some(reader) = paths.journal_reader().ok().flatten() {
            // The version first: most commits to the journal are not about sessions.
            let version = session_page(&reader, 0, 0).ok().map(|page| page.version);
            if version != looked_at {
                looked_at = version;
                if read_session(&reader, id).is_ok_and(|session| has_advanced(&session)) {
                    return true;
                }
            }
        }
        watcher.wait(None);
    }
    false
}
