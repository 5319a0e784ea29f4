//! Connecting before there is a journal.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::task::JoinHandle;

use crate::connection::{ConnectError, FleetAddress, FleetConnection, FleetTimings, Role};
use crate::store::FleetLimits;

/// A connection of home that is being made while its caller writes its records.
///
/// It tries once. [`FleetHome::start_on`](crate::FleetHome::start_on) takes it, and repeats failed parts. Dropping it
/// ends the attempt.
#[derive(Debug)]
pub struct EarlyConnection {
    opening: JoinHandle<Opened>,
}

/// The outcome of connecting: the connection, and whether the fleet's streams were found or made.
pub(super) type Opened = Result<(FleetConnection, bool), ConnectError>;

impl EarlyConnection {
    /// Begins to connect as home on the runtime of the caller, and to create missing streams of the fleet.
    ///
    /// # Panics
    ///
    /// If it is called outside of a tokio runtime.
    #[must_use]
    pub fn begin(address: &FleetAddress, timings: FleetTimings, limits: FleetLimits) -> EarlyConnection {
        let address = FleetAddress { role: Role::Home, ..address.clone() };
        let opening = tokio::spawn(async move {
            let connection = FleetConnection::open(&address, timings).await?;
            // Problems with them are found and reported by the first comparison.
            let is_prepared = connection.prepare(&limits).await.is_ok();
            Ok((connection, is_prepared))
        });
        EarlyConnection { opening }
    }

    /// Waits for the outcome; `None` if the runtime ended it.
    pub(super) fn outcome(mut self) -> BoxFuture<'static, Option<Opened>> {
        async move { (&mut self.opening).await.ok() }.boxed()
    }
}

impl Drop for EarlyConnection {
    fn drop(&mut self) {
        self.opening.abort();
    }
}
