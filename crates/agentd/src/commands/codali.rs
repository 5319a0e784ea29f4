//! `agentd codali`: one request of an agent in, one response out.

use std::time::{Duration, Instant};

use codali_envelope::{
    AnswerOptions, Budget, Form, ReadErrorKind, ReadOptions, Response, Sources, Stopwatch, extract_request,
    refuse, render_response,
};
use code_index::FallbackIndex;
use wap_core::{Call, CancelFlag, CodeIndex, ConversationId, Origin, Retention, RunKey};

use crate::cli::{Codali, Common};
use crate::code_index_access::{self, OpenIndex};
use crate::commands::parse::reply_text;
use crate::commands::session::cancel_flag;
use crate::console::Console;
use crate::exit::{Exit, Failure, Outcome};
use crate::remote_code_index::{self, LazyIndex};
use crate::state::{self, Places};

/// How long the index may be brought up to date before what it has so far is answered from.
const INDEXING_TIME: Duration = Duration::from_secs(20);

/// About how many bytes of text a token is.
const BYTES_PER_TOKEN: usize = 4;

struct SinceStart(Instant);

impl Stopwatch for SinceStart {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Answers the request in a text and prints the response.
pub(crate) fn answer(common: &Common, console: Console, asked: &Codali) -> Outcome {
    let stopwatch = SinceStart(Instant::now());
    let text = reply_text(&asked.file)?;
    let reading = match extract_request(&text, &ReadOptions::default()) {
        Ok(reading) => reading,
        Err(error) => {
            let Some(response) = refuse(&error) else {
                return Err(Failure::new(Exit::Usage, "there is no request in the text").advise(
                    "a request begins with a line AGENT_REQUEST v1; `agentd parse codali` says what is read",
                ));
            };
            // The agent learns why from the response; whoever called it, from the exit code.
            print(console, &response, asked.format);
            console.notice(&format!("agentd: {error}"));
            let is_answered = matches!(error.kind, ReadErrorKind::NoValidNeed { .. });
            return Ok(if is_answered { Exit::Done } else { Exit::Usage });
        }
    };
    let cancel = cancel_flag()?;
    let places = Places::find(common)?;
    let opened = state::open_apart(common, &places, console)?;
    let origin = Origin {
        conversation: ConversationId("codali".to_owned()),
        run: RunKey::unnumbered(uuid::Uuid::new_v4().to_string()),
        step: 0,
        retention: Retention::Process,
    };
    let call = Call { origin: &origin, cancel: &cancel, time_left: None };
    let remote = remote_code_index::remote(&asked.docdex)?;
    let local = LazyIndex::new(|| open_index(common, &places, console, &cancel));
    let both = remote.as_ref().map(|remote| FallbackIndex::new(remote, &local));
    let index: &dyn CodeIndex = both.as_ref().map_or(&local, |both| both);
    let sources = Sources { workspace: &opened.engine, index: Some(index), web: None };
    let options = AnswerOptions {
        budget: budget(asked.budget),
        deterministic: asked.deterministic,
        ..AnswerOptions::default()
    };
    let mut response = codali_envelope::answer(&reading, &sources, &options, &call, &stopwatch);
    let failures = both.iter().flat_map(FallbackIndex::failures);
    response
        .meta
        .warnings
        .extend(failures.map(|(operation, error)| remote_code_index::warning(operation, &error)));
    print(console, &response, asked.format);
    Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done })
}

/// Opens the index and brings it up to date, as far as there is time. Without one the needs that ask it fail, and the
/// others are answered.
fn open_index(common: &Common, places: &Places, console: Console, cancel: &CancelFlag) -> Option<OpenIndex> {
    let opened = code_index_access::open(common, places, console);
    let opened =
        opened.inspect_err(|failure| console.notice(&format!("agentd: {}", failure.message))).ok()?;
    if let Err(error) = code_index_access::refresh(&opened.index, console, cancel, Some(INDEXING_TIME)) {
        console.notice(&format!("agentd: {error}"));
    }
    Some(opened)
}

fn budget(tokens: Option<u32>) -> Budget {
    let usual = Budget::default();
    let Some(tokens) = tokens else { return usual };
    let bytes = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_TOKEN);
    Budget { response_bytes: bytes, need_bytes: bytes.min(usual.need_bytes), ..usual }
}

/// Prints a response as it is written, or with `--json` as the one value that its JSON form has.
fn print(console: Console, response: &Response, form: Form) {
    if !console.json {
        return console.result(&render_response(response, form));
    }
    let text = render_response(response, Form::JsonBody);
    console.result(text.split_once('\n').map_or(text.as_str(), |(_, body)| body));
}
