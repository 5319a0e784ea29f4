//! The server of one client: lists the tools and answers calls.

use std::sync::{Arc, OnceLock};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskMethod, CancelTaskParams,
    CompleteRequestParams, CompleteResult, ConstString, CustomRequest, CustomResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, GetTaskMethod, GetTaskParams, GetTaskResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SetLevelRequestMethod, SubscribeRequestParams, SubscriptionFilter,
    SubscriptionsListenRequestMethod, Tool as McpTool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::oneshot;
use wap_core::{
    CancelFlag, CommandObserver, GUIDELINES, ReadFile, Request, Tool, UnknownArguments, Unobserved, WapError,
};

use crate::contributed::{ContributionClient, unknown_level};
use crate::extra_tool::{self, ExtraTool};
use crate::giving_up::{CancelOnDrop, wait};
use crate::http::{LastingClients, is_newer};
use crate::resources::{self, Follower, unless_cancelled};
use crate::tasks::{LISTEN, TaskDesk};
use crate::{McpConfig, Questions, RecentOutputs, answer, app, progress, prompts, text, tool_list};
use wap_calls::Client;

/// The server of one client.
#[derive(Clone)]
pub struct McpServer {
    pub(crate) config: Arc<McpConfig>,
    pub(crate) client: Arc<Client>,
    pub(crate) outputs: Arc<RecentOutputs>,
    /// The list of tools, created on first use: describing their arguments takes as long as everything else before the answer to
    /// `initialize`.
    tools: Arc<OnceLock<Vec<McpTool>>>,
    tasks: Option<TaskDesk>,
    /// The subscriptions of the older era.
    follower: Option<Arc<Follower>>,
    /// The clients that outlast a request without a session; `None` if each client has a connection.
    pub(crate) lasting: Option<Arc<LastingClients>>,
    contributed: ContributionClient,
}

impl McpServer {
    /// Returns a server for a client. Outputs that are too long for one answer are kept in `outputs`, which several servers may
    /// share.
    #[must_use]
    pub fn new(config: &Arc<McpConfig>, client: Arc<Client>, outputs: &Arc<RecentOutputs>) -> McpServer {
        let tasks = TaskDesk::new(config, &client, outputs);
        let follower = Follower::new(config, client.origin().conversation).map(Arc::new);
        McpServer {
            config: Arc::clone(config),
            client,
            outputs: Arc::clone(outputs),
            tools: Arc::default(),
            tasks,
            follower,
            lasting: None,
            contributed: ContributionClient::default(),
        }
    }

    /// Returns the questions that the app of a client may answer; `None` if it draws no apps, or there are no questions.
    fn asked_by_app(&self, context: &RequestContext<RoleServer>) -> Option<&Arc<Questions>> {
        // The document of the app is a resource.
        self.config.resources.as_ref()?;
        self.config.questions.as_ref().filter(|_| app::is_declared(context))
    }

    fn tools(&self) -> &[McpTool] {
        self.tools.get_or_init(|| tool_list::tools(&self.config))
    }

    /// Returns the subscriptions of the older era.
    ///
    /// # Errors
    ///
    /// Method not found if there are no resources that change.
    fn follower(&self, method: &'static str) -> Result<&Follower, ErrorData> {
        self.follower.as_deref().ok_or_else(|| ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
    }

    /// Checks whether a client chooses its log level once for all requests. In the newer era, each request chooses.
    fn sends_log(&self, context: &RequestContext<RoleServer>) -> bool {
        self.config.contributions.has_log() && !is_newer(context)
    }

    /// Checks whether commands can be tasks.
    pub(crate) fn offers_tasks(&self) -> bool {
        self.tasks.is_some()
    }

    pub(crate) async fn call(
        &self,
        name: &str,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        if let Some(tool) = ExtraTool::ALL.into_iter().find(|tool| tool.name() == name)
            && self.config.extra_tools.contains(&tool)
        {
            let unknown = match tool {
                // It is parsed like the document's tools, which collect them already.
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
        match tool_list::ALWAYS.into_iter().find(|tool| tool.name() == name) {
            Some(tool) => Ok(self.documented(tool, arguments, context).await),
            None => {
                let text = tool_list::no_such_tool(name, &self.config);
                Err(ErrorData::invalid_params(text, None))
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
        // Check these before the workspace: outputs that were truncated for a page are kept here, not by the engine.
        if let Request::ReadFile(read) = &request
            && let Some(part) = self.outputs.read(read)
        {
            return match part {
                Ok(part) => {
                    let page = answer::plain(text::read_recent(read, &part, self.config.page));
                    answer::with_note(page, &unknown)
                }
                Err(error) => self.failure(&error),
            };
        }
        let observer: Box<dyn CommandObserver> = match context.meta.get_progress_token() {
            Some(token) if request.tool() == Tool::ExecuteCommand => {
                progress::notifying(context.peer.clone(), token)
            }
            _ => Box::new(Unobserved),
        };
        let (config, outputs) = (Arc::clone(&self.config), Arc::clone(&self.outputs));
        let answered_request = request.clone();
        let request = match request {
            // The page numbers its own lines, no wider than needed.
            Request::ReadFile(read) if !self.config.wap_json => {
                Request::ReadFile(ReadFile { line_numbers: None, ..read })
            }
            request => request,
        };
        let (sender, answered) = oneshot::channel();
        let cancel = CancelFlag::new();
        let _given_up = CancelOnDrop(cancel.clone());
        // Render on the thread of the call, not on the one that serves all clients.
        let done = move |answer| {
            let answer = unknown.annotate(answer);
            // Without a receiver, the client is gone and its answer is dropped.
            let _ = sender.send(Ok(answer::result(&config, &outputs, &answered_request, answer)));
        };
        self.client.begin(request, cancel.clone(), observer, done);
        wait(answered, &cancel, context).await.unwrap_or_else(|error| self.failure(&error))
    }

    pub(crate) fn failure(&self, error: &WapError) -> CallToolResult {
        answer::failure(&self.config, &self.outputs, error)
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        let capabilities = if self.tasks.is_some() { capabilities.enable_tasks() } else { capabilities };
        let mut capabilities = capabilities.build();
        if self.config.resources.is_some() {
            resources::advertise(&mut capabilities);
            if self.config.questions.is_some() {
                app::advertise(&mut capabilities);
            }
        }
        self.config.contributions.advertise(&mut capabilities);
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new(self.config.name.name, self.config.name.version)
                    .with_title(self.config.name.title),
            )
            .with_instructions(GUIDELINES)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = self.tools().to_vec();
        if let Some(questions) = self.asked_by_app(&context) {
            app::tie(&mut tools, questions.reviewed_tools());
            tools.extend(app::tools());
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<McpTool> {
        self.tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let (Some(tool), Some(questions)) =
            (app::AppTool::named(&request.name), self.asked_by_app(&context))
        {
            let arguments = request.arguments.map_or(Value::Null, Value::Object);
            return Ok(self.call_of_app(tool, questions, arguments, &context).await.into());
        }
        if !tool_list::is_of_workspace(&request.name, &self.config)
            && let Some(answer) =
                self.config.contributions.call_tool(&request, (&context, &self.contributed)).await
        {
            return answer;
        }
        let server = self.for_call(&request, &context);
        if let Some((questions, subject)) = server.asks_about(&request, &context) {
            return server.call_with_questions(&questions, &subject, request, &context).await;
        }
        if let Some(tasks) = server.tasks.as_ref().filter(|tasks| tasks.takes(&request, &context)) {
            return tasks.call(request, &context).await;
        }
        let arguments = request.arguments.map_or(Value::Null, Value::Object);
        server.call(&request.name, arguments, &context).await.map(CallToolResponse::Complete)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let tasks = self.tasks.as_ref().ok_or_else(ErrorData::method_not_found::<GetTaskMethod>)?;
        tasks.get_newer(&request.task_id).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let tasks = self.tasks.as_ref().ok_or_else(ErrorData::method_not_found::<CancelTaskMethod>)?;
        tasks.cancel_newer(&request.task_id).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method == SetLevelRequestMethod::VALUE && self.sends_log(&context) {
            // For a valid level, the SDK would have called `set_level`.
            return Err(unknown_level());
        }
        match &self.tasks {
            Some(tasks) if request.method == LISTEN && is_newer(&context) => {
                self.listen_to_tasks(tasks, request, &context).await
            }
            Some(tasks) => tasks.older(request, &context).await,
            None => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)),
        }
    }

    #[expect(deprecated, reason = "clients of the older era still choose a level")]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.sends_log(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.contributed.level.set(request.level.into());
        Ok(())
    }

    // Methods of capabilities that are not advertised answer method-not-found; an empty list would claim support.

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        if let Some(completed) = self.config.contributions.complete(&request).await {
            return Ok(completed);
        }
        self.offers("completion/complete")?;
        unless_cancelled(&context, prompts::complete(self, request)).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.offers("prompts/list")?;
        Ok(prompts::list(&self.config))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.offers("prompts/get")?;
        if !prompts::is_of_workspace(&request.name, &self.config)
            && let Some(answer) =
                self.config.contributions.get_prompt(&request, (&context, &self.contributed)).await
        {
            return answer;
        }
        unless_cancelled(&context, prompts::fill(self, request)).await.map(GetPromptResponse::Complete)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.offers("resources/list")?;
        let is_first = request.as_ref().is_none_or(|request| request.cursor.is_none());
        let mut list =
            unless_cancelled(&context, resources::list(&self.with_known_processes(&context), request))
                .await?;
        if is_first {
            list.resources.extend(self.config.contributions.resources());
        }
        if is_first && self.asked_by_app(&context).is_some() {
            list.resources.insert(0, app::listed());
        }
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.offers("resources/templates/list")?;
        Ok(resources::templates(&self.config))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.offers("resources/read")?;
        if request.uri == app::URI && self.config.questions.is_some() {
            return Ok(ReadResourceResponse::Complete(app::read()));
        }
        if !resources::is_of_workspace(&request.uri)
            && let Some(answer) =
                self.config.contributions.read_resource(&request, (&context, &self.contributed)).await
        {
            return answer;
        }
        let server = self.with_known_processes(&context);
        let read = unless_cancelled(&context, resources::read(&server, request)).await?;
        Ok(ReadResourceResponse::Complete(read))
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let follower = self.follower("resources/subscribe")?;
        let peer = context.peer.clone();
        unless_cancelled(&context, resources::follow_for_older(follower, &request.uri, peer)).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.follower("resources/unsubscribe")?.unwatch(&request.uri)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.follower.as_ref().map(|_| resources::accepted(&self.config, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        // Only requests of the newer era reach this.
        let client = self.with_processes(context.request_context()).client;
        let follower = Follower::new(&self.config, client.origin().conversation);
        let follower =
            follower.ok_or_else(ErrorData::method_not_found::<SubscriptionsListenRequestMethod>)?;
        resources::follow_for_newer(follower, context).await
    }
}
