//! Keeps what the owner of a state folder holds for undoing below its limit, in the background.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use change_journal::{GarbageReport, GarbageRule, Journal, JournalError, JournalReader};
use local_workspace::LocalWorkspace;
use tag_session::{SessionError, needed_contents, session_summaries};

use crate::notices::SharedNotices;

/// How much may be kept where nothing else is asked for, in bytes.
pub const USUAL_LIMIT_BYTES: u64 = 1 << 30;

/// How often it is looked whether there is too much.
const EVERY: Duration = Duration::from_secs(10);

/// The thread that collects; dropping this ends it, after the step that it is in.
#[derive(Debug)]
pub struct GarbageKeeper {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Stop {
    is_told: Mutex<bool>,
    told: Condvar,
}

/// The conversations of sessions that are not finished.
pub fn unfinished(journal: &JournalReader) -> Result<HashSet<String>, SessionError> {
    let summaries = session_summaries(journal)?.into_iter();
    Ok(summaries.filter(|summary| !summary.complete).map(|summary| summary.session).collect())
}

/// What may go: nothing that an unfinished session needs.
pub fn rule(
    journal: &JournalReader,
    unfinished: &HashSet<String>,
    limit_bytes: u64,
) -> Result<GarbageRule, SessionError> {
    let needed = needed_contents(journal)?;
    Ok(GarbageRule { limit_bytes, needed, conversations: unfinished.iter().cloned().collect() })
}

impl GarbageKeeper {
    /// Collects from now on. Without a thread nothing is collected, and everything else goes on.
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
            // Those who ask come first. Where it cannot be had, it is a thread like others.
            let _ = rustix::process::nice(10);
            keeping.keep(&stopped);
        });
        GarbageKeeper { stop, thread: thread.ok() }
    }
}

impl Drop for GarbageKeeper {
    fn drop(&mut self) {
        *self.stop.is_told.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.told.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Stop {
    fn is_told(&self) -> bool {
        *self.is_told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits, and says whether it was told to stop meanwhile.
    fn wait(&self, time: Duration) -> bool {
        let is_told = self.is_told.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.told.wait_timeout_while(is_told, time, |is_told| !*is_told);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// What is kept below a limit.
struct Keeping {
    workspace: Arc<LocalWorkspace>,
    journal: Journal,
    limit_bytes: u64,
    notices: SharedNotices,
}

impl Keeping {
    fn keep(&self, stop: &Stop) {
        // The last change that there was when it was looked, and whether it was said that not enough could go.
        let mut seen = None;
        let mut has_complained = false;
        while !stop.is_told() {
            let last = self
                .journal
                .reader()
                .latest_changes(None, 1)
                .ok()
                .and_then(|changes| changes.first().map(|change| change.number));
            if last != seen {
                match self.collect(stop) {
                    Ok(report) => {
                        self.tell(&report, &mut has_complained);
                        seen = last;
                    }
                    // The disk is full, for instance: it is tried again.
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
        if held <= self.limit_bytes {
            return Ok(nothing(held));
        }
        // Files must hold what the journal promises before their contents may go.
        self.workspace.checkpoint();
        let rule = rule(reader, &unfinished(reader)?, self.limit_bytes)?;
        let collected: Result<_, JournalError> =
            self.journal.collect_in_background(&rule, &|| !stop.is_told());
        Ok(collected?)
    }

    fn tell(&self, report: &GarbageReport, has_complained: &mut bool) {
        let GarbageReport { contents_removed, contents_bytes, changes_cut, kept_bytes, .. } = report;
        let limit = self.limit_bytes;
        if *contents_removed > 0 {
            self.notices.progress(&format!(
                "history: {contents_removed} old contents of files ({contents_bytes} bytes) were removed to keep to \
                 {limit} bytes; {changes_cut} changes can no longer be undone"
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
