//! The list of resources, and their templates.

use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, Resource, ResourceTemplate,
    ServerCapabilities,
};

use super::{Listed, ResourceName};
use crate::{McpConfig, McpServer};

/// The type of all contents.
pub(crate) const PLAIN: &str = "text/plain";

/// The type of differences.
pub(crate) const DIFF: &str = "text/x-diff";

/// Adds resources, prompts and completions to the capabilities of a server.
pub(crate) fn advertise(capabilities: &mut ServerCapabilities) {
    let offered = ServerCapabilities::builder()
        .enable_resources()
        .enable_resources_subscribe()
        .enable_prompts()
        .enable_completions()
        .build();
    capabilities.resources = offered.resources;
    capabilities.prompts = offered.prompts;
    capabilities.completions = offered.completions;
}

/// Checks by its name whether a resource belongs to the workspace.
pub(crate) fn is_of_workspace(uri: &str) -> bool {
    uri.starts_with("agentd://") || uri.starts_with("ui://agentd/")
}

/// Lists the resources of the workspace, page by page.
pub(crate) async fn list(
    server: &McpServer,
    request: Option<PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    if server.config.resources.is_none() {
        return Ok(ListResourcesResult::with_all_items(Vec::new()));
    }
    let before = match request.and_then(|request| request.cursor) {
        None => None,
        Some(cursor) => {
            let number =
                cursor.parse().map_err(|_| ErrorData::invalid_params("there is no such part", None))?;
            Some(number)
        }
    };
    let page = server.ask_source(move |source, call| source.list(call, before)).await?;
    let mut result = ListResourcesResult::with_all_items(page.resources.into_iter().map(resource).collect());
    result.next_cursor = page.next.map(|number| number.to_string());
    Ok(result)
}

/// Returns the templates of all resources.
pub(crate) fn templates(config: &McpConfig) -> ListResourceTemplatesResult {
    let contributed = config.contributions.templates();
    if config.resources.is_none() {
        return ListResourceTemplatesResult::with_all_items(contributed.collect());
    }
    let template = |name: &str, variable: &str, description: &str, kind: &str| {
        ResourceTemplate::new(format!("agentd://{name}/{{{variable}}}{{?line}}"), name)
            .with_description(description)
            .with_mime_type(kind)
    };
    let mut templates = vec![
        template("output", "name", "The whole output of a command, by the name that its answer gives", PLAIN),
        template("process", "name", "What a background process of this client has printed", PLAIN),
        template("run", "run", "What a run has changed, as a unified diff", DIFF),
        template(
            "review",
            "proposal",
            "A proposal of changes: its steps, and the outcome of its review",
            PLAIN,
        ),
    ];
    templates.extend(contributed);
    ListResourceTemplatesResult::with_all_items(templates)
}

/// Returns the type of the content of a resource.
pub(crate) fn kind(name: &ResourceName) -> &'static str {
    match name {
        ResourceName::Run(_) => DIFF,
        ResourceName::Output(_) | ResourceName::Process(_) | ResourceName::Review(_) => PLAIN,
    }
}

fn resource(listed: Listed) -> Resource {
    let Listed { name, description } = listed;
    let title = match &name {
        ResourceName::Output(name) => format!("output {name}"),
        ResourceName::Process(name) => format!("process {name}"),
        ResourceName::Run(number) => format!("run {number}"),
        ResourceName::Review(number) => format!("review {number}"),
    };
    Resource::new(name.to_string(), title).with_description(description).with_mime_type(kind(&name))
}
