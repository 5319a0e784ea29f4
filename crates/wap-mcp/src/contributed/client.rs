//! The part of a client's state that contributions need.

use rmcp::RoleServer;
use rmcp::model::ErrorData;
use rmcp::service::RequestContext;

use super::asking::Asking;
use super::log_level::ChosenLevel;
use super::{Contribution, LogLevel};

/// The open questions to a client, and its level of log messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContributionClient {
    pub(super) asking: Asking,
    pub(crate) level: ChosenLevel,
}

impl ContributionClient {
    /// Returns the level from which on the messages of a contribution are sent; `None` if none are.
    ///
    /// # Errors
    ///
    /// Invalid parameters if the request asks for an unknown level.
    pub(super) fn log_level(
        &self,
        contribution: &dyn Contribution,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<LogLevel>, ErrorData> {
        // Without the capability, which a contribution that logs causes, no client expects messages.
        if contribution.logs() { self.level.of(context) } else { Ok(None) }
    }
}
