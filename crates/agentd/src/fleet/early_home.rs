//! Home's connection, from the start of a command.

use cocode_fleet::{EarlyConnection, FleetAddress, FleetLimits, FleetTimings, Role};
use tokio::runtime::Runtime;

use crate::exit::{Exit, Failure};
use crate::fleet::address::FleetAccess;

/// The connection to a fleet, which is made while the records are written.
pub(crate) struct EarlyHome {
    pub(crate) url: String,
    pub(crate) address: FleetAddress,
    pub(crate) timings: FleetTimings,
    pub(crate) connection: EarlyConnection,
    pub(crate) runtime: Runtime,
}

impl EarlyHome {
    /// Begins to connect.
    pub(crate) fn begin(access: &FleetAccess, url: &str) -> Result<EarlyHome, Failure> {
        let (address, timings) = (access.address(url, Role::Home)?, access.lease.timings());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime
            .map_err(|error| Failure::new(Exit::Failed, format!("no runtime can be made: {error}")))?;
        let connection = {
            let _within = runtime.enter();
            EarlyConnection::begin(&address, timings, FleetLimits::default())
        };
        Ok(EarlyHome { url: url.to_owned(), address, timings, connection, runtime })
    }
}
