//! A command that runs in the background: drained by its own thread, without a deadline, until it is stopped.

mod ready_text;

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use self::ready_text::ReadyText;
use crate::launcher::capture::{Captured, HeadTail};
use crate::launcher::drain::OutputStream;
use crate::launcher::killer::Killer;
use crate::launcher::outcome::Outcome;
use crate::launcher::running::{Running, WaitError};

/// A command in the background. Dropping it kills the command with all its descendants.
#[derive(Debug)]
pub struct BackgroundProcess {
    shared: Arc<Shared>,
    killer: Killer,
    drainer: Option<JoinHandle<()>>,
}

/// The state of a [`BackgroundProcess`] after a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// The text has appeared in its output.
    Ready,
    /// It has ended, with or without the text.
    Ended,
    /// It runs, and the text has not appeared.
    Waiting,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    output: HeadTail,
    ready: Option<ReadyText>,
    is_ready: bool,
    end: Option<Result<Outcome, WaitError>>,
}

impl BackgroundProcess {
    /// Starts to drain a running command, and keeps `output_limit_bytes` of both of its streams together, half from the
    /// start and half from the end. `ready` is the text to wait for, with or without terminal control sequences between
    /// its characters; an empty text never appears.
    ///
    /// # Errors
    /// The thread that drains the output could not be started; the command has been killed.
    pub fn start(
        running: Running,
        ready: Option<&str>,
        output_limit_bytes: usize,
    ) -> io::Result<BackgroundProcess> {
        let state = State {
            output: HeadTail::new(output_limit_bytes),
            ready: ready.filter(|text| !text.is_empty()).map(ReadyText::new),
            is_ready: false,
            end: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let killer = running.killer();
        let drained = Arc::clone(&shared);
        let drainer = Builder::new().name("background".to_owned()).spawn(move || {
            let mut observer = |stream, bytes: &[u8]| drained.take(stream, bytes);
            let end = running.without_deadline().wait_with(&mut observer, None);
            drained.lock().end = Some(end);
            drained.changed.notify_all();
        })?;
        Ok(BackgroundProcess { shared, killer, drainer: Some(drainer) })
    }

    /// Waits until the text appears or the command ends, at most until `deadline`, or until `is_cancelled` returns true
    /// after a [`wake`](Self::wake).
    pub fn wait_ready(&self, deadline: Instant, is_cancelled: &dyn Fn() -> bool) -> Readiness {
        self.wait(deadline, is_cancelled, |state| state.is_ready || state.end.is_some())
    }

    /// Waits until the command has ended, at most until `deadline`. Returns whether it has.
    pub fn wait_end(&self, deadline: Instant) -> bool {
        self.wait(deadline, &|| false, |state| state.end.is_some()) == Readiness::Ended
    }

    fn wait(
        &self,
        deadline: Instant,
        is_cancelled: &dyn Fn() -> bool,
        is_enough: impl Fn(&State) -> bool,
    ) -> Readiness {
        let mut state = self.shared.lock();
        while !is_enough(&state) && !is_cancelled() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        match (&state.end, state.is_ready) {
            (Some(_), _) => Readiness::Ended,
            (None, true) => Readiness::Ready,
            (None, false) => Readiness::Waiting,
        }
    }

    /// Makes all waiters check again whether they are cancelled.
    pub fn wake(&self) {
        let _state = self.shared.lock();
        self.shared.changed.notify_all();
    }

    /// Returns the output kept so far, both streams in order of arrival.
    pub fn output(&self) -> Captured {
        self.shared.lock().output.captured()
    }

    /// Returns how the command ended; `None` while it runs. The output is in [`output`](Self::output).
    pub fn end(&self) -> Option<Result<Outcome, WaitError>> {
        self.shared.lock().end.clone()
    }

    /// Ends the command with all its descendants: asks it to end, and kills it after `grace`. Returns once all of them
    /// have ended, or are stuck in the kernel.
    pub fn stop(&self, grace: Duration) {
        self.killer.terminate();
        if !self.wait_end(Instant::now() + grace) {
            self.killer.cancel();
            self.wait_end(Instant::now() + KILL_LIMIT);
        }
    }
}

/// The time to wait for the end of a command that was killed.
const KILL_LIMIT: Duration = Duration::from_secs(11);

impl Drop for BackgroundProcess {
    fn drop(&mut self) {
        self.killer.cancel();
        if let Some(drainer) = self.drainer.take() {
            // A panic there is not this thread's.
            let _ = drainer.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, stream: OutputStream, bytes: &[u8]) {
        let mut state = self.lock();
        state.output.push(bytes);
        if state.ready.as_mut().is_some_and(|ready| ready.is_in(stream, bytes)) {
            // Stop searching for the text.
            state.ready = None;
            state.is_ready = true;
            self.changed.notify_all();
        }
    }
}
