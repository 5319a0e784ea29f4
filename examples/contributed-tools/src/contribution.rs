//! All parts of the example.

use rmcp::model::{
    CallToolResult, ErrorData, GetPromptResult, JsonObject, Prompt, ReadResourceResult, Reference, Resource,
    ResourceTemplate, Tool,
};
use wap_mcp::{Contribution, ContributionCall, Outcome, ResourceChanges};

use crate::resources::{self, WatchedResource};
use crate::{prompts, tools};

/// The tools, prompts and resources that the conformance suite expects of an example server.
#[derive(Clone, Debug, Default)]
pub struct ExampleContribution {
    watched: WatchedResource,
}

impl Contribution for ExampleContribution {
    fn tools(&self) -> Vec<Tool> {
        tools::list()
    }

    fn call_tool(
        &self,
        call: &ContributionCall,
        name: &str,
        arguments: JsonObject,
    ) -> Result<Outcome<CallToolResult>, ErrorData> {
        tools::call(call, &self.watched, name, &arguments)
    }

    fn prompts(&self) -> Vec<Prompt> {
        prompts::list()
    }

    fn get_prompt(
        &self,
        call: &ContributionCall,
        name: &str,
        arguments: JsonObject,
    ) -> Result<Outcome<GetPromptResult>, ErrorData> {
        prompts::get(call, name, &arguments)
    }

    fn resources(&self) -> Vec<Resource> {
        resources::list()
    }

    fn resource_templates(&self) -> Vec<ResourceTemplate> {
        resources::templates()
    }

    fn read_resource(
        &self,
        _: &ContributionCall,
        uri: &str,
    ) -> Result<Option<Outcome<ReadResourceResult>>, ErrorData> {
        Ok(resources::read(&self.watched, uri).map(Outcome::Done))
    }

    fn changes(&self) -> Option<&ResourceChanges> {
        Some(self.watched.changes())
    }

    fn can_change(&self, uri: &str) -> bool {
        uri == resources::WATCHED
    }

    fn logs(&self) -> bool {
        true
    }

    fn complete(&self, subject: &Reference, argument: &str, begun: &str) -> Option<Vec<String>> {
        prompts::complete(subject, argument, begun)
    }
}
