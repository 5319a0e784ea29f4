//! Requests that agents end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// A request that all agents of a run end. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct StopFlag {
    raised: Arc<AtomicBool>,
}

impl StopFlag {
    /// Returns a flag that is not raised.
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// Raises it, for good.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Release);
    }

    /// Returns whether it is raised.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Acquire)
    }
}

/// The reason for ending one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    Deadline,
    Cancelled,
}

/// The value for a process that has ended by itself.
const ENDED: u8 = 3;

/// A cell for the reason, empty until there is one.
#[derive(Debug, Default)]
pub(crate) struct StopNote(AtomicU8);

impl StopNote {
    /// Records a reason; the first one stays. Returns false if there is one already, or the process has ended.
    pub(crate) fn set(&self, reason: StopReason) -> bool {
        let number = match reason {
            StopReason::Deadline => 1,
            StopReason::Cancelled => 2,
        };
        self.0.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Records that the process has ended, after which no reason counts. Returns the reason that it was asked to end, if any.
    pub(crate) fn close(&self) -> Option<StopReason> {
        // Fails if there is a reason, which is kept.
        let _ = self.0.compare_exchange(0, ENDED, Ordering::AcqRel, Ordering::Acquire);
        self.reason()
    }

    pub(crate) fn reason(&self) -> Option<StopReason> {
        match self.0.load(Ordering::Acquire) {
            1 => Some(StopReason::Deadline),
            2 => Some(StopReason::Cancelled),
            _ => None,
        }
    }
}
