//! `agentd mcp`: the workspace tools over MCP on standard input and output.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tokio::sync::Notify;
use wap_calls::{CallPool, Client};
use wap_core::Workspace;
use wap_mcp::{CommandTasks, ExtraTool, PageLimit};
use wap_mcp::{McpConfig, McpServer, Questions, RecentOutputs, ServerName, SubscriptionDesk, serve_stdio};
use workspace_host::SecretRules;
use workspace_host::WorkspacePaths;
use workspace_host::state::check_unconfined;
use workspace_host::{ReviewPolicy, ReviewedWorkspace, SharedWorkspace};
use workspace_index::ServedIndex;
use workspace_mcp::{ServedHistory, ServedQuestions, ServedResources, ServedTasks};

use crate::commands::review::options::ReviewPolicyOption;
use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// Options of serving MCP clients.
#[derive(Clone, Debug, Args)]
pub(crate) struct McpOptions {
    /// Answer exact WAP JSON in place of text.
    #[arg(long)]
    pub wap_json: bool,
    /// Tools in addition to the usual ones.
    #[arg(long, value_name = "TOOL", value_delimiter = ',', value_parser = extra_tool())]
    pub tools: Vec<ExtraTool>,
    /// Longest answer in characters, 0 for no limit.
    #[arg(long, value_name = "CHARACTERS", default_value = "60000")]
    pub page: PageLimit,
    #[command(flatten)]
    pub review: ReviewPolicyOption,
    /// Let the user of a client that shows forms, or draws apps, also decide about waiting proposals. The client must never let a
    /// model answer.
    #[arg(long)]
    pub questions: bool,
    /// Have a command that deletes more files than this wait for a person. Commands are then tried on an overlay first, and land
    /// as they were tried; they cannot be tasks.
    #[arg(long, value_name = "FILES")]
    pub ask_deletions: Option<usize>,
}

impl McpOptions {
    /// Returns true if one of the chosen tools asks the code index.
    pub(crate) fn offers_the_code_index(&self) -> bool {
        self.tools.iter().any(|tool| tool.asks_the_code_index())
    }

    /// Returns true if something waits for a person.
    fn asks_a_person(&self) -> bool {
        self.review.review != ReviewPolicy::None || self.ask_deletions.is_some()
    }
}

/// Returns the parser of the name of an extra tool.
fn extra_tool() -> impl TypedValueParser<Value = ExtraTool> {
    let names = ExtraTool::ALL.map(|tool| PossibleValue::new(tool.name()).help(tool.summary()));
    PossibleValuesParser::new(names).try_map(|name| {
        ExtraTool::ALL.into_iter().find(|tool| tool.name() == name).ok_or("there is no such tool")
    })
}

/// The name under which clients know the servers of this program.
const SERVER_NAME: ServerName =
    ServerName { name: "agentd", title: "agentd workspace", version: env!("CARGO_PKG_VERSION") };

/// The time that calls which were begun may take when the client is gone.
const PARTING: Duration = Duration::from_secs(60);

/// Serves the client at standard input and output until it is gone.
pub(crate) fn mcp(common: &CommonOptions, console: Console, options: &McpOptions) -> Outcome {
    let cancel = cancel_flag()?;
    let host = common.host();
    let paths = WorkspacePaths::find(&host)?;
    check_unconfined(&host, &paths)?;
    let rules = SecretRules::open(&host, &paths)?;
    let workspace = Arc::new(SharedWorkspace::staying(&host, &paths, &console.shared()));
    let failed = |error: std::io::Error| Failure::new(Exit::Failed, format!("cannot serve: {error}"));
    let code =
        ServedIndex::new(&host, &paths, &console.shared(), &workspace, options.offers_the_code_index());
    let code = Arc::new(code);
    let config = Arc::new(config(options, &paths, &workspace, &code, &rules));
    let served: Arc<dyn Workspace> = served(&workspace, options, &rules, "mcp");
    let client = Client::new("mcp", &served, &CallPool::new());
    let server = McpServer::new(&config, Arc::clone(&client), &Arc::new(RecentOutputs::default()));
    let interrupted = Arc::new(Notify::new());
    let waker = Arc::clone(&interrupted);
    let _guard = cancel.on_cancel(Box::new(move || waker.notify_one()));
    let (opening, beginning) = (Arc::clone(&workspace), Arc::clone(&code));
    serve_stdio(server, &interrupted, move || open_in_background(opening, beginning, console))
        .map_err(failed)?;
    // The outcomes of cancelled commands are recorded before the process ends.
    client.cancel_all();
    client.wait_until_idle(PARTING);
    code.end();
    workspace.leave(&cancel);
    Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done })
}

/// Opens the workspace while the client prepares its first call. If that fails, this call reports it, too.
fn open_in_background(workspace: Arc<SharedWorkspace>, code: Arc<ServedIndex>, console: Console) {
    let open = move || match workspace.open() {
        Ok(()) => code.begin(),
        Err(failure) => console.notice(&format!("agentd: {}", failure.message)),
    };
    if let Err(error) = thread::Builder::new().name("opening".to_owned()).spawn(open) {
        // The first call opens it on its own thread.
        console.notice(&format!("agentd: cannot start a thread: {error}"));
    }
}

/// Returns the workspace that clients see: without secrets, and with a reviewer in front of it, if the command line says so.
pub(crate) fn served(
    workspace: &Arc<SharedWorkspace>,
    options: &McpOptions,
    rules: &SecretRules,
    front_end: &str,
) -> Arc<dyn Workspace> {
    if !options.asks_a_person() {
        return Arc::new(rules.over(Arc::clone(workspace)));
    }
    let reviewed = ReviewedWorkspace::new(Arc::clone(workspace), options.review.review, front_end);
    Arc::new(rules.over(reviewed.with_most_deletions(options.ask_deletions)))
}

/// Returns the settings that the command line gives the server.
pub(crate) fn config(
    options: &McpOptions,
    paths: &WorkspacePaths,
    workspace: &Arc<SharedWorkspace>,
    code: &Arc<ServedIndex>,
    rules: &SecretRules,
) -> McpConfig {
    let may_undo = options.review.review != ReviewPolicy::All;
    let (shared, policy) = (|| Arc::clone(workspace), options.review.review);
    let history = ServedHistory::new(shared(), paths.clone(), rules.clone(), may_undo);
    let tasks = ServedTasks::new(shared(), rules.clone(), policy, "mcp");
    // A task is run by the owner of the state folder at once, untried: under a review of commands it waits for that.
    let offers_tasks = policy != ReviewPolicy::None || options.ask_deletions.is_none();
    let questions = (options.asks_a_person() && options.questions).then(|| {
        let review = ServedQuestions::new(shared(), rules.clone(), policy, options.ask_deletions);
        Arc::new(Questions::new(Arc::new(review)))
    });
    let resources = ServedResources::new(shared(), paths.clone(), rules.clone());
    McpConfig {
        wap_json: options.wap_json,
        extra_tools: options.tools.clone(),
        page: options.page,
        history: Some(Arc::new(history)),
        code: Some(Arc::<ServedIndex>::clone(code)),
        tasks: offers_tasks.then(|| Arc::new(tasks) as Arc<dyn CommandTasks>),
        questions,
        resources: Some(SubscriptionDesk::new(Arc::new(resources))),
        ..McpConfig::new(SERVER_NAME)
    }
}
