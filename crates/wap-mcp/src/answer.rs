//! Turns answers of tools into results for clients.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::json;
use wap_core::{ModifyFileResponse, Reason, Request, Response, UnknownArguments, WapError};

use crate::McpConfig;
use crate::change_text;
use crate::recent_outputs::RecentOutputs;
use crate::search_text;
use crate::short_listing::shorten;
use crate::text;

/// Turns the answer to a request into a result.
pub(crate) fn result(
    config: &McpConfig,
    outputs: &RecentOutputs,
    request: &Request,
    answer: Result<Response, WapError>,
) -> CallToolResult {
    let limit = config.page;
    match (request, answer) {
        (_, Err(error)) => failure(config, outputs, &error),
        (_, Ok(response)) if config.wap_json => plain(json_text(&response)),
        (Request::ModifyFile(request), Ok(Response::ModifyFile(response)))
            // Only if all operations are patterns: any other operation has changed the file.
            if response.replacements.len() == request.operations.len()
                && response.replacements.iter().all(|replaced| replaced.matches == 0) =>
        {
            failure(config, outputs, &nothing_matches(&response))
        }
        (Request::ReadFile(request), Ok(Response::ReadFile(response))) => {
            plain(text::read_file(request, &response, limit))
        }
        (Request::SearchFiles(request), Ok(Response::SearchFiles(response))) => {
            plain(search_text::search_files(request, &response, limit))
        }
        (_, Ok(Response::ExecuteCommand(response))) => {
            plain(text::execute_command(&response, outputs, limit))
        }
        (_, Ok(Response::StopProcess(response))) => plain(text::stop_process(&response, outputs, limit)),
        (Request::ExploreFiles(request), Ok(Response::ExploreFiles(mut response))) => {
            shorten(&mut response, &request.path, limit.characters());
            structured(&response)
        }
        (_, Ok(Response::ModifyFile(response))) => {
            with_text(structured(&response), change_text::modify_file(&response))
        }
        (_, Ok(Response::WriteFile(response))) => {
            with_text(structured(&response), change_text::write_file(&response))
        }
        (_, Ok(response)) => structured(&response),
    }
}

/// Returns the failure of a request whose patterns all match nothing. In WAP this is a success, but a model that reads `success`
/// proceeds as if the text had changed.
fn nothing_matches(response: &ModifyFileResponse) -> WapError {
    let path = response.path.as_str();
    let text = format!("no pattern matches anything in '{path}', so nothing was changed");
    let error = WapError::new(Reason::Conflict, text)
        .with("path", path)
        .with("hint", "read the file, and check the pattern and its flags");
    let near = response.replacements.iter().flat_map(|replaced| &replaced.nearest);
    let lines: Vec<String> = near.map(|near| format!("{:>6}  {}\n", near.line, near.text)).collect();
    if lines.is_empty() { error } else { error.with("nearestLines", lines.concat()) }
}

/// Returns a failure as a result, not as a protocol error, which clients do not show to the model.
pub(crate) fn failure(config: &McpConfig, outputs: &RecentOutputs, error: &WapError) -> CallToolResult {
    let text = if config.wap_json { json_text(error) } else { text::failure(error, outputs, config.page) };
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// Returns a text result.
pub(crate) fn plain(text: String) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// Adds the note on ignored arguments to a text result.
pub(crate) fn with_note(mut result: CallToolResult, unknown: &UnknownArguments) -> CallToolResult {
    if let Some(note) = unknown.note() {
        result.content.push(ContentBlock::text(format!("[{note}]")));
    }
    result
}

/// Returns a structured result, with the same content as text for clients without structured results.
fn structured<T: Serialize>(response: &T) -> CallToolResult {
    CallToolResult::structured(json!(response))
}

/// Replaces the text of a structured result by a text for a model.
fn with_text(mut result: CallToolResult, text: String) -> CallToolResult {
    result.content = vec![ContentBlock::text(text)];
    result
}

fn json_text<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("answers have string keys")
}
