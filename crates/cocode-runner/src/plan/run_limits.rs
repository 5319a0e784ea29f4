//! The limits of a run.

use std::num::NonZeroU32;
use std::time::Duration;

/// The number of agents at once, and the time of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// The number of agents at once, 1 to 20.
    pub parallel: NonZeroU32,
    /// The time of an agent whose definition sets none, 1 second to an hour.
    pub timeout: Duration,
}

impl Default for RunLimits {
    /// Five at once, 15 minutes each.
    fn default() -> RunLimits {
        RunLimits { parallel: NonZeroU32::MIN.saturating_add(4), timeout: Duration::from_secs(900) }
    }
}
