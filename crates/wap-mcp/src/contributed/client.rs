//! The part of a client's state that contributions need.

use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::RequestContext;

use super::asking::Asking;
use super::log_level::ChosenLevel;
use super::{Contribution, LogLevel};

/// The open questions to a client, and its log level.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContributionClient {
    pub(super) asking: Asking,
    pub(crate) level: ChosenLevel,
}

impl ContributionClient {
    /// Returns the lowest level of messages of a contribution to send; `None` to send none.
    ///
    /// # Errors
    ///
    /// Invalid parameters if the request asks for an unknown level.
    pub(super) fn log_level(
        &self,
        contribution: &dyn Contribution,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<LogLevel>, ErrorData> {
        // Clients only expect messages if a contribution that logs has added the capability.
        if contribution.logs() { self.level.of(context) } else { Ok(None) }
    }
}
