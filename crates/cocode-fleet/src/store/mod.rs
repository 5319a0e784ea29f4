//! Streams, keys and bundles on the server.

mod bundles;
mod keys;
mod limits;
mod queue;
mod records;
mod shapes;
mod snapshot;

pub use bundles::BundleError;
pub(crate) use bundles::bundle_name;
pub(crate) use keys::Entry;
pub use limits::FleetLimits;
pub(crate) use queue::Published;
pub(crate) use records::{RecordEntry, cancel_key, claim_key, drain_key, lease_key};
