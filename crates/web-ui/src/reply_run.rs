//! Replies that are being executed for a page, each on its own thread.

mod live_output;
mod observer;
mod progress;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use axum::http::StatusCode;
use serde::Serialize;
use tagproto::{SessionId, Strictness, read_in};
use wap_core::CancelFlag;
use workspace_host::{AppliedReply, ApplyReply, Exit, Failure, SessionRefusal, SharedSessions, Watching};

use crate::answer::Refused;
use crate::event_hub::EventHub;
use observer::RunObserver;
use progress::{BlockProgress, BlockView, Ended, Progress, RunView};

/// The most ended runs that are kept for reloaded pages, and the most bytes of them.
const MOST_ENDED: usize = 32;
const MOST_ENDED_BYTES: usize = 32 << 20;

/// The pause between two events with output.
const OUTPUT_PAUSE: Duration = Duration::from_millis(40);

/// The most blocks of a run that are shown.
const MOST_BLOCKS: usize = 1_000;

/// The error of a run in which this program panics.
const FAULT: &str = "agentd has a fault and could not execute this reply to its end";
const AFTER_FAULT: &str =
    "look in the history at what it has done, and run the reply again: what was done is not repeated";

/// The replies of one process.
#[derive(Debug)]
pub(crate) struct Runs {
    events: Arc<EventHub>,
    state: Mutex<BTreeMap<u64, Arc<Run>>>,
}

/// A reply that is being executed, or has been.
#[derive(Debug)]
pub(crate) struct Run {
    id: u64,
    session: SessionId,
    cancel: CancelFlag,
    progress: Mutex<Progress>,
    events: Arc<EventHub>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "run", rename_all = "camelCase")]
struct RunEvent<T: Serialize> {
    run: u64,
    session: String,
    #[serde(flatten)]
    what: T,
}

#[derive(Serialize)]
#[serde(tag = "what", rename_all = "camelCase")]
enum What {
    Begun,
    Block { index: usize, block: Box<BlockView> },
    Output { index: usize, text: String, left_out_bytes: u64 },
    Ended { ended: Ended },
}

impl Runs {
    pub(crate) fn new(events: &Arc<EventHub>) -> Runs {
        Runs { events: Arc::clone(events), state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Run>>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to execute a reply, and returns the number of the run. `when_ended` is called on its thread.
    pub(crate) fn begin(
        &self,
        sessions: &Arc<SharedSessions>,
        request: ApplyReply,
        when_ended: impl FnOnce() + Send + 'static,
    ) -> Result<u64, Refused> {
        let session = request.reply.session;
        let mut runs = self.lock();
        if runs.values().any(|run| run.session == session && !run.has_ended()) {
            let refused = Refused::new(StatusCode::CONFLICT, "a reply of this session is being executed");
            return Err(refused.advise("wait until it has ended, or stop it"));
        }
        let id = runs.last_key_value().map_or(1, |(id, _)| id + 1);
        forget(&mut runs);
        let run = Arc::new(Run {
            id,
            session,
            cancel: CancelFlag::new(),
            progress: Mutex::default(),
            events: Arc::clone(&self.events),
        });
        runs.insert(id, Arc::clone(&run));
        drop(runs);
        run.publish(What::Begun);
        let sessions = Arc::clone(sessions);
        let work = Arc::clone(&run);
        let started = thread::Builder::new().name("page-reply".to_owned()).spawn(move || {
            work.execute(|| work.call(&sessions, &request));
            when_ended();
        });
        if let Err(error) = started {
            let text = format!("the reply could not be started: {error}");
            run.end(Ended { error: Some(text.clone()), ..Ended::default() });
            return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, text));
        }
        Ok(id)
    }

    /// Returns a run.
    pub(crate) fn find(&self, id: u64) -> Option<Arc<Run>> {
        self.lock().get(&id).cloned()
    }

    /// Returns the newest run of a session.
    pub(crate) fn newest(&self, session: SessionId) -> Option<Arc<Run>> {
        self.lock().values().rev().find(|run| run.session == session).cloned()
    }

    /// Requests the end of every run.
    pub(crate) fn stop_all(&self) {
        let runs: Vec<_> = self.lock().values().cloned().collect();
        runs.iter().for_each(|run| run.cancel.cancel());
    }
}

/// Drops the oldest ended runs, if they are too many or too large.
fn forget(runs: &mut BTreeMap<u64, Arc<Run>>) {
    let (mut count, mut bytes) = (0, 0);
    let mut forgotten = Vec::new();
    for (id, run) in runs.iter().rev().filter(|(_, run)| run.has_ended()) {
        (count, bytes) = (count + 1, bytes + run.lock().bytes());
        if count > MOST_ENDED || bytes > MOST_ENDED_BYTES {
            forgotten.push(*id);
        }
    }
    forgotten.iter().for_each(|id| drop(runs.remove(id)));
}

impl Run {
    /// Returns a run that does nothing yet.
    #[cfg(test)]
    fn idle() -> Arc<Run> {
        Arc::new(Run {
            id: 1,
            session: "0123abcd".parse().unwrap(),
            cancel: CancelFlag::new(),
            progress: Mutex::default(),
            events: Arc::new(EventHub::new()),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.lock().ended.is_some()
    }

    /// Requests its end; blocks that are done stay done.
    pub(crate) fn stop(&self) {
        self.cancel.cancel();
    }

    /// Returns its current state.
    pub(crate) fn view(&self) -> RunView {
        let progress = self.lock();
        RunView {
            run: self.id,
            session: self.session.to_string(),
            blocks: progress.blocks.iter().map(BlockProgress::view).collect(),
            blocks_left_out: progress.blocks_left_out,
            ended: progress.ended.clone(),
            last_event: progress.last_event,
        }
    }

    fn publish(&self, what: What) {
        self.publish_within(&mut self.lock(), what);
    }

    /// Publishes under the lock, so that a view contains exactly the events up to its number.
    fn publish_within(&self, progress: &mut Progress, what: What) {
        let event = RunEvent { run: self.id, session: self.session.to_string(), what };
        progress.last_event = self.events.publish(&event);
    }

    /// Executes the reply, and records the end of the run in any case: a run that never ends would block every further reply of
    /// its session.
    fn execute(&self, call: impl FnOnce() -> Result<Result<AppliedReply, SessionRefusal>, Failure>) {
        let failed = |failure: Failure| Ended {
            error: Some(failure.message),
            advice: failure.advice,
            ..Ended::default()
        };
        let ended = match catch_unwind(AssertUnwindSafe(call)) {
            Ok(Ok(Ok(applied))) => Ended::of(&applied),
            Ok(Ok(Err(refusal))) => failed(refusal.into_failure()),
            Ok(Err(failure)) => failed(failure),
            Err(_) => failed(Failure::new(Exit::Failed, FAULT).advise(AFTER_FAULT)),
        };
        self.end(ended);
    }

    fn call(
        self: &Arc<Run>,
        sessions: &SharedSessions,
        request: &ApplyReply,
    ) -> Result<Result<AppliedReply, SessionRefusal>, Failure> {
        let session = sessions.session(request.reply.session)?;
        let incoming = session.incoming(&request.reply.text);
        let text = incoming.text().filter(|_| !incoming.is_held(request.reply.run_complete));
        let reply = read_in(text.unwrap_or_default(), Strictness::Repair, session.dialect);
        let flushing = self.flush_regularly();
        let mut observer = RunObserver::new(self);
        let mut watching = Watching::new(&reply.items, &mut observer);
        let answer = sessions.call_watched(request, &self.cancel, &mut watching);
        drop(flushing);
        answer
    }

    /// Publishes new output at intervals, until the returned value is dropped.
    fn flush_regularly(self: &Arc<Run>) -> Flushing {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let run = Arc::clone(self);
        // Without the thread, output is shown when its block ends.
        let _ = thread::Builder::new().name("page-output".to_owned()).spawn(move || {
            while let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(OUTPUT_PAUSE) {
                run.flush(&mut run.lock());
            }
        });
        Flushing(Some(end))
    }

    fn flush(&self, progress: &mut Progress) {
        // Only the last block can have new output.
        let Some(index) = progress.blocks.len().checked_sub(1) else { return };
        if let Some((text, left_out_bytes)) = progress.blocks[index].output.take_new() {
            self.publish_within(progress, What::Output { index, text, left_out_bytes });
        }
    }

    fn end(&self, ended: Ended) {
        let mut progress = self.lock();
        self.flush(&mut progress);
        progress.ended = Some(ended.clone());
        self.publish_within(&mut progress, What::Ended { ended });
    }
}

/// Ends the thread that publishes output.
struct Flushing(Option<std::sync::mpsc::Sender<()>>);

impl Drop for Flushing {
    fn drop(&mut self) {
        drop(self.0.take());
    }
}

#[cfg(test)]
mod tests {
    use workspace_host::{Exit, Failure};

    use super::{FAULT, Run};

    #[test]
    fn a_run_in_which_the_program_panics_has_ended() {
        let ended = |panics: bool| {
            let run = Run::idle();
            assert!(!run.has_ended());
            run.execute(|| match panics {
                true => panic!("a fault"),
                false => Err(Failure::new(Exit::Failed, "a failure")),
            });
            assert!(run.has_ended());
            run.view().ended.unwrap().error.unwrap()
        };
        assert_eq!(ended(false), "a failure", "the control");
        assert_eq!(ended(true), FAULT);
    }
}
