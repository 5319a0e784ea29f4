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

/// A cell for the reason, empty until there is one.
#[derive(Debug, Default)]
pub(crate) struct StopNote(AtomicU8);

impl StopNote {
    /// Records a reason; the first one stays.
    pub(crate) fn set(&self, reason: StopReason) {
        let number = match reason {
            StopReason::Deadline => 1,
            StopReason::Cancelled => 2,
        };
        // Fails if there is a reason already, which is then kept.
        let _ = self.0.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire);
    }

    pub(crate) fn reason(&self) -> Option<StopReason> {
        match self.0.load(Ordering::Acquire) {
            1 => Some(StopReason::Deadline),
            2 => Some(StopReason::Cancelled),
            _ => None,
        }
    }
}
