//! The connection to a server, with a deadline for every call.

mod address;
mod error;
mod fleet_connection;
mod timings;

pub use address::{FleetAddress, Role};
pub use error::{ConnectError, FleetError};
pub use fleet_connection::FleetConnection;
pub(crate) use fleet_connection::refused;
pub use timings::FleetTimings;
