//! A conversation with an agent that keeps nothing: all that was said is sent each time.

use std::path::Path;
use std::time::Duration;

use codali_envelope::history::{ContextWindow, History, O200k, Prompt, Speaker, Summarizer};
use codali_envelope::{Response, render_response};
use serde::Serialize;
use wap_core::CancelFlag;

use super::answering::{Answering, Read, read};
use crate::cli::{Codali, Common};
use crate::commands::codali::history_file::HistoryFile;
use crate::commands::codali::summarizer_command::{NoSummarizer, SummarizerCommand};
use crate::commands::parse::reply_text;
use crate::commands::session::cancel_flag;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// How long one summary may take unless the user says something else: it is an agent's work.
const SUMMARY_TIME: Duration = Duration::from_secs(120);

/// What is sent next, for programs that have roles for speakers.
#[derive(Serialize)]
struct Sent<'a> {
    system: &'a str,
    messages: &'a History,
    tokens: u64,
    fits: bool,
    warnings: Vec<String>,
}

/// Takes in what the user or the agent has said, answers it, and prints all that the agent is sent next.
pub(super) fn go_on(common: &Common, console: Console, asked: &Codali, file: &Path) -> Outcome {
    let window = window(asked)?;
    let cancel = cancel_flag()?;
    let mut kept = HistoryFile::read(file)?;
    let system = asked.conversation.system.as_deref().map(reply_text).transpose()?.unwrap_or_default();
    if let Some(task) = &asked.conversation.task {
        kept.history.push(Speaker::User, task.as_str());
        return send(common, console, asked, &window, &mut kept, &system, &cancel);
    }
    let reply = reply_text(&asked.file)?;
    kept.history.push(Speaker::Agent, reply.as_str());
    let response: Response = match read(&reply, asked.request_id.as_ref()) {
        Read::Request(reading) => Answering::once(common, console, asked, &cancel)?.answer(&reading),
        // The agent can ask again, and does it better.
        Read::Refused { response, why, .. } => {
            console.notice(&format!("agentd: {why}"));
            response
        }
        Read::Nothing => {
            // These were its last words, until somebody says something else.
            kept.write()?;
            console.progress("the agent asks for nothing more");
            return Ok(Exit::Usage);
        }
    };
    if cancel.is_cancelled() {
        return Ok(Exit::Interrupted);
    }
    kept.history.push(Speaker::Codali, render_response(&response, asked.format));
    send(common, console, asked, &window, &mut kept, &system, &cancel)
}

/// The agent's window, of which a conversation has to know.
fn window(asked: &Codali) -> Result<ContextWindow, Failure> {
    let missing = || {
        Failure::new(Exit::Usage, "the size of the agent's window is missing")
            .advise("say how many tokens it has with --context-tokens N")
    };
    Ok(ContextWindow::of(asked.conversation.context_tokens.ok_or_else(missing)?))
}

/// Makes everything fit, keeps it, and prints it.
fn send(
    common: &Common,
    console: Console,
    asked: &Codali,
    window: &ContextWindow,
    kept: &mut HistoryFile,
    system: &str,
    cancel: &CancelFlag,
) -> Outcome {
    let options = &asked.conversation;
    let timeout = common.timeout.unwrap_or(SUMMARY_TIME);
    let mut none = NoSummarizer;
    let mut command =
        options.summarizer.as_ref().map(|command| SummarizerCommand::new(command, timeout, cancel, console));
    let summarizer: &mut dyn Summarizer = match &mut command {
        Some(command) => command,
        None => &mut none,
    };
    let prompt = kept.history.prompt(system, window, &O200k, summarizer);
    if cancel.is_cancelled() {
        return Ok(Exit::Interrupted);
    }
    // Kept first: what the agent answers then has something to stand behind.
    kept.write()?;
    for warning in &prompt.warnings {
        console.notice(&format!("agentd: {warning}"));
    }
    if !prompt.fits {
        console.notice(&format!(
            "agentd: this does not fit: {} tokens, of a window of {}",
            prompt.tokens, window.limit_tokens
        ));
    }
    print(console, &kept.history, system, &prompt);
    Ok(Exit::Done)
}

fn print(console: Console, history: &History, system: &str, prompt: &Prompt) {
    if !console.json {
        return console.result(&prompt.text);
    }
    console.json_result(&Sent {
        system,
        messages: history,
        tokens: prompt.tokens,
        fits: prompt.fits,
        warnings: prompt.warnings.iter().map(ToString::to_string).collect(),
    });
}
