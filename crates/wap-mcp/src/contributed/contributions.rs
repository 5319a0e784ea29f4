//! All contributions of a server.

use std::sync::Arc;

use content_hash::ContentHash;
use rmcp::model::{ErrorData, InputRequiredResult, JsonObject, ServerCapabilities, Tool};

use super::changes::Subscriptions;
use super::requests::digest;
use super::states::{MOST_BYTES, States};
use super::{Contribution, Need};
use crate::resources::is_of_workspace;

/// The longest name of a resource that clients can follow, in bytes: the server stores the name.
const MOST_NAME_BYTES: usize = 4_096;

/// A contribution to read a resource from, with the digest of its request.
type Reader = (Arc<dyn Contribution>, ContentHash);

/// All contributions of a server, which its clients share. If several offer the same name, the first one counts.
#[derive(Default)]
pub struct Contributions {
    all: Vec<Arc<dyn Contribution>>,
    states: States,
    subscriptions: Arc<Subscriptions>,
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
        let subscriptions = Arc::default();
        all.iter().filter_map(|one| one.changes()).for_each(|changes| changes.report_to(&subscriptions));
        Arc::new(Contributions { all, states: States::default(), subscriptions })
    }

    /// Returns the subscriptions of all clients to contributed resources.
    pub(crate) fn subscriptions(&self) -> &Subscriptions {
        &self.subscriptions
    }

    /// Checks whether there are resources that change.
    pub(crate) fn has_changes(&self) -> bool {
        self.all.iter().any(|one| one.changes().is_some())
    }

    /// Checks whether a resource is contributed and can change.
    pub(crate) fn can_change(&self, uri: &str) -> bool {
        let mut all = self.all.iter().filter(|one| one.changes().is_some());
        uri.len() <= MOST_NAME_BYTES && !is_of_workspace(uri) && all.any(|one| one.can_change(uri))
    }

    /// Returns the contributions in order.
    pub(super) fn all(&self) -> &[Arc<dyn Contribution>] {
        &self.all
    }

    /// Returns the contributions from which to read a resource, in order, each with the digest of its request: all of them, or
    /// the one that issued the state named by the client. No other contribution sees a state.
    ///
    /// # Errors
    ///
    /// Invalid parameters if no contribution issued the state for this resource, or it is no longer valid.
    pub(super) fn readers(&self, uri: &str, state: Option<&str>) -> Result<Vec<Reader>, ErrorData> {
        let request = |index: usize| digest(&format!("resources/read of {index}"), uri, &JsonObject::new());
        let mut readers: Vec<_> =
            self.all.iter().enumerate().map(|(index, one)| (Arc::clone(one), request(index))).collect();
        if let Some(name) = state.filter(|_| !readers.is_empty()) {
            readers.retain(|(_, request)| self.states.has(name, *request));
            if readers.is_empty() {
                return Err(no_state());
            }
        }
        Ok(readers)
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

    /// Checks whether there are prompts.
    pub(crate) fn has_prompts(&self) -> bool {
        self.all.iter().any(|one| !one.prompts().is_empty())
    }

    /// Checks whether there are resources.
    pub(crate) fn has_resources(&self) -> bool {
        self.all.iter().any(|one| !one.resources().is_empty() || !one.resource_templates().is_empty())
    }

    /// Checks whether there are log messages.
    pub(crate) fn has_log(&self) -> bool {
        self.all.iter().any(|one| one.logs())
    }

    /// Adds the contributions to the capabilities of a server.
    pub(crate) fn advertise(&self, capabilities: &mut ServerCapabilities) {
        if self.has_log() {
            capabilities.logging = Some(JsonObject::new());
        }
        let offered =
            ServerCapabilities::builder().enable_resources().enable_prompts().enable_completions().build();
        if self.has_prompts() {
            capabilities.prompts = capabilities.prompts.take().or(offered.prompts);
        }
        if self.has_resources() {
            capabilities.resources = capabilities.resources.take().or(offered.resources);
        }
        if self.has_changes() {
            capabilities.resources.get_or_insert_default().subscribe = Some(true);
        }
        if self.has_prompts() || self.has_resources() {
            capabilities.completions = capabilities.completions.take().or(offered.completions);
        }
    }

    /// Returns the questions as the answer to a request of the newer era.
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

    /// Removes and returns the state that the client names.
    ///
    /// # Errors
    ///
    /// Invalid parameters if there is no such state for this request, for example because it was already used.
    pub(super) fn take_state(&self, request: ContentHash, name: &str) -> Result<String, ErrorData> {
        self.states.take(name, request).ok_or_else(no_state)
    }
}

fn no_state() -> ErrorData {
    let text =
        "requestState is not one of this request, or was used, or is too old: make the request without it";
    ErrorData::invalid_params(text, None)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rmcp::model::InputRequests;

    use super::{Contribution, Contributions, Need};

    struct Nothing;

    impl Contribution for Nothing {}

    #[test]
    fn a_read_with_a_state_goes_to_the_contribution_that_issued_it() {
        let contributions = Contributions::new(vec![Arc::new(Nothing), Arc::new(Nothing)]);
        let all = contributions.readers("book://one", None).unwrap();
        assert_eq!(all.len(), 2);
        let need = Need { requests: InputRequests::new(), state: Some("seven".to_owned()) };
        let question = contributions.required(all[1].1, need).unwrap();
        let name = question.request_state.unwrap();
        let readers = contributions.readers("book://one", Some(&name)).unwrap();
        assert_eq!(readers.iter().map(|(_, request)| *request).collect::<Vec<_>>(), [all[1].1]);
        // It is still valid, once, and only for this resource.
        assert!(contributions.readers("book://two", Some(&name)).is_err());
        assert_eq!(contributions.take_state(readers[0].1, &name).unwrap(), "seven");
        assert!(contributions.readers("book://one", Some(&name)).is_err());
    }

    #[test]
    fn a_state_means_nothing_where_nothing_is_contributed() {
        assert!(Contributions::default().readers("book://one", Some("invented")).unwrap().is_empty());
        let contributions = Contributions::new(vec![Arc::new(Nothing)]);
        assert!(contributions.readers("book://one", Some("invented")).is_err());
    }
}
