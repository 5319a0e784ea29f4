//! Callers of a workspace.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use wap_core::{Call, CancelFlag, ConversationId, Origin, Retention, RunKey};

/// One run of one conversation, at one of its steps.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The origin of the next call.
    pub origin: Origin,
    /// Cancels every call of this caller.
    pub cancel: CancelFlag,
    /// The time that each call has left.
    pub time_left: Option<Duration>,
}

impl Caller {
    /// Returns a caller whose run no other call of this process has.
    #[must_use]
    pub fn once() -> Caller {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        // With the process id: a test may start another process on the same journal.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Caller::in_run(RunKey::unnumbered(format!("{}-{number}", std::process::id())))
    }

    /// Returns the caller of a session's run, by the number of the prompt that it answers.
    #[must_use]
    pub fn numbered(sequence: u32) -> Caller {
        Caller::in_run(RunKey { sequence, digest: format!("reply {sequence}") })
    }

    /// Returns the first step of a run.
    #[must_use]
    pub fn in_run(run: RunKey) -> Caller {
        let origin = Origin {
            conversation: ConversationId("conversation".into()),
            run,
            step: 0,
            retention: Retention::Process,
        };
        Caller { origin, cancel: CancelFlag::new(), time_left: None }
    }

    /// Returns the same run at another step.
    #[must_use]
    pub fn at(&self, step: u32) -> Caller {
        Caller { origin: self.origin.at_step(step), ..self.clone() }
    }

    /// Returns the same caller with versions that outlive the process.
    #[must_use]
    pub fn durable(&self) -> Caller {
        let origin = Origin { retention: Retention::Durable, ..self.origin.clone() };
        Caller { origin, ..self.clone() }
    }

    /// Returns the frame of a call.
    #[must_use]
    pub fn call(&self) -> Call<'_> {
        Call { origin: &self.origin, cancel: &self.cancel, time_left: self.time_left }
    }
}
