//! Answers requests from a workspace and a code index.

use std::sync::Arc;
use std::time::{Duration, Instant};

use codali_envelope::{
    AnswerOptions, CommandOutput, Reading, Response, Sources, Stopwatch, Warning, WarningCode, WebError,
    WebHit, WebSearch,
};
use docdex_client::{FallbackIndex, RemoteIndex, WebPage};
use secret_placeholders::{PlaceholderIndex, Secrets, Withheld};
use wap_core::{
    Call, CancelFlag, CodeIndex, ConversationId, IndexError, Origin, Retention, RunKey, Workspace,
};

/// The sources and settings for answering requests.
#[derive(Clone, Copy)]
pub struct Responder<'a> {
    /// Files, folders and commands.
    pub workspace: &'a dyn Workspace,
    /// The local code index.
    pub index: &'a dyn CodeIndex,
    /// A docdex daemon, which has precedence over `index`.
    pub daemon: Option<&'a RemoteIndex>,
    /// True if the daemon may search the web; without a daemon the web is not searched.
    pub web: bool,
    /// The secrets to mask in answers; `None` shows them. `workspace` masks its own answers.
    pub secrets: Option<&'a Arc<Secrets>>,
    /// The files to leave out of answers of an index.
    pub withheld: &'a Withheld,
    /// The limits and the form of responses.
    pub options: AnswerOptions,
    /// True to render impact as paths, which the readers of the public implementation expect.
    pub impact_as_paths: bool,
    /// The output of the executed command, for `command.output`.
    pub command: Option<&'a CommandOutput>,
    /// Ends an answer early.
    pub cancel: &'a CancelFlag,
}

impl Responder<'_> {
    /// Answers a request. A warning names each operation that the daemon could not answer and the index answered instead.
    #[must_use]
    pub fn respond(&self, reading: &Reading) -> Response {
        let stopwatch = SinceStart(Instant::now());
        let origin = request_origin();
        let call = Call { origin: &origin, cancel: self.cancel, time_left: None };
        // Create one per request, since it collects the failures that the response reports.
        let both = self.daemon.map(|daemon| FallbackIndex::new(daemon, self.index));
        let index: &dyn CodeIndex = both.as_ref().map_or(self.index, |both| both);
        // A daemon may not know a file by its path, which masking by the text of the file requires.
        let index = PlaceholderIndex::new(index, self.secrets.cloned(), self.withheld.clone())
            .reading_files_of(self.index);
        let web = self.daemon.filter(|_| self.web).map(|daemon| DaemonWeb { daemon, secrets: self.secrets });
        let withholds = |path: &str| self.withheld.may_leave_out(path);
        let sources = Sources {
            workspace: self.workspace,
            index: Some(&index),
            web: web.as_ref().map(|web| web as &dyn WebSearch),
            command: self.command,
            withholds: self.secrets.map(|_| &withholds as &dyn Fn(&str) -> bool),
        };
        let mut response = codali_envelope::answer(reading, &sources, &self.options, &call, &stopwatch);
        let failures = both.iter().flat_map(FallbackIndex::failures);
        response.meta.warnings.extend(failures.map(|(operation, error)| {
            // The daemon received the unmasked values, and an error may repeat them.
            let error = error.to_string();
            let error = self.secrets.map_or(error.as_str().into(), |secrets| secrets.mask(&error));
            daemon_warning(operation, &error)
        }));
        if self.impact_as_paths { response.with_impact_as_paths() } else { response }
    }
}

/// The web search of a docdex daemon.
struct DaemonWeb<'a> {
    daemon: &'a RemoteIndex,
    secrets: Option<&'a Arc<Secrets>>,
}

impl WebSearch for DaemonWeb<'_> {
    fn search(&self, call: &Call<'_>, query: &str, force: bool) -> Result<Vec<WebHit>, WebError> {
        let pages = self.daemon.search_web(call, query, force).map_err(|error| match error {
            IndexError::TimedOut => WebError::TimedOut,
            error => WebError::Failed { cause: error.to_string() },
        })?;
        let mask = |text: String| match self.secrets {
            Some(secrets) => secrets.mask(&text).into_owned(),
            None => text,
        };
        let hit =
            |WebPage { title, url, text }| WebHit { title: mask(title), url: mask(url), snippet: mask(text) };
        Ok(pages.into_iter().map(hit).collect())
    }
}

struct SinceStart(Instant);

impl Stopwatch for SinceStart {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Returns the origin of one request. It is not recorded beyond the process, so its run has a random name.
#[must_use]
pub fn request_origin() -> Origin {
    Origin {
        conversation: ConversationId("codali".to_owned()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    }
}

/// Returns the warning about an operation that the daemon could not answer.
fn daemon_warning(operation: &str, error: &str) -> Warning {
    let code = match operation {
        "search" => WarningCode::DocdexSearchFailed,
        "snippet" => WarningCode::DocdexSnippetFailed,
        "symbols" => WarningCode::DocdexSymbolsFailed,
        "ast" => WarningCode::DocdexAstFailed,
        "impact" => WarningCode::DocdexImpactFailed,
        _ => WarningCode::DocdexImpactDiagnosticsFailed,
    };
    Warning::with(code, format!("the docdex daemon gave no answer ({error}), the local index was asked"))
}
