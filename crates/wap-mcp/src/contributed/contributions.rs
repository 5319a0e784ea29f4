//! All contributions of a server.

use std::sync::Arc;

use content_hash::ContentHash;
use rmcp::model::{ErrorData, InputRequiredResult, ServerCapabilities, Tool};

use super::states::{MOST_BYTES, States};
use super::{Contribution, Need};

/// All contributions of a server, which its clients share. Where several offer the same name, the first one counts.
#[derive(Default)]
pub struct Contributions {
    all: Vec<Arc<dyn Contribution>>,
    states: States,
}

impl std::fmt::Debug for Contributions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Contributions").field("all", &self.all.len()).finish_non_exhaustive()
    }
}

impl Contributions {
    /// Returns the contributions of a server.
    #[must_use]
    pub fn new(all: Vec<Arc<dyn Contribution>>) -> Arc<Contributions> {
        Arc::new(Contributions { all, states: States::default() })
    }

    /// Returns the contributions, the first one first.
    pub(super) fn all(&self) -> &[Arc<dyn Contribution>] {
        &self.all
    }

    /// Returns the contribution that has a tool.
    pub(super) fn with_tool(&self, name: &str) -> Option<&Arc<dyn Contribution>> {
        self.all.iter().find(|one| one.tools().iter().any(|tool| tool.name == name))
    }

    /// Returns the contribution that has a prompt.
    pub(super) fn with_prompt(&self, name: &str) -> Option<&Arc<dyn Contribution>> {
        self.all.iter().find(|one| one.prompts().iter().any(|prompt| prompt.name == name))
    }

    /// Adds the contributed tools to those of the workspace.
    pub(crate) fn add_tools(&self, tools: &mut Vec<Tool>) {
        for tool in self.all.iter().flat_map(|one| one.tools()) {
            if !tools.iter().any(|other| other.name == tool.name) {
                tools.push(tool);
            }
        }
    }

    /// Reports whether there are prompts.
    pub(crate) fn has_prompts(&self) -> bool {
        self.all.iter().any(|one| !one.prompts().is_empty())
    }

    /// Reports whether there are resources.
    pub(crate) fn has_resources(&self) -> bool {
        self.all.iter().any(|one| !one.resources().is_empty() || !one.resource_templates().is_empty())
    }

    /// Adds what is contributed to the capabilities of a server.
    pub(crate) fn advertise(&self, capabilities: &mut ServerCapabilities) {
        let offered =
            ServerCapabilities::builder().enable_resources().enable_prompts().enable_completions().build();
        if self.has_prompts() {
            capabilities.prompts = capabilities.prompts.take().or(offered.prompts);
        }
        if self.has_resources() {
            capabilities.resources = capabilities.resources.take().or(offered.resources);
        }
        if self.has_prompts() || self.has_resources() {
            capabilities.completions = capabilities.completions.take().or(offered.completions);
        }
    }

    /// Returns what is asked as the answer to a request of the newer era.
    pub(super) fn required(
        &self,
        request: ContentHash,
        need: Need,
    ) -> Result<InputRequiredResult, ErrorData> {
        let name = match need.state {
            Some(state) if state.len() > MOST_BYTES => {
                return Err(ErrorData::internal_error("the state of the request is too large", None));
            }
            state => state.map(|state| self.states.keep(request, state)),
        };
        Ok(InputRequiredResult::new(Some(need.requests), name))
    }

    /// Takes the state that the client names out.
    ///
    /// # Errors
    ///
    /// Invalid parameters if there is none of this name for this request, not any more for instance.
    pub(super) fn take_state(&self, request: ContentHash, name: &str) -> Result<String, ErrorData> {
        let text = "requestState is not one of this request, or was used, or is too old: make the request without it";
        self.states.take(name, request).ok_or_else(|| ErrorData::invalid_params(text, None))
    }
}
