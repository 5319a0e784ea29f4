//! The index of a docdex daemon, over HTTP.

mod fallback;
mod request_thread;
mod web;
mod wire;

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::StatusCode;
use wap_core::{
    Call, CodeIndex, DiagnoseImpact, DiagnoseImpactResponse, IndexError, ListSymbols, ListSymbolsResponse,
    ReadAst, ReadAstResponse, ReadImpact, ReadImpactResponse, ReadSnippet, ReadSnippetResponse, SearchCode,
    SearchCodeResponse,
};

pub use fallback::FallbackIndex;
pub use web::WebPage;

use request_thread::RequestThreads;

/// The longest answer in bytes; a longer one is refused.
const ANSWER_BYTES: u64 = 16 << 20;

/// The number of pages requested from a daemon.
const WEB_PAGES: u32 = 8;

/// The time limit of a web search whose call has none.
pub const WEB_TIMEOUT: Duration = Duration::from_secs(30);

/// The address of a docdex daemon, and the parameters of requests to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteConfig {
    /// The address, such as `http://127.0.0.1:28491`. Only `http` is supported.
    pub url: String,
    /// The repository's name at the daemon, sent as `x-docdex-repo-id`.
    pub repo_id: Option<String>,
    /// Sent as a bearer token and as `x-api-key`.
    pub token: Option<String>,
    /// The time limit of one call.
    pub timeout: Duration,
}

/// The default address of a daemon.
impl Default for RemoteConfig {
    fn default() -> RemoteConfig {
        RemoteConfig {
            url: "http://127.0.0.1:28491".to_owned(),
            repo_id: None,
            token: None,
            timeout: Duration::from_secs(5),
        }
    }
}

/// The index of a docdex daemon as a [`CodeIndex`].
///
/// It keeps no state: every call is one HTTP request with a timeout, without redirects or a proxy. A cancelled call returns
/// immediately, and its request ends by itself, at its timeout at the latest. Answers are untrusted: bounded, and refused if they
/// are malformed or have a path that leads out of the workspace.
#[derive(Debug)]
pub struct RemoteIndex {
    agent: Agent,
    config: RemoteConfig,
    threads: RequestThreads,
}

impl RemoteIndex {
    /// Creates the index of a daemon. Nothing is sent yet.
    #[must_use]
    pub fn new(config: RemoteConfig) -> RemoteIndex {
        // A redirect or a proxy would send the token to a host other than the configured one.
        let agent = Agent::config_builder().max_redirects(0).http_status_as_error(false).proxy(None).build();
        let url = config.url.trim_end_matches('/').to_owned();
        let config = RemoteConfig { url, ..config };
        RemoteIndex { agent: agent.into(), config, threads: RequestThreads::default() }
    }

    /// Checks that the daemon answers.
    ///
    /// # Errors
    ///
    /// [`IndexError::Unreachable`], [`IndexError::TimedOut`], and [`IndexError::Unavailable`] if the address has no such daemon.
    pub fn check(&self, call: &Call<'_>) -> Result<(), IndexError> {
        self.send(call, "/healthz", &[])?.map(drop).ok_or(IndexError::Unavailable)
    }

    /// Lets the daemon search the web. Without `force`, the daemon only does so if the repository has no good answer.
    ///
    /// Pages take longer than an index, so the only time limit is that of the call, or [`WEB_TIMEOUT`].
    ///
    /// # Errors
    ///
    /// [`IndexError::Unreachable`], [`IndexError::Unavailable`] if the address has no such daemon, [`IndexError::TimedOut`], and
    /// [`IndexError::Failed`] if the daemon does not search the web, or if its answer is malformed.
    pub fn search_web(&self, call: &Call<'_>, query: &str, force: bool) -> Result<Vec<WebPage>, IndexError> {
        let parameters = [
            ("q", query.to_owned()),
            ("limit", WEB_PAGES.to_string()),
            ("web_limit", WEB_PAGES.to_string()),
            ("force_web", force.to_string()),
        ];
        let timeout = call.time_left.unwrap_or(WEB_TIMEOUT);
        let text = self.send_within(call, "/search", &parameters, timeout)?.ok_or(IndexError::Unavailable)?;
        web::pages(&wire::parsed(&text)?)
    }

    /// Sends a request and returns the answer's text; `None` for status 404.
    fn send(
        &self,
        call: &Call<'_>,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<Option<String>, IndexError> {
        let timeout = call.time_left.map_or(self.config.timeout, |left| left.min(self.config.timeout));
        self.send_within(call, path, query, timeout)
    }

    fn send_within(
        &self,
        call: &Call<'_>,
        path: &str,
        query: &[(&str, String)],
        timeout: Duration,
    ) -> Result<Option<String>, IndexError> {
        if call.cancel.is_cancelled() {
            return Err(IndexError::Cancelled);
        }
        if timeout.is_zero() {
            return Err(IndexError::TimedOut);
        }
        let mut request = self.agent.get(format!("{}{path}", self.config.url));
        for (name, value) in query {
            request = request.query(name, value);
        }
        if let Some(repo_id) = &self.config.repo_id {
            request = request.header("x-docdex-repo-id", repo_id);
        }
        if let Some(token) = &self.config.token {
            request = request.header("authorization", format!("Bearer {token}")).header("x-api-key", token);
        }
        // The timeout is global: with one for each read, a daemon that sends byte by byte could hold the call forever.
        let request = request.config().timeout_global(Some(timeout)).build();
        let (status, body) = self.threads.run(call.cancel, move || {
            let mut response = request.call().map_err(|error| connection_failure(&error))?;
            let body = response.body_mut().with_config().limit(ANSWER_BYTES).read_to_vec();
            Ok((response.status(), body.map_err(|error| connection_failure(&error))?))
        })?;
        match status {
            StatusCode::OK => String::from_utf8(body).map(Some).map_err(|_| wire::unreadable()),
            StatusCode::NOT_FOUND => Ok(None),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(IndexError::Failed { cause: "the docdex daemon refuses the token".to_owned() })
            }
            other => Err(IndexError::Failed {
                cause: format!("the docdex daemon answered with status {}", other.as_u16()),
            }),
        }
    }

    fn ask(
        &self,
        call: &Call<'_>,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<Option<Value>, IndexError> {
        let Some(text) = self.send(call, path, query)? else { return Ok(None) };
        wire::parsed(&text).map(Some)
    }
}

/// Classifies a failed connection. The error's text may contain addresses, so it is dropped.
fn connection_failure(error: &ureq::Error) -> IndexError {
    match error {
        ureq::Error::Timeout(_) => IndexError::TimedOut,
        ureq::Error::BodyExceedsLimit(_) => wire::too_long(),
        _ => IndexError::Unreachable,
    }
}

impl CodeIndex for RemoteIndex {
    fn search(&self, call: &Call<'_>, request: &SearchCode) -> Result<SearchCodeResponse, IndexError> {
        let query = [
            ("q", request.query.clone()),
            ("limit", request.limit.to_string()),
            ("snippets", "true".to_owned()),
        ];
        let answer = self.ask(call, "/search", &query)?.ok_or(IndexError::Unavailable)?;
        wire::search(&answer, request.limit)
    }

    fn snippet(&self, call: &Call<'_>, request: &ReadSnippet) -> Result<ReadSnippetResponse, IndexError> {
        let unknown = || IndexError::UnknownDocument { doc_id: request.doc_id.clone() };
        let path = format!("/snippet/{}", wire::path_segment(&request.doc_id));
        let query = [("window", request.window_lines.to_string()), ("text_only", "true".to_owned())];
        let answer = self.ask(call, &path, &query)?.ok_or_else(unknown)?;
        wire::snippet(&answer)?.ok_or_else(unknown)
    }

    fn symbols(&self, call: &Call<'_>, request: &ListSymbols) -> Result<ListSymbolsResponse, IndexError> {
        let answer = self.ask(call, "/v1/symbols", &[("path", request.file.clone())])?;
        wire::symbols(&answer.ok_or_else(|| IndexError::UnknownFile { file: request.file.clone() })?)
    }

    fn ast(&self, call: &Call<'_>, request: &ReadAst) -> Result<ReadAstResponse, IndexError> {
        let query = [("path", request.file.clone()), ("maxNodes", request.max_nodes.to_string())];
        let answer = self.ask(call, "/v1/ast", &query)?;
        wire::ast(
            &answer.ok_or_else(|| IndexError::UnknownFile { file: request.file.clone() })?,
            request.max_nodes,
        )
    }

    fn impact(&self, call: &Call<'_>, request: &ReadImpact) -> Result<ReadImpactResponse, IndexError> {
        let query = [("file", request.file.clone()), ("maxDepth", request.max_depth.to_string())];
        let answer = self.ask(call, "/v1/graph/impact", &query)?;
        wire::impact(
            &answer.ok_or_else(|| IndexError::UnknownFile { file: request.file.clone() })?,
            &request.file,
        )
    }

    fn impact_diagnostics(
        &self,
        call: &Call<'_>,
        request: &DiagnoseImpact,
    ) -> Result<DiagnoseImpactResponse, IndexError> {
        let mut query = vec![("limit", request.limit.to_string()), ("offset", request.offset.to_string())];
        query.extend(request.file.iter().map(|file| ("file", file.clone())));
        let answer =
            self.ask(call, "/v1/graph/impact/diagnostics", &query)?.ok_or(IndexError::Unavailable)?;
        wire::diagnostics(&answer, request)
    }
}
