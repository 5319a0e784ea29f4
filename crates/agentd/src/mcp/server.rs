//! One client of the server: it is told about the tools, and its calls are carried out.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, Implementation, ListPromptsRequestMethod, ListPromptsResult,
    ListResourceTemplatesRequestMethod, ListResourceTemplatesResult, ListResourcesRequestMethod,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool as McpTool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::oneshot;
use wap_core::{
    Call, CancelFlag, CommandObserver, GUIDELINES, Reason, Request, Tool, UnknownArguments, Unobserved,
    WapError,
};

use crate::commands;
use crate::commands::log::LogPage;
use crate::exit::Failure;
use crate::mcp::extra_tool::{self, ExtraTool, LogArguments, UndoArguments};
use crate::mcp::{CodeTools, PageLimit, RecentOutputs, answer, progress, text, tool_list};
use workspace_host::Client;
use workspace_host::Places;
use workspace_host::UndoRequest;

/// How many runs `log` lists when nothing else is asked for.
const LOGGED_RUNS: u32 = 20;

/// How many runs it lists at most in one answer.
const MOST_LOGGED_RUNS: u32 = 1_000;

/// What the user decides about the server.
#[derive(Clone, Debug)]
pub(crate) struct McpConfig {
    /// Answer exact WAP JSON in place of text.
    pub wap_json: bool,
    /// Tools beside the document's seven.
    pub extra_tools: Vec<ExtraTool>,
    /// How long an answer may be.
    pub page: PageLimit,
    pub places: Places,
    /// What answers the tools that ask the index of code.
    pub code: Arc<CodeTools>,
}

/// What serves one client.
#[derive(Clone)]
pub(crate) struct McpServer {
    config: Arc<McpConfig>,
    client: Arc<Client>,
    outputs: Arc<RecentOutputs>,
    tools: Arc<[McpTool]>,
}

/// Cancels a call whose answer nobody waits for any more.
struct CancelOnDrop(CancelFlag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl McpServer {
    pub(crate) fn new(
        config: &Arc<McpConfig>,
        client: Arc<Client>,
        outputs: &Arc<RecentOutputs>,
    ) -> McpServer {
        let tools = tool_list::tools(config).into();
        McpServer { config: Arc::clone(config), client, outputs: Arc::clone(outputs), tools }
    }

    async fn call(
        &self,
        name: &str,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        if let Some(tool) = ExtraTool::ALL.into_iter().find(|tool| tool.name() == name)
            && self.config.extra_tools.contains(&tool)
        {
            let unknown = match tool {
                // Read as the tool of the document, which notes them.
                ExtraTool::DeleteFile => UnknownArguments::default(),
                _ => UnknownArguments::outside_of(&tool.request_schema(), &arguments),
            };
            let result = match tool {
                ExtraTool::Undo => self.undo(arguments, context).await,
                ExtraTool::Log => self.log(arguments).await,
                ExtraTool::ReadOutput => match extra_tool::read_output(arguments) {
                    Ok(request) => self.carry_out(request, UnknownArguments::default(), context).await,
                    Err(error) => self.failure(&error),
                },
                ExtraTool::DeleteFile => self.documented(Tool::DeleteFile, arguments, context).await,
                ExtraTool::DocdexSearch
                | ExtraTool::DocdexSnippet
                | ExtraTool::DocdexSymbols
                | ExtraTool::DocdexAst
                | ExtraTool::DocdexImpact
                | ExtraTool::DocdexImpactDiagnostics => self.docdex(tool, arguments, context).await,
            };
            return Ok(answer::with_note(result, &unknown));
        }
        match Tool::DOCUMENTED.into_iter().find(|tool| tool.name() == name) {
            Some(tool) => Ok(self.documented(tool, arguments, context).await),
            None => {
                let shown: String = name.chars().take(100).collect();
                Err(ErrorData::invalid_params(format!("there is no tool '{shown}'"), None))
            }
        }
    }

    async fn documented(
        &self,
        tool: Tool,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let unknown = UnknownArguments::of(tool, &arguments);
        match Request::parse(tool.name(), arguments) {
            Ok(request) => self.carry_out(request, unknown, context).await,
            Err(error) => self.failure(&unknown.annotate_error(error)),
        }
    }

    async fn carry_out(
        &self,
        request: Request,
        unknown: UnknownArguments,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        if let Request::ReadFile(read) = &request
            && let Some(part) = self.outputs.read(read)
        {
            return match part {
                Ok(part) => {
                    let shown = answer::plain(text::read_recent(read, &part, self.config.page));
                    answer::with_note(shown, &unknown)
                }
                Err(error) => self.failure(&error),
            };
        }
        let observer: Box<dyn CommandObserver> = match context.meta.get_progress_token() {
            Some(token) if request.tool() == Tool::ExecuteCommand => {
                progress::told(context.peer.clone(), token)
            }
            _ => Box::new(Unobserved),
        };
        let (config, outputs, asked) = (Arc::clone(&self.config), Arc::clone(&self.outputs), request.clone());
        let (sender, answered) = oneshot::channel();
        let cancel = CancelFlag::new();
        let _given_up = CancelOnDrop(cancel.clone());
        // Rendered where it was worked out, and not on the thread that serves everybody.
        let done = move |answer| {
            let answer = unknown.annotate(answer);
            let _ = sender.send(Ok(answer::result(&config, &outputs, &asked, answer)));
        };
        self.client.begin(request, cancel.clone(), observer, done);
        wait(answered, &cancel, context).await.unwrap_or_else(|error| self.failure(&error))
    }

    async fn undo(&self, arguments: Value, context: &RequestContext<RoleServer>) -> CallToolResult {
        let change = match extra_tool::read::<UndoArguments>(arguments) {
            Ok(arguments) => arguments.change,
            Err(error) => return self.failure(&error),
        };
        let cancel = CancelFlag::new();
        let _given_up = CancelOnDrop(cancel.clone());
        let (client, flag) = (Arc::clone(&self.client), cancel.clone());
        let characters = self.config.page.characters();
        let (sender, answered) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            let request = UndoRequest { change, ..UndoRequest::default() };
            let origin = client.origin();
            let call = Call { origin: &origin, cancel: &flag, time_left: None };
            let told = client.workspace.undo(&request, &call);
            let told = told.map(|answer| commands::undo::told(answer, characters));
            let _ = sender.send(Ok(told));
        });
        match wait(answered, &cancel, context).await {
            Ok(Ok(Ok(text))) => answer::plain(text),
            Ok(Ok(Err(text))) => CallToolResult::error(vec![rmcp::model::ContentBlock::text(text)]),
            Ok(Err(failure)) => self.failure(&as_error(&failure)),
            Err(error) => self.failure(&error),
        }
    }

    async fn docdex(
        &self,
        tool: ExtraTool,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let cancel = CancelFlag::new();
        let _given_up = CancelOnDrop(cancel.clone());
        let (client, code, flag) = (Arc::clone(&self.client), Arc::clone(&self.config.code), cancel.clone());
        let (sender, answered) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            let origin = client.origin();
            let call = Call { origin: &origin, cancel: &flag, time_left: None };
            let _ = sender.send(code.call(tool, arguments, &call));
        });
        match wait(answered, &cancel, context).await {
            Ok(text) => {
                let (shown, _) = crate::mcp::page::head(&text, self.config.page.characters());
                let mut shown = shown.to_owned();
                if shown.len() < text.len() {
                    shown.push_str("[cut here: ask for less, or for one file]\n");
                }
                answer::plain(shown)
            }
            Err(error) => self.failure(&error),
        }
    }

    async fn log(&self, arguments: Value) -> CallToolResult {
        let asked = match extra_tool::read::<LogArguments>(arguments) {
            Ok(LogArguments { limit, before, skip }) => LogPage {
                limit: limit.unwrap_or(LOGGED_RUNS).clamp(1, MOST_LOGGED_RUNS),
                before,
                skip: skip.unwrap_or(0),
                characters: self.config.page.characters(),
            },
            Err(error) => return self.failure(&error),
        };
        let places = self.config.places.clone();
        let listed = tokio::task::spawn_blocking(move || commands::log::page(&places, &asked)).await;
        match listed {
            Ok(Ok(text)) => answer::plain(text),
            Ok(Err(failure)) => self.failure(&as_error(&failure)),
            Err(_) => self.failure(&WapError::new(Reason::ReadError, "the journal cannot be read")),
        }
    }

    fn failure(&self, error: &WapError) -> CallToolResult {
        answer::failure(&self.config, &self.outputs, error)
    }
}

/// A failure for a model: without the paths that are for the person at the terminal.
fn as_error(failure: &Failure) -> WapError {
    match failure.exit {
        crate::exit::Exit::Refused => WapError::new(Reason::ReadOnly, failure.message.as_str()),
        crate::exit::Exit::Failed => WapError::new(Reason::ReadError, failure.message.as_str()),
        _ => WapError::new(Reason::Busy, "the state folder cannot be used; agentd's standard error says why"),
    }
}

/// Waits for an answer. A client that cancels is not answered by the protocol, yet what runs for it ends first.
async fn wait<T>(
    mut answered: oneshot::Receiver<Result<T, WapError>>,
    cancel: &CancelFlag,
    context: &RequestContext<RoleServer>,
) -> Result<T, WapError> {
    let answer = tokio::select! {
        answer = &mut answered => answer,
        () = context.ct.cancelled() => {
            cancel.cancel();
            answered.await
        }
    };
    answer.unwrap_or_else(|_| {
        Err(WapError::new(Reason::ReadError, "agentd has a fault and could not answer this call"))
    })
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(
                Implementation::new("agentd", env!("CARGO_PKG_VERSION")).with_title("agentd workspace"),
            )
            .with_instructions(GUIDELINES)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<McpTool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.map_or(Value::Null, Value::Object);
        self.call(&request.name, arguments, &context).await.map(CallToolResponse::Complete)
    }
    // What is not among the capabilities is not there: an empty list would say that it is.

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourcesRequestMethod>())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>())
    }
}
