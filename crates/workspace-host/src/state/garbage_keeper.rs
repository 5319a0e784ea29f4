//! Keeps the history for undoing below its limit, in the background of the owner of a state folder.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use change_journal::{GarbageReport, GarbageRule, Journal, JournalError, JournalReader};
use local_workspace::LocalWorkspace;
use tag_session::{SessionError, needed_contents, session_summaries};

use crate::notices::SharedNotices;

/// The default limit of the history, in bytes.
pub const USUAL_LIMIT_BYTES: u64 = 1 << 30;

/// The interval of the checks.
const EVERY: Duration = Duration::from_secs(10);

/// The collecting thread; dropping this ends it after its current step.
#[derive(Debug)]
pub struct GarbageKeeper {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Stop {
    is_requested: Mutex<bool>,
    requested: Condvar,
}

/// Returns the conversations of unfinished sessions.
pub fn unfinished(journal: &JournalReader) -> Result<HashSet<String>, SessionError> {
    let summaries = session_summaries(journal)?.into_iter();
    Ok(summaries.filter(|summary| !summary.complete).map(|summary| summary.session).collect())
}

/// Returns the rule for removals: nothing that an unfinished session needs is removed.
pub fn rule(
    journal: &JournalReader,
    unfinished: &HashSet<String>,
    limit_bytes: u64,
) -> Result<GarbageRule, SessionError> {
    let needed = needed_contents(journal)?;
    Ok(GarbageRule { limit_bytes, needed, conversations: unfinished.iter().cloned().collect() })
}

impl GarbageKeeper {
    /// Collects from now on. Without a thread nothing is collected, and everything else works.
    pub fn start(
        workspace: &Arc<LocalWorkspace>,
        journal: &Journal,
        limit_bytes: u64,
        notices: &SharedNotices,
    ) -> GarbageKeeper {
        let stop = Arc::new(Stop::default());
        let keeping = Keeping {
            workspace: Arc::clone(workspace),
            journal: journal.clone(),
            limit_bytes,
            notices: Arc::clone(notices),
        };
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new().name("garbage".to_owned()).spawn(move || {
            // Calls have priority. If the thread's priority cannot be lowered, collecting still works.
            let _ = rustix::process::nice(10);
            keeping.keep(&stopped);
        });
        GarbageKeeper { stop, thread: thread.ok() }
    }
}

impl Drop for GarbageKeeper {
    fn drop(&mut self) {
        *self.stop.is_requested.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.requested.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Stop {
    fn is_requested(&self) -> bool {
        *self.is_requested.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for `time`, or until a stop is requested; returns true if it is.
    fn wait(&self, time: Duration) -> bool {
        let is_requested = self.is_requested.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.requested.wait_timeout_while(is_requested, time, |is_requested| !*is_requested);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The history that is kept below a limit.
struct Keeping {
    workspace: Arc<LocalWorkspace>,
    journal: Journal,
    limit_bytes: u64,
    notices: SharedNotices,
}

impl Keeping {
    fn keep(&self, stop: &Stop) {
        // The last change at the time of the last check: without a new one there is nothing to collect.
        let mut checked = None;
        let mut has_complained = false;
        while !stop.is_requested() {
            let last = self
                .journal
                .reader()
                .latest_changes(None, 1)
                .ok()
                .and_then(|changes| changes.first().map(|change| change.number));
            if last != checked {
                match self.collect(stop) {
                    Ok(report) => {
                        self.report(&report, &mut has_complained);
                        checked = last;
                    }
                    // The disk is full, for instance: the next check tries again.
                    Err(error) => self.notices.detail(&format!("nothing is collected: {error}")),
                }
            }
            if stop.wait(EVERY) {
                return;
            }
        }
    }

    fn collect(&self, stop: &Stop) -> Result<GarbageReport, SessionError> {
        let reader = self.journal.reader();
        let held = reader.held_bytes().map_err(SessionError::from)?;
        // Most checks end here, before anything expensive.
        if held <= self.limit_bytes {
            return Ok(nothing(held));
        }
        // Files must hold what the journal promises before their contents may be removed.
        self.workspace.checkpoint();
        let rule = rule(reader, &unfinished(reader)?, self.limit_bytes)?;
        let collected: Result<_, JournalError> =
            self.journal.collect_in_background(&rule, &|| !stop.is_requested());
        Ok(collected?)
    }

    fn report(&self, report: &GarbageReport, has_complained: &mut bool) {
        let GarbageReport { contents_removed, contents_bytes, changes_cut, kept_bytes, .. } = report;
        let limit = self.limit_bytes;
        let noun = if *changes_cut == 1 { "change" } else { "changes" };
        if *contents_removed > 0 {
            self.notices.progress(&format!(
                "history: {contents_removed} old contents of files ({contents_bytes} bytes) were removed to keep to \
                 {limit} bytes; {changes_cut} {noun} can no longer be undone"
            ));
        }
        let is_over = *kept_bytes > limit;
        if is_over && !*has_complained {
            self.notices.notice(&format!(
                "history: {kept_bytes} bytes of contents are kept, more than the limit of {limit}: unfinished sessions, \
                 and what was shown today, need them"
            ));
        }
        *has_complained = is_over;
    }
}

fn nothing(kept_bytes: u64) -> GarbageReport {
    let mut report = GarbageReport::default();
    report.kept_bytes = kept_bytes;
    report
}
