//! The share of a server that a fleet may use.

/// The share of a server that a fleet may use. The server reserves the bytes when the fleet is prepared, so they have to fit into its
/// limit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FleetLimits {
    /// Tasks in the queue.
    pub tasks: u64,
    /// Bytes of the bundles that home offers.
    pub bases_bytes: u64,
    /// Bytes of the bundles that hosts made and home has not fetched.
    pub bundles_bytes: u64,
    /// Bytes of log lines and other events; the oldest are removed.
    pub events_bytes: u64,
}

impl Default for FleetLimits {
    fn default() -> FleetLimits {
        FleetLimits { tasks: 20_000, bases_bytes: 4 << 30, bundles_bytes: 8 << 30, events_bytes: 1 << 30 }
    }
}

impl FleetLimits {
    /// Returns the bytes that a server has to allow, with room for tasks and records.
    #[must_use]
    pub fn reserved_bytes(&self) -> u64 {
        self.bases_bytes + self.bundles_bytes + self.events_bytes
    }
}
