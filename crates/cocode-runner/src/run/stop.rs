//! Asking agents to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Asks all agents of a run to end. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct StopFlag {
    raised: Arc<AtomicBool>,
}

impl StopFlag {
    /// Makes a flag that is not raised.
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// Raises it, for good.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Release);
    }

    /// Whether it is raised.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Acquire)
    }
}

/// Why one agent was asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    Deadline,
    Cancelled,
}

/// The reason, once there is one.
#[derive(Debug, Default)]
pub(crate) struct StopNote(AtomicU8);

impl StopNote {
    /// Notes a reason; the first one stays.
    pub(crate) fn set(&self, reason: StopReason) {
        let number = match reason {
            StopReason::Deadline => 1,
            StopReason::Cancelled => 2,
        };
        // If there is one already it stays.
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
