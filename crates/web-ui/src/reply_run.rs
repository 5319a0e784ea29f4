//! Replies that are being executed for a page, each on a thread of its own.

mod live_output;
mod observer;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use axum::http::StatusCode;
use serde::Serialize;
use tagproto::{CommandResult, SessionId, Strictness, read_in};
use wap_core::CancelFlag;
use workspace_host::{AppliedReply, ApplyReply, SessionRefusal, SharedSessions, Watching};

use crate::answer::Refused;
use crate::bounded_text::{BoundedText, TextBounds, bounded};
use crate::event_hub::EventHub;
use live_output::{LiveOutput, OutputState};
use observer::RunObserver;

/// The runs that are remembered after their end, so that a page that was reloaded can show them.
const MOST_ENDED: usize = 32;

/// The pause between two events with output.
const OUTPUT_PAUSE: Duration = Duration::from_millis(40);

/// The most blocks of a run that are shown.
const MOST_BLOCKS: usize = 1_000;

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

#[derive(Debug, Default)]
struct Progress {
    blocks: Vec<BlockProgress>,
    blocks_left_out: usize,
    ended: Option<Ended>,
    /// The number of the last event about this run.
    last_event: u64,
}

#[derive(Debug)]
struct BlockProgress {
    kind: String,
    title: String,
    /// `None` while it runs.
    success: Option<bool>,
    summary: String,
    counts: Option<(i64, i64)>,
    denied: Vec<String>,
    notes: Vec<String>,
    result_output: BoundedText,
    output: LiveOutput,
}

/// A run as a page reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunView {
    run: u64,
    session: String,
    blocks: Vec<BlockView>,
    blocks_left_out: usize,
    ended: Option<Ended>,
    /// The number of the last event that is part of this.
    last_event: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockView {
    kind: String,
    title: String,
    success: Option<bool>,
    summary: String,
    lines_added: Option<i64>,
    lines_removed: Option<i64>,
    denied: Vec<String>,
    notes: Vec<String>,
    result_output: BoundedText,
    output: OutputState,
}

/// The end of a run.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Ended {
    /// The reason why the reply was refused or stopped; `None` if it was executed.
    error: Option<String>,
    advice: Option<String>,
    /// False if it was executed before, so that nothing was done.
    is_executed: bool,
    complete: bool,
    failed: usize,
    repairs: Vec<String>,
    /// Results of an earlier, interrupted reply that this one supersedes.
    superseded: Vec<String>,
    notes: Vec<String>,
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
        let ended: Vec<u64> = runs.iter().filter(|(_, run)| run.has_ended()).map(|(id, _)| *id).collect();
        for old in ended.iter().take(ended.len().saturating_sub(MOST_ENDED)) {
            runs.remove(old);
        }
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
            work.execute(&sessions, &request);
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

impl Run {
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

    /// Returns all that is known of it.
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

    /// Publishes under the lock, so that a view never has more or less than the events up to its number.
    fn publish_within(&self, progress: &mut Progress, what: What) {
        let event = RunEvent { run: self.id, session: self.session.to_string(), what };
        progress.last_event = self.events.publish(&event);
    }

    fn execute(self: &Arc<Run>, sessions: &SharedSessions, request: &ApplyReply) {
        let ended = match self.call(sessions, request) {
            Ok(Ok(applied)) => Ended::of(&applied),
            Ok(Err(refusal)) => {
                let failure = refusal.into_failure();
                Ended { error: Some(failure.message), advice: failure.advice, ..Ended::default() }
            }
            Err(failure) => {
                Ended { error: Some(failure.message), advice: failure.advice, ..Ended::default() }
            }
        };
        self.end(ended);
    }

    fn call(
        self: &Arc<Run>,
        sessions: &SharedSessions,
        request: &ApplyReply,
    ) -> Result<Result<AppliedReply, SessionRefusal>, workspace_host::Failure> {
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

    /// Publishes output that has arrived, in pauses, until the returned value is dropped.
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

impl BlockProgress {
    fn view(&self) -> BlockView {
        BlockView {
            kind: self.kind.clone(),
            title: self.title.clone(),
            success: self.success,
            summary: self.summary.clone(),
            lines_added: self.counts.map(|(added, _)| added),
            lines_removed: self.counts.map(|(_, removed)| removed),
            denied: self.denied.clone(),
            notes: self.notes.clone(),
            result_output: self.result_output.clone(),
            output: self.output.state(),
        }
    }

    fn finish(&mut self, result: &CommandResult) {
        self.success = Some(result.success);
        self.summary = bounded(&result.summary, TextBounds::OUTPUT).text;
        self.denied = result.denied.iter().take(50).cloned().collect();
        let notes = result.notes.iter().take(50);
        self.notes = notes.map(|note| bounded(note, TextBounds::OUTPUT).text).collect();
        // What a command has printed was shown as it arrived.
        if self.output.is_empty() {
            self.result_output = bounded(&result.output, TextBounds::OUTPUT);
        }
    }
}

impl Ended {
    fn of(applied: &AppliedReply) -> Ended {
        let line = |result: &CommandResult| {
            let mark = if result.success { "OK" } else { "FAILED" };
            format!("[{mark}] {}: {}", result.command_type, result.summary)
        };
        let mut notes = applied.late.clone();
        notes.extend(applied.left_undone.as_ref().map(|refusal| refusal.message.clone()));
        if applied.is_executed && applied.session.held.is_some() {
            notes.push(
                "the reply was cut off: nothing was done, and the next message asks the model to go on"
                    .to_owned(),
            );
        } else if applied.is_executed && applied.results.is_empty() {
            notes.push(
                "no block was found in this reply, so nothing was done; the next message tells the model how blocks are \
                 written"
                    .to_owned(),
            );
        }
        Ended {
            error: None,
            advice: None,
            is_executed: applied.is_executed,
            complete: applied.session.is_complete,
            failed: applied.results.iter().filter(|result| !result.success).count(),
            repairs: applied.repairs.clone(),
            superseded: applied.taken_over.iter().map(line).collect(),
            notes,
        }
    }
}
