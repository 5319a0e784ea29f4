//! The sources that requests are answered from: the workspace, its code index, and a docdex daemon.

use std::sync::Arc;

use codali_envelope::{AnswerOptions, Budget, CommandOutput, Reading, Response};
use codali_session::{Responder, request_origin};
use docdex_client::RemoteIndex;
use file_index::ChangeFeed;
use local_workspace::{IndexLimits, LocalWorkspace};
use secret_placeholders::PlaceholderWorkspace;
use wap_core::{Call, CancelFlag, CodeIndex};
use workspace_host::state;
use workspace_host::{ReadingEngine, ReadingFolder, SecretRules, WorkspacePaths};
use workspace_index::{CurrentIndex, INDEXING_TIME, LazyIndex, OpenIndex, is_kept};

use super::docdex::{self, WebUse};
use crate::commands::codali::options::{CodaliOptions, Peer, SourceOptions};
use crate::commands::index::refresh;
use crate::common_options::CommonOptions;
use crate::exit::Failure;
use crate::views::console::Console;

/// The bytes of text per token, roughly.
const BYTES_PER_TOKEN: usize = 4;

/// The limits of a file list that only serves the feed of changes: it reads no content.
const FEED_LIMITS: fn() -> IndexLimits =
    || IndexLimits { file_bytes: 0, memory_bytes: 64 << 20, ..IndexLimits::default() };

/// The form of responses, and their sources.
pub(super) struct ResponseForm<'a> {
    pub(super) sources: &'a SourceOptions,
    /// The size of the agent's window; `None` if it is unknown.
    pub(super) context_tokens: Option<u64>,
    pub(super) deterministic: bool,
    pub(super) peer: Option<Peer>,
}

impl CodaliOptions {
    pub(super) fn response_form(&self) -> ResponseForm<'_> {
        ResponseForm {
            sources: &self.sources,
            context_tokens: self.conversation.context_tokens,
            deterministic: self.deterministic,
            peer: self.compat,
        }
    }
}

/// The open sources of answers.
pub(super) struct Responding<'a> {
    workspace: PlaceholderWorkspace<LocalWorkspace>,
    rules: SecretRules,
    _outputs: ReadingFolder,
    daemon: Option<RemoteIndex>,
    web: WebUse,
    index: Box<dyn CodeIndex + 'a>,
    cancel: &'a CancelFlag,
    options: AnswerOptions,
    impact_as_paths: bool,
}

impl<'a> Responding<'a> {
    /// Opens the sources for one request. The first need that uses the index opens it and brings it up to date.
    pub(super) fn once(
        common: &'a CommonOptions,
        console: Console,
        form: &ResponseForm<'_>,
        cancel: &'a CancelFlag,
    ) -> Result<Responding<'a>, Failure> {
        docdex::report_idle_web(&form.sources.docdex, console);
        let paths = WorkspacePaths::find(&common.host())?;
        let rules = SecretRules::open(&common.host(), &paths)?;
        let workspace = state::open_apart(&common.host(), &paths, &console.shared())?;
        let index = LazyIndex::new(move |call: &Call<'_>| open_index(common, &paths, console, cancel, call));
        Responding::new(workspace, rules, Box::new(index), form, cancel)
    }

    /// Opens the sources for many requests. An index that exists is kept up to date from now on, and another one from the
    /// first need that uses it.
    pub(super) fn staying(
        common: &'a CommonOptions,
        console: Console,
        form: &ResponseForm<'_>,
        cancel: &'a CancelFlag,
    ) -> Result<Responding<'a>, Failure> {
        docdex::report_idle_web(&form.sources.docdex, console);
        let paths = WorkspacePaths::find(&common.host())?;
        let rules = SecretRules::open(&common.host(), &paths)?;
        let workspace = state::open_apart(&common.host(), &paths, &console.shared())?;
        // Without a file list there is no feed of changes, and the index compares the whole folder.
        let feed = workspace.engine.keep_index(FEED_LIMITS()).ok().map(|feed| feed as Arc<dyn ChangeFeed>);
        let has_index = is_kept(&paths);
        let index = LazyIndex::new(move |_: &Call<'_>| {
            let opened = OpenIndex::open(&common.host(), &paths, &console.shared());
            let opened =
                opened.inspect_err(|failure| console.notice(&format!("agentd: {}", failure.message))).ok()?;
            Some(CurrentIndex::kept_up(opened, feed.clone()))
        });
        // Opened now, an index that exists follows the changes that come before the first request.
        if has_index {
            index.open(&Call { origin: &request_origin(), cancel, time_left: None });
        }
        Responding::new(workspace, rules, Box::new(index), form, cancel)
    }

    fn new(
        workspace: ReadingEngine,
        rules: SecretRules,
        index: Box<dyn CodeIndex + 'a>,
        form: &ResponseForm<'_>,
        cancel: &'a CancelFlag,
    ) -> Result<Responding<'a>, Failure> {
        let daemon = docdex::remote(&form.sources.docdex)?;
        let web = form.sources.docdex.web;
        let impact_as_paths = form.peer == Some(Peer::Codali);
        let options = AnswerOptions {
            budget: budget(form),
            deterministic: form.deterministic,
            ..AnswerOptions::default()
        };
        let (engine, outputs) = workspace.into_parts();
        let workspace = rules.over(engine);
        let _outputs = outputs;
        Ok(Responding { workspace, rules, _outputs, daemon, web, index, cancel, options, impact_as_paths })
    }

    pub(super) fn responder(&self) -> Responder<'_> {
        Responder {
            workspace: &self.workspace,
            secrets: self.rules.secrets.as_ref(),
            withheld: &self.rules.withheld,
            index: &*self.index,
            daemon: self.daemon.as_ref(),
            web: self.web == WebUse::On,
            options: self.options,
            impact_as_paths: self.impact_as_paths,
            command: None,
            cancel: self.cancel,
        }
    }

    /// Answers one request.
    pub(super) fn respond(&self, reading: &Reading) -> Response {
        self.responder().respond(reading)
    }

    /// Answers one request, which may ask for the output of a command.
    pub(super) fn respond_with(&self, reading: &Reading, command: Option<&CommandOutput>) -> Response {
        Responder { command, ..self.responder() }.respond(reading)
    }
}

/// Opens the index and brings it up to date within the time that the call has. Without an index the needs that use it
/// fail, and the others are answered.
fn open_index(
    common: &CommonOptions,
    paths: &WorkspacePaths,
    console: Console,
    cancel: &CancelFlag,
    call: &Call<'_>,
) -> Option<CurrentIndex> {
    let opened = OpenIndex::open(&common.host(), paths, &console.shared());
    let opened =
        opened.inspect_err(|failure| console.notice(&format!("agentd: {}", failure.message))).ok()?;
    let time = call.time_left.map_or(INDEXING_TIME, |left| left.min(INDEXING_TIME));
    // An index that is behind still answers, and says so in its answers.
    if let Err(error) = refresh(&opened.index, console, cancel, Some(time)) {
        console.notice(&format!("agentd: {error}"));
    }
    Some(CurrentIndex::unchanging(opened))
}

/// Returns the limits of a response. In a conversation it may take about a third of the agent's window: the rest is for
/// the messages so far, and some texts have more tokens than their bytes suggest.
fn budget(form: &ResponseForm<'_>) -> Budget {
    let usual = Budget::default();
    let given = form.sources.budget;
    let third = form.context_tokens.map(|tokens| tokens / 3);
    let Some(tokens) = given.map(u64::from).or(third) else { return usual };
    let bytes = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN);
    let bytes = if given.is_some() { bytes } else { bytes.min(usual.response_bytes) };
    Budget { response_bytes: bytes, need_bytes: bytes.min(usual.need_bytes), ..usual }
}
