//! Reading a resource: a page of its text.

use rmcp::ErrorData;
use rmcp::model::{ReadResourceRequestParams, ReadResourceResult, ResourceContents};
use wap_core::{OUTPUT_PREFIX, PROCESS_PREFIX, ReadFile, Reason, WapError};

use super::listing::kind;
use super::text_page::{TextPage, from_line};
use super::{NameError, ResourceName};
use crate::McpServer;

/// Answers `resources/read`.
pub(crate) async fn read(
    server: &McpServer,
    request: ReadResourceRequestParams,
) -> Result<ReadResourceResult, ErrorData> {
    let uri = request.uri;
    let (name, first) = ResourceName::parse_page(&uri).map_err(|error| unknown(&uri, error))?;
    let text = read_page(server, &name, first).await?;
    let contents = ResourceContents::text(text, uri).with_mime_type(kind(&name));
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Returns the lines of a resource from `first` on that fit into an answer.
pub(crate) async fn read_page(
    server: &McpServer,
    name: &ResourceName,
    first: u64,
) -> Result<String, ErrorData> {
    let limit = server.page_limit();
    match name {
        ResourceName::Run(_) | ResourceName::Review(_) => {
            let wanted = name.clone();
            let text = server.ask_source(move |source, call| source.text(call, &wanted)).await?;
            let text = text.ok_or_else(|| missing(name))?;
            let (content, total_lines) = from_line(&text, first).ok_or_else(|| no_line(name, first))?;
            Ok(TextPage { name, content, first, total_lines }.render(limit))
        }
        ResourceName::Output(word) => {
            read_output(server, name, format!("{OUTPUT_PREFIX}{word}"), first).await
        }
        ResourceName::Process(word) => {
            read_output(server, name, format!("{PROCESS_PREFIX}{word}"), first).await
        }
    }
}

/// Reads the output of a command, like the tool `readFile`.
async fn read_output(
    server: &McpServer,
    name: &ResourceName,
    path: String,
    first: u64,
) -> Result<String, ErrorData> {
    let request = ReadFile { path, start_line: Some(first.cast_signed()), ..ReadFile::default() };
    let (content, total_lines) = match server.read_lines(request).await {
        Ok(lines) => lines,
        // A process that has printed nothing yet has no first line.
        Err(error) if error.reason() == Reason::InvalidRange && first == 1 => (String::new(), 0),
        Err(error) => {
            return Err(match error.reason() {
                Reason::FileNotFound | Reason::InvalidName => missing(name),
                Reason::InvalidRange => no_line(name, first),
                _ => failure(&error),
            });
        }
    };
    Ok(TextPage { name, content: &content, first, total_lines }.render(server.page_limit()))
}

/// Returns the error for an impossible name of a resource.
pub(crate) fn unknown(uri: &str, error: NameError) -> ErrorData {
    let uri: String = uri.chars().take(300).collect();
    ErrorData::resource_not_found(error.to_string(), Some(serde_json::json!({ "uri": uri })))
}

/// Returns the error for a missing resource.
pub(crate) fn missing(name: &ResourceName) -> ErrorData {
    let data = serde_json::json!({ "uri": name.to_string() });
    ErrorData::resource_not_found(format!("there is no {name}"), Some(data))
}

/// Returns the error for a resource that cannot be followed.
pub(super) fn not_followed(uri: &str) -> ErrorData {
    let uri: String = uri.chars().take(300).collect();
    let data = serde_json::json!({ "uri": uri });
    ErrorData::resource_not_found("there is no resource of this name that changes", Some(data))
}

/// Returns the error for a source that cannot answer.
pub(crate) fn failure(error: &WapError) -> ErrorData {
    ErrorData::internal_error(error.message().to_owned(), None)
}

fn no_line(name: &ResourceName, line: u64) -> ErrorData {
    ErrorData::invalid_params(format!("{name} has no line {line}"), None)
}
