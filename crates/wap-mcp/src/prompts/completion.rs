//! Completion of the arguments of prompts and of the variables of resource templates.

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use wap_core::{ExploreFiles, Request, Response};

use super::{ArgumentKind, ServerPrompt};
use crate::McpServer;
use crate::resources::ResourceName;

/// The longest prefix that is completed, in bytes.
const MOST_BYTES: usize = 1_024;

/// The meaning of the completed value.
enum Subject {
    Argument(ArgumentKind),
    Process,
    Review,
    Nothing,
}

/// Answers `completion/complete`. An impossible prefix completes to nothing, regardless of its content.
pub(crate) async fn complete(
    server: &McpServer,
    request: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let subject = subject(&request.r#ref, &request.argument.name)?;
    let begun = request.argument.value;
    if begun.len() > MOST_BYTES {
        return Ok(result(Vec::new()));
    }
    let values = match subject {
        Subject::Argument(ArgumentKind::Path) => paths(server, &begun).await,
        Subject::Argument(ArgumentKind::Conversation) => {
            let most = CompletionInfo::MAX_VALUES + 1;
            server.ask_source(move |source, _| source.conversations(&begun, most)).await?
        }
        Subject::Argument(ArgumentKind::Run) => {
            of_list(server, begun, |name| match name {
                ResourceName::Run(number) => Some(number.to_string()),
                _ => None,
            })
            .await?
        }
        Subject::Review => {
            of_list(server, begun, |name| match name {
                ResourceName::Review(number) => Some(number.to_string()),
                _ => None,
            })
            .await?
        }
        Subject::Process => {
            of_list(server, begun, |name| match name {
                ResourceName::Process(name) => Some(name),
                _ => None,
            })
            .await?
        }
        Subject::Nothing => Vec::new(),
    };
    Ok(result(values))
}

fn subject(reference: &Reference, argument: &str) -> Result<Subject, ErrorData> {
    let subject = match reference {
        Reference::Prompt(prompt) => ServerPrompt::named(&prompt.name).and_then(|prompt| {
            let kind = prompt.arguments().iter().find(|kind| kind.name() == argument)?;
            Some(Subject::Argument(*kind))
        }),
        Reference::Resource(template) => {
            let kind = template.uri.strip_prefix("agentd://").and_then(|rest| rest.split_once('/'));
            match (kind.map(|(kind, _)| kind), argument) {
                (Some("run"), "run") => Some(Subject::Argument(ArgumentKind::Run)),
                (Some("review"), "proposal") => Some(Subject::Review),
                (Some("process"), "name") => Some(Subject::Process),
                // Only their recipients know the names of outputs, and lines are arbitrary numbers.
                (Some("output"), "name") | (Some("run" | "review" | "process" | "output"), "line") => {
                    Some(Subject::Nothing)
                }
                _ => None,
            }
        }
        _ => None,
    };
    subject.ok_or_else(|| ErrorData::invalid_params("there is no such prompt, template or argument", None))
}

/// Completes from the first page of the list of resources: the newest.
async fn of_list(
    server: &McpServer,
    begun: String,
    value: fn(ResourceName) -> Option<String>,
) -> Result<Vec<String>, ErrorData> {
    let page = server.ask_source(|source, call| source.list(call, None)).await?;
    let values = page.resources.into_iter().filter_map(|listed| value(listed.name));
    Ok(values.filter(|value| value.starts_with(&begun)).collect())
}

/// Completes a path within its folder. Refused paths complete to nothing.
async fn paths(server: &McpServer, begun: &str) -> Vec<String> {
    let folder = begun.rfind('/').map_or("", |end| &begun[..end]);
    let has_dots = begun.split('/').any(|part| part == "..");
    if begun.starts_with('/') || has_dots || begun.contains('\0') {
        return Vec::new();
    }
    let path = if folder.is_empty() { ".".to_owned() } else { folder.to_owned() };
    let explored = server.request(Request::ExploreFiles(ExploreFiles { path, ..ExploreFiles::default() }));
    let Ok(Response::ExploreFiles(explored)) = explored.await else { return Vec::new() };
    let name = |path: String, is_folder: bool| if is_folder { format!("{path}/") } else { path };
    let all = explored.files.into_iter().map(|file| name(file.path, file.is_directory));
    all.filter(|path| path.starts_with(begun)).collect()
}

fn result(mut values: Vec<String>) -> CompleteResult {
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let completion = CompletionInfo::with_pagination(values, None, has_more);
    CompleteResult::new(completion.unwrap_or_default())
}
