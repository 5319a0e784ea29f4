//! `agentd call`: one call of a workspace tool.

use std::io::Read;
use std::sync::Arc;

use serde_json::Value;
use wap_core::{
    Call, CancelFlag, ConversationId, Limits, Origin, Reason, Request, Response, Retention, RunKey, Tool,
    ToolEffect, UnknownArguments, Unobserved, WapError, Workspace,
};
use workspace_host::SecretRules;
use workspace_host::SharedWorkspace;
use workspace_host::WorkspacePaths;
use workspace_host::state;

use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// Makes one call and prints the response, or the error object.
pub(crate) fn call(common: &CommonOptions, console: Console, tool: &str, arguments: Option<&str>) -> Outcome {
    let tool: Tool = match tool.parse() {
        Ok(tool) => tool,
        Err(error) => {
            console.json_result::<WapError>(&error);
            return Ok(Exit::Usage);
        }
    };
    let arguments = read_arguments(tool, arguments)?;
    let unknown = UnknownArguments::of(tool, &arguments);
    let request = match Request::parse(tool.name(), arguments) {
        Ok(request) => request,
        Err(error) => return Ok(failed(console, &unknown.annotate_error(error))),
    };
    if request.is_background() {
        let text = "a background process ends with its conversation, and a single call is one of its own; make the calls of \
                    one conversation through `agentd wap`, `agentd mcp` or `agentd serve`";
        return Ok(failed(console, &WapError::new(Reason::InvalidField, text).with("field", "background")));
    }
    let cancel = cancel_flag()?;
    let paths = WorkspacePaths::find(&common.host()).map_err(as_usage)?;
    let root = paths.workspace.display().to_string();
    let rules = SecretRules::open(&common.host(), &paths).map_err(as_usage)?;
    // A tool that only reads needs no journal and works alongside any other process.
    let answer = if request.tool().effect() == ToolEffect::Reads {
        let open = match request.tool() {
            Tool::GetWorkspaceInfo => state::open_to_describe,
            _ => state::open_for_reading,
        };
        let opened = open(&common.host(), &paths, &console.shared()).map_err(as_usage)?;
        let (engine, _outputs) = opened.into_parts();
        answer(&rules.over(engine), &request, &cancel)
    } else {
        let workspace = SharedWorkspace::new(&common.host(), &paths, &console.shared());
        workspace.open().map_err(as_usage)?;
        answer(&rules.over(Arc::new(workspace)), &request, &cancel)
    };
    match unknown.annotate(answer) {
        Ok(response) => {
            console.json_result(&response.with_absolute_metadata(&root));
            Ok(Exit::Done)
        }
        Err(error) => Ok(failed(console, &error)),
    }
}

fn answer<W: Workspace>(workspace: &W, request: &Request, cancel: &CancelFlag) -> Result<Response, WapError> {
    let origin = Origin {
        conversation: ConversationId("call".to_owned()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    };
    request.answer(workspace, &Call { origin: &origin, cancel, time_left: None }, &mut Unobserved)
}

fn failed(console: Console, error: &WapError) -> Exit {
    console.json_result(error);
    Exit::Failed
}

/// `call` ends with 0, 1 or 2 only: if it cannot call at all, the caller has to fix the cause.
fn as_usage(failure: Failure) -> Failure {
    Failure { exit: Exit::Usage, ..failure }
}

fn read_arguments(tool: Tool, arguments: Option<&str>) -> Result<Value, Failure> {
    let text = match arguments {
        None => return Ok(Value::Null),
        Some("-") => {
            let mut text = String::new();
            let read = std::io::stdin().lock().take(Limits::MAX_MESSAGE_BYTES).read_to_string(&mut text);
            read.map_err(|error| Failure::new(Exit::Usage, format!("cannot read standard input: {error}")))?;
            text
        }
        Some(text) => text.to_owned(),
    };
    wap_core::check_json_size(text.as_bytes())
        .map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::new(Exit::Usage, format!("the arguments are not JSON: {error}")).advise(format!(
            "for example: agentd call {} '{}'",
            tool.name(),
            example(tool)
        ))
    })
}

/// Returns arguments of a tool, for a command line.
fn example(tool: Tool) -> &'static str {
    match tool {
        Tool::ExploreFiles => r#"{"path":".","recursive":true}"#,
        Tool::ReadFile => r#"{"path":"README.md"}"#,
        Tool::WriteFile => r#"{"path":"notes.txt","content":"text\n"}"#,
        Tool::ModifyFile => {
            r#"{"path":"notes.txt","operations":[{"type":"replace","startLine":1,"endLine":1,"newContent":"text\n"}]}"#
        }
        Tool::DeleteFile => r#"{"path":"notes.txt"}"#,
        Tool::SearchFiles => r#"{"paths":["."],"query":"text","type":"literal"}"#,
        Tool::ExecuteCommand => r#"{"command":"ls"}"#,
        Tool::StopProcess => r#"{"name":"web"}"#,
        Tool::GetWorkspaceInfo => "{}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_each_tool_is_a_request() {
        for tool in Tool::ALL {
            let arguments = serde_json::from_str(example(tool)).unwrap();
            let request = Request::parse(tool.name(), arguments);
            assert!(request.is_ok(), "{tool:?}: {request:?}");
        }
    }
}
