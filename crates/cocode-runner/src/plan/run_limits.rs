//! How many agents run at once, and how long.

use std::num::NonZeroU32;
use std::time::Duration;

/// How many agents run at once, and how long each may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLimits {
    /// How many run at once, 1 to 20.
    pub parallel: NonZeroU32,
    /// How long an agent may take whose definition says nothing else, 1 second to an hour.
    pub timeout: Duration,
}

impl Default for RunLimits {
    /// Five at once, 15 minutes each.
    fn default() -> RunLimits {
        RunLimits { parallel: NonZeroU32::MIN.saturating_add(4), timeout: Duration::from_secs(900) }
    }
}
