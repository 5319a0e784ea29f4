//! The messages of a prompt, with its subject.

use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResult, JsonObject, PromptMessage, Role};
use serde_json::Value;

use super::{ArgumentKind, ServerPrompt};
use crate::McpServer;
use crate::extra_tool::ExtraTool;
use crate::page::tail;
use crate::resources::{ResourceName, read_page};

/// The longest value of an argument, in bytes.
const MOST_BYTES: usize = 4_096;

/// Answers `prompts/get`.
pub(crate) async fn fill(
    server: &McpServer,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let prompt = ServerPrompt::named(&request.name);
    let Some(prompt) = prompt.filter(|_| server.config.resources.is_some()) else {
        let name: String = request.name.chars().take(100).collect();
        return Err(ErrorData::invalid_params(format!("there is no prompt '{name}'"), None));
    };
    let arguments = Arguments::read(prompt, request.arguments.unwrap_or_default())?;
    let messages = match prompt {
        ServerPrompt::ReviewChanges => review_changes(server, &arguments).await?,
        ServerPrompt::ExplainFailure => explain_failure(server, &arguments).await?,
        ServerPrompt::UndoLast => undo_last(server).await?,
        ServerPrompt::ContinueSession => continue_session(server, arguments.conversation).await?,
    };
    Ok(GetPromptResult::new(messages).with_description(prompt.description()))
}

/// The arguments of a prompt; an empty text counts as absent.
#[derive(Debug, Default)]
struct Arguments {
    run: Option<u64>,
    path: Option<String>,
    conversation: Option<String>,
}

impl Arguments {
    fn read(prompt: ServerPrompt, given: JsonObject) -> Result<Arguments, ErrorData> {
        let mut arguments = Arguments::default();
        for (name, value) in given {
            let argument = prompt.arguments().iter().find(|kind| kind.name() == name);
            let (Some(kind), Value::String(text)) = (argument, value) else {
                let name: String = name.chars().take(100).collect();
                let text = format!("'{name}' is not an argument of {}, or not a text", prompt.name());
                return Err(ErrorData::invalid_params(text, None));
            };
            if text.is_empty() {
                continue;
            }
            if text.len() > MOST_BYTES {
                return Err(ErrorData::invalid_params(format!("{} is too long", kind.name()), None));
            }
            match kind {
                ArgumentKind::Run => {
                    let number = text.parse().map_err(|_| {
                        ErrorData::invalid_params("run is the number of a run".to_owned(), None)
                    })?;
                    arguments.run = Some(number);
                }
                ArgumentKind::Path => arguments.path = Some(text),
                ArgumentKind::Conversation => arguments.conversation = Some(text),
            }
        }
        Ok(arguments)
    }
}

async fn review_changes(server: &McpServer, arguments: &Arguments) -> Result<Vec<PromptMessage>, ErrorData> {
    let last = || server.ask_source(|source, _| source.last_change());
    let run = match arguments.run {
        Some(run) => run,
        None => match last().await? {
            Some(run) => run,
            None => return Ok(vec![text("Nothing has been changed in this workspace yet. Say so.")]),
        },
    };
    let mut question = format!(
        "Review what run {run} has changed. Look for mistakes, missing cases and missing tests, name file and line of \
         each finding, the gravest first, and read the files around a change where it is not clear from the diff. Change \
         nothing."
    );
    if let Some(path) = &arguments.path {
        question.push_str(&format!(" Review only the file {path:?}."));
    }
    Ok(vec![text(&question), about_run(server, run).await?])
}

async fn explain_failure(server: &McpServer, arguments: &Arguments) -> Result<Vec<PromptMessage>, ErrorData> {
    let run = arguments.run;
    let Some(failure) = server.ask_source(move |source, _| source.failure(run)).await? else {
        let scope = run.map_or("in this workspace".to_owned(), |run| format!("in run {run}"));
        return Ok(vec![text(&format!("No command has failed {scope}. Say so."))]);
    };
    let question = "Explain why this command failed: its cause, where in the files it is, and the smallest change that mends \
                    it. Read the files that its output names before you answer. Change nothing yet.";
    let excerpt = tail(&failure, server.page_limit().characters());
    let left_out = if excerpt.len() < failure.len() { "[the beginning is left out]\n" } else { "" };
    Ok(vec![text(&format!("{question}\n\n{left_out}{excerpt}"))])
}

async fn undo_last(server: &McpServer) -> Result<Vec<PromptMessage>, ErrorData> {
    let Some(run) = server.ask_source(|source, _| source.last_change()).await? else {
        return Ok(vec![text(
            "Nothing has been changed in this workspace yet, so there is nothing to undo. Say so.",
        )]);
    };
    let way = if server.config.extra_tools.contains(&ExtraTool::Undo) {
        "Take the last change back with the tool undo, without arguments, and report which files it restored."
    } else {
        "Tell me in one line what it changed, and that `agentd undo` in a terminal takes it back: this server does not offer \
         the tool undo."
    };
    let question =
        format!("The last change of the workspace is that of run {run}. {way} Change nothing else.");
    Ok(vec![text(&question), about_run(server, run).await?])
}

async fn continue_session(
    server: &McpServer,
    conversation: Option<String>,
) -> Result<Vec<PromptMessage>, ErrorData> {
    let named = conversation.clone();
    let work = server.ask_source(move |source, call| source.work(call, named.as_deref()));
    let Some(work) = work.await? else {
        return match conversation {
            Some(name) => {
                let name: String = name.chars().take(100).collect();
                Err(ErrorData::invalid_params(format!("there is no work of a conversation '{name}'"), None))
            }
            None => Ok(vec![text("No other conversation has worked in this workspace yet. Say so.")]),
        };
    };
    let limit = server.page_limit();
    let (excerpt, _) = crate::page::head(&work, limit.characters());
    let left_out = if excerpt.len() < work.len() { "\n[the rest is left out: read the files]\n" } else { "" };
    let question = "Continue the work that another conversation has begun in this workspace. What it has done is below. \
                    Check the files before you rely on it, say in a few lines what is left to do, and go on.";
    Ok(vec![text(&format!("{question}\n\n{excerpt}{left_out}"))])
}

/// Returns the differences of a run as an embedded resource.
async fn about_run(server: &McpServer, run: u64) -> Result<PromptMessage, ErrorData> {
    let name = ResourceName::Run(run);
    let page = read_page(server, &name, 1).await?;
    let kind = Some("text/x-diff".to_owned());
    Ok(PromptMessage::new_resource(Role::User, name.to_string(), kind, Some(page), None, None, None))
}

fn text(text: &str) -> PromptMessage {
    PromptMessage::new_text(Role::User, text)
}
