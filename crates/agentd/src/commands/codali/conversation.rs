//! `agentd codali --history`: a conversation with an agent that keeps no history.

use std::path::Path;
use std::time::Duration;

use codali_envelope::history::{ContextWindow, History, O200k, Prompt, Summarizer};
use codali_envelope::render_response;
use codali_session::{
    Conversation, HistoryFile, HistoryFileError, Incoming, NoSummarizer, SummarizerCommand, Turn,
    read_request,
};
use serde::Serialize;
use workspace_host::{SecretRules, WorkspacePaths};

use super::responding::Responding;
use crate::commands::codali::options::CodaliOptions;
use crate::commands::parse::reply_text;
use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// The time that one summary may take unless `--timeout` says otherwise: a model writes it.
const SUMMARY_TIME: Duration = Duration::from_secs(120);

/// The next prompt, for programs that have roles for speakers.
#[derive(Serialize)]
struct PromptLine<'a> {
    system: &'a str,
    messages: &'a History,
    tokens: u64,
    fits: bool,
    warnings: Vec<String>,
}

/// Adds the words of the user or the agent, answers a request, and prints the next prompt.
pub(super) fn continue_conversation(
    common: &CommonOptions,
    console: Console,
    options: &CodaliOptions,
    file: &Path,
) -> Outcome {
    let window = window(options)?;
    let cancel = cancel_flag()?;
    let file = HistoryFile::read(file).map_err(failure)?;
    let system = options.conversation.system.as_deref().map(reply_text).transpose()?.unwrap_or_default();
    let mut conversation = Conversation { file, window, counter: &O200k, system: &system, cancel: &cancel };

    let notice = |line: &str| console.notice(&format!("agentd: {line}"));
    let timeout = common.timeout.unwrap_or(SUMMARY_TIME);
    let command = options.conversation.summarizer.as_deref();
    let mut command =
        command.map(|command| SummarizerCommand { command, timeout, cancel: &cancel, notice: &notice });
    let mut none = NoSummarizer;
    let summarizer: &mut dyn Summarizer = match &mut command {
        Some(command) => command,
        None => &mut none,
    };

    let turn = if let Some(task) = &options.conversation.task {
        let rules = SecretRules::open(&common.host(), &WorkspacePaths::find(&common.host())?)?;
        conversation.add_task(&rules.mask_rest(task), summarizer)
    } else {
        let reply = reply_text(&options.file)?;
        let response = match read_request(&reply, options.request_id.as_ref()) {
            Incoming::Request(reading) => {
                Responding::once(common, console, &options.response_form(), &cancel)?.respond(&reading)
            }
            // The agent learns the reason from the response, and can ask again.
            Incoming::Refused { response, error } => {
                notice(&error.to_string());
                response
            }
            Incoming::Nothing => {
                // The exit code ends the loop of the calling script; the reply is kept all the same.
                conversation.add_final_reply(&reply).map_err(failure)?;
                console.progress("the agent asks for nothing more");
                return Ok(Exit::Usage);
            }
        };
        conversation.add_response(&reply, render_response(&response, options.format), summarizer)
    };
    match turn.map_err(failure)? {
        Turn::Cancelled => Ok(Exit::Interrupted),
        Turn::Next(prompt) => {
            print(console, &conversation, &prompt);
            Ok(Exit::Done)
        }
    }
}

/// Returns the agent's window, whose size a conversation needs.
fn window(options: &CodaliOptions) -> Result<ContextWindow, Failure> {
    let missing = || {
        Failure::new(Exit::Usage, "the size of the agent's window is missing")
            .advise("say how many tokens it has with --context-tokens N")
    };
    Ok(ContextWindow::of(options.conversation.context_tokens.ok_or_else(missing)?))
}

fn failure(error: HistoryFileError) -> Failure {
    let exit = if matches!(error, HistoryFileError::Damaged { .. }) { Exit::Usage } else { Exit::Failed };
    let failure = Failure::new(exit, error.to_string());
    match error.advice() {
        Some(advice) => failure.advise(advice),
        None => failure,
    }
}

fn print(console: Console, conversation: &Conversation<'_>, prompt: &Prompt) {
    for warning in &prompt.warnings {
        console.notice(&format!("agentd: {warning}"));
    }
    if !prompt.fits {
        console.notice(&format!(
            "agentd: this does not fit: {} tokens, of a window of {}",
            prompt.tokens, conversation.window.limit_tokens
        ));
    }
    if !console.json {
        return console.result(&prompt.text);
    }
    console.json_result(&PromptLine {
        system: conversation.system,
        messages: conversation.history(),
        tokens: prompt.tokens,
        fits: prompt.fits,
        warnings: prompt.warnings.iter().map(ToString::to_string).collect(),
    });
}
