//! Intervals and deadlines.

use std::time::Duration;

/// Intervals and deadlines of a fleet. Home and hosts of one fleet have the same ones; the defaults are for production, shorter
/// ones for tests.
///
/// No decision compares the clocks of two machines: leases expire by the server's clock alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FleetTimings {
    /// The time without renewal after which a lease and a host's report expire.
    pub lease: Duration,
    /// The interval at which leases, reports and progress are renewed; less than half of `lease`.
    pub renew: Duration,
    /// The time without progress after which the server delivers a task to another host.
    pub ack_wait: Duration,
    /// The time after which a task that a host cannot take now is delivered again.
    pub retry_delay: Duration,
    /// The interval at which home compares its journal with the server.
    pub poll: Duration,
    /// The deadline of every single call to the server.
    pub deadline: Duration,
    /// The longest pause between two attempts to connect.
    pub backoff_limit: Duration,
    /// The time past a task's own deadline after which its host loses it, by home's clock.
    pub overtime: Duration,
    /// The time within which the server drops a second message of the same id.
    pub duplicate_window: Duration,
}

impl FleetTimings {
    /// Returns intervals in the proportions of the default ones, for a lease of another length; single calls to the
    /// server keep at least five seconds.
    #[must_use]
    pub fn with_lease(lease: Duration) -> FleetTimings {
        FleetTimings {
            lease,
            renew: lease / 3,
            ack_wait: lease,
            retry_delay: lease / 6,
            poll: lease / 6,
            deadline: (lease / 3).max(Duration::from_secs(5)),
            backoff_limit: lease / 6,
            ..FleetTimings::default()
        }
    }
}

impl Default for FleetTimings {
    fn default() -> FleetTimings {
        FleetTimings {
            lease: Duration::from_secs(30),
            renew: Duration::from_secs(10),
            ack_wait: Duration::from_secs(30),
            retry_delay: Duration::from_secs(5),
            poll: Duration::from_secs(5),
            deadline: Duration::from_secs(10),
            backoff_limit: Duration::from_secs(5),
            overtime: Duration::from_secs(15 * 60),
            duplicate_window: Duration::from_secs(120),
        }
    }
}
