//! Answering one request, or one after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use codali_envelope::{
    AnswerOptions, Budget, Meta, ReadError, ReadOptions, Reading, RequestId, Response, Sources, Stopwatch,
    Warning, extract_request, refuse,
};
use docdex_client::{FallbackIndex, RemoteIndex};
use file_index::ChangeFeed;
use local_workspace::IndexLimits;
use wap_core::{Call, CancelFlag, CodeIndex, ConversationId, Origin, Retention, RunKey};

use crate::cli::{Codali, Common, Peer};
use crate::code_index_access::{self, AskedIndex, INDEXING_TIME};
use crate::exit::Failure;
use crate::remote_code_index::{self, LazyIndex};
use crate::views::console::Console;
use workspace_host::state;
use workspace_host::{Places, ReadingEngine};

/// About how many bytes of text a token is.
const BYTES_PER_TOKEN: usize = 4;

/// What the list of files may cost where only its feed of changes is wanted: no content is read for it.
const FEED_LIMITS: fn() -> IndexLimits =
    || IndexLimits { file_bytes: 0, memory_bytes: 64 << 20, ..IndexLimits::default() };

/// What is found in a text.
pub(super) enum Read {
    /// A request, perhaps with needs that cannot be answered.
    Request(Reading),
    /// One that is refused as a whole.
    Refused {
        /// What the agent is told.
        response: Response,
        /// What the caller is told.
        why: ReadError,
    },
    Nothing,
}

/// Finds the request in a text; one without a name has the one that is given.
pub(super) fn read(text: &str, request_id: Option<&RequestId>) -> Read {
    let options = ReadOptions { default_request_id: request_id.cloned(), ..ReadOptions::default() };
    match extract_request(text, &options) {
        Ok(reading) => Read::Request(reading),
        Err(why) => match refuse(&why) {
            Some(response) => Read::Refused { response, why },
            None => Read::Nothing,
        },
    }
}

/// A response that has nothing but a warning, to somebody whose request has no name that can be told.
pub(super) fn nothing_but(warning: Warning) -> Response {
    Response {
        request_id: "invalid".parse().expect("it is short and printable"),
        results: Vec::new(),
        meta: Meta { warnings: vec![warning], ..Meta::default() },
        extra: Default::default(),
    }
}

/// What answers requests.
pub(super) struct Answering<'a> {
    workspace: ReadingEngine,
    remote: Option<RemoteIndex>,
    local: Box<dyn CodeIndex + 'a>,
    cancel: &'a CancelFlag,
    options: AnswerOptions,
    compat: Option<Peer>,
}

impl<'a> Answering<'a> {
    /// For one request. The index is opened and brought up to date when a need asks it.
    pub(super) fn once(
        common: &'a Common,
        console: Console,
        asked: &Codali,
        cancel: &'a CancelFlag,
    ) -> Result<Answering<'a>, Failure> {
        let places = Places::find(&common.host())?;
        let workspace = state::open_apart(&common.host(), &places, &console.shared())?;
        let local = LazyIndex::new(move |call: &Call<'_>| open_index(common, &places, console, cancel, call));
        Answering::new(workspace, Box::new(local), asked, cancel)
    }

    /// For all that come. The index is kept up to date from the first need on that asks it, and from now on if there is one.
    pub(super) fn staying(
        common: &'a Common,
        console: Console,
        asked: &Codali,
        cancel: &'a CancelFlag,
    ) -> Result<Answering<'a>, Failure> {
        let places = Places::find(&common.host())?;
        let workspace = state::open_apart(&common.host(), &places, &console.shared())?;
        // Without a list of files nothing is told of changes, and the index finds them by looking.
        let feed = workspace.engine.keep_index(FEED_LIMITS()).ok().map(|feed| feed as Arc<dyn ChangeFeed>);
        let is_kept = code_index_access::is_kept(&places);
        let local = LazyIndex::new(move |_: &Call<'_>| {
            let opened = code_index_access::open(common, &places, console);
            let opened =
                opened.inspect_err(|failure| console.notice(&format!("agentd: {}", failure.message))).ok()?;
            Some(AskedIndex::kept_up(opened, feed.clone()))
        });
        if is_kept {
            local.open(&Call { origin: &origin(), cancel, time_left: None });
        }
        Answering::new(workspace, Box::new(local), asked, cancel)
    }

    fn new(
        workspace: ReadingEngine,
        local: Box<dyn CodeIndex + 'a>,
        asked: &Codali,
        cancel: &'a CancelFlag,
    ) -> Result<Answering<'a>, Failure> {
        let remote = remote_code_index::remote(&asked.docdex)?;
        let options = AnswerOptions {
            budget: budget(asked),
            deterministic: asked.deterministic,
            ..AnswerOptions::default()
        };
        Ok(Answering { workspace, remote, local, cancel, options, compat: asked.compat })
    }

    /// Answers a request.
    pub(super) fn answer(&self, reading: &Reading) -> Response {
        let stopwatch = SinceStart(Instant::now());
        let origin = origin();
        let call = Call { origin: &origin, cancel: self.cancel, time_left: None };
        let both = self.remote.as_ref().map(|remote| FallbackIndex::new(remote, &*self.local));
        let index: &dyn CodeIndex = both.as_ref().map_or(&*self.local, |both| both);
        let sources = Sources { workspace: &self.workspace.engine, index: Some(index), web: None };
        let mut response = codali_envelope::answer(reading, &sources, &self.options, &call, &stopwatch);
        let failures = both.iter().flat_map(FallbackIndex::failures);
        response
            .meta
            .warnings
            .extend(failures.map(|(operation, error)| remote_code_index::warning(operation, &error)));
        match self.compat {
            None => response,
            Some(Peer::Codali) => response.with_impact_as_paths(),
        }
    }
}

struct SinceStart(Instant);

impl Stopwatch for SinceStart {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Opens the index and brings it up to date, as far as there is time. Without one the needs that ask it fail, and the
/// others are answered.
fn open_index(
    common: &Common,
    places: &Places,
    console: Console,
    cancel: &CancelFlag,
    call: &Call<'_>,
) -> Option<AskedIndex> {
    let opened = code_index_access::open(common, places, console);
    let opened =
        opened.inspect_err(|failure| console.notice(&format!("agentd: {}", failure.message))).ok()?;
    let time = call.time_left.map_or(INDEXING_TIME, |left| left.min(INDEXING_TIME));
    if let Err(error) = code_index_access::refresh(&opened.index, console, cancel, Some(time)) {
        console.notice(&format!("agentd: {error}"));
    }
    Some(AskedIndex::settled(opened))
}

fn origin() -> Origin {
    Origin {
        conversation: ConversationId("codali".to_owned()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    }
}

/// How much a response may cost. In a conversation it may take about a third of the agent's window: the rest is for what was
/// said, and some texts have more tokens than their bytes tell.
fn budget(asked: &Codali) -> Budget {
    let usual = Budget::default();
    let third = asked.conversation.context_tokens.map(|tokens| tokens / 3);
    let Some(tokens) = asked.budget.map(u64::from).or(third) else { return usual };
    let bytes = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN);
    let bytes = if asked.budget.is_some() { bytes } else { bytes.min(usual.response_bytes) };
    Budget { response_bytes: bytes, need_bytes: bytes.min(usual.need_bytes), ..usual }
}
