//! The requests of clients that a contribution answers.

use std::sync::Arc;

use content_hash::ContentHash;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
    ErrorData, GetPromptRequestParams, GetPromptResponse, JsonObject, Prompt, ReadResourceRequestParams,
    ReadResourceResponse, Resource, ResourceTemplate,
};
use rmcp::service::RequestContext;

use super::steps::{Given, Settled, settle};
use super::{Contribution, ContributionClient, Contributions, Outcome};

impl Contributions {
    /// Calls a tool; `None` if it is not contributed.
    pub(crate) async fn call_tool(
        &self,
        params: &CallToolRequestParams,
        (context, client): (&RequestContext<RoleServer>, &ContributionClient),
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        let contribution = self.with_tool(&params.name)?;
        let (name, arguments) = (params.name.to_string(), params.arguments.clone().unwrap_or_default());
        let given = Given {
            request: digest("tools/call", &name, &arguments),
            answers: params.input_responses.clone(),
            state: params.request_state.clone(),
        };
        let step = move |one: &dyn Contribution, call: &_| one.call_tool(call, &name, arguments.clone());
        Some(match settle(self, contribution, given, (context, client), step).await {
            Ok(Settled::Done(result)) => Ok(result.into()),
            Ok(Settled::Requires(required)) => Ok(required.into()),
            Err(error) => Err(error),
        })
    }

    /// Fills a prompt; `None` if it is not contributed.
    pub(crate) async fn get_prompt(
        &self,
        params: &GetPromptRequestParams,
        (context, client): (&RequestContext<RoleServer>, &ContributionClient),
    ) -> Option<Result<GetPromptResponse, ErrorData>> {
        let contribution = self.with_prompt(&params.name)?;
        let (name, arguments) = (params.name.clone(), params.arguments.clone().unwrap_or_default());
        let given = Given {
            request: digest("prompts/get", &name, &arguments),
            answers: params.input_responses.clone(),
            state: params.request_state.clone(),
        };
        let step = move |one: &dyn Contribution, call: &_| one.get_prompt(call, &name, arguments.clone());
        Some(match settle(self, contribution, given, (context, client), step).await {
            Ok(Settled::Done(result)) => Ok(result.into()),
            Ok(Settled::Requires(required)) => Ok(required.into()),
            Err(error) => Err(error),
        })
    }

    /// Reads a resource; `None` if it is not contributed.
    pub(crate) async fn read_resource(
        &self,
        params: &ReadResourceRequestParams,
        (context, client): (&RequestContext<RoleServer>, &ContributionClient),
    ) -> Option<Result<ReadResourceResponse, ErrorData>> {
        let readers = match self.readers(&params.uri, params.request_state.as_deref()) {
            Ok(readers) => readers,
            Err(error) => return Some(Err(error)),
        };
        for (contribution, request) in &readers {
            let uri = params.uri.clone();
            let given = Given {
                request: *request,
                answers: params.input_responses.clone(),
                state: params.request_state.clone(),
            };
            let step = move |one: &dyn Contribution, call: &_| {
                let read = one.read_resource(call, &uri)?;
                Ok(read.map_or(Outcome::Done(None), |outcome| outcome.map(Some)))
            };
            match settle(self, contribution, given, (context, client), step).await {
                Ok(Settled::Done(None)) => {}
                Ok(Settled::Done(Some(result))) => return Some(Ok(result.into())),
                Ok(Settled::Requires(required)) => return Some(Ok(required.into())),
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }

    /// Completes a value; `None` if it does not belong to a contribution.
    pub(crate) async fn complete(&self, params: &CompleteRequestParams) -> Option<CompleteResult> {
        for contribution in self.all() {
            let (contribution, params) = (Arc::clone(contribution), params.clone());
            let values = tokio::task::spawn_blocking(move || {
                contribution.complete(&params.r#ref, &params.argument.name, &params.argument.value)
            });
            if let Ok(Some(mut values)) = values.await {
                let has_more = values.len() > CompletionInfo::MAX_VALUES;
                values.truncate(CompletionInfo::MAX_VALUES);
                let completion = CompletionInfo::with_pagination(values, None, has_more);
                return Some(CompleteResult::new(completion.unwrap_or_default()));
            }
        }
        None
    }

    /// Returns the contributed prompts.
    pub(crate) fn prompts(&self) -> impl Iterator<Item = Prompt> {
        self.all().iter().flat_map(|one| one.prompts())
    }

    /// Returns the contributed resources.
    pub(crate) fn resources(&self) -> impl Iterator<Item = Resource> {
        self.all().iter().flat_map(|one| one.resources())
    }

    /// Returns the templates of contributed resources.
    pub(crate) fn templates(&self) -> impl Iterator<Item = ResourceTemplate> {
        self.all().iter().flat_map(|one| one.resource_templates())
    }
}

/// Returns the digest of a request without the client's answers: different requests have different digests.
pub(super) fn digest(method: &str, name: &str, arguments: &JsonObject) -> ContentHash {
    let request = serde_json::json!([method, name, arguments]);
    ContentHash::of(request.to_string().as_bytes())
}
