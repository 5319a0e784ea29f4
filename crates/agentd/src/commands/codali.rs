//! `agentd codali`: requests of an agent in, responses out.

mod conversation;
mod critic;
mod docdex;
mod named_paths;
pub(crate) mod options;
mod responding;
pub(crate) mod run;
mod watch;

use codali_envelope::{Form, GUIDANCE, ReadErrorKind, Response, render_response};
use codali_session::{Incoming, read_request};

use crate::commands::codali::options::{CodaliCommand, CodaliOptions};
use crate::commands::parse::reply_text;
use crate::commands::session::cancel_flag;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use responding::Responding;

/// Answers one request, one step of a conversation, or the requests in a folder; or runs or judges a whole flow.
pub(crate) fn codali(common: &CommonOptions, console: Console, options: &CodaliOptions) -> Outcome {
    match &options.command {
        Some(CodaliCommand::Run(options)) => return run::run(common, console, options),
        Some(CodaliCommand::Critic(options)) => return critic::critic(common, console, options),
        None => {}
    }
    if options.guide {
        console.result(GUIDANCE);
        return Ok(Exit::Done);
    }
    if let Some(folder) = &options.watch {
        return watch::watch(common, console, options, folder);
    }
    if let Some(file) = &options.conversation.history {
        return conversation::continue_conversation(common, console, options, file);
    }
    respond(common, console, options)
}

/// Answers the request in a text and prints the response.
fn respond(common: &CommonOptions, console: Console, options: &CodaliOptions) -> Outcome {
    let text = reply_text(&options.file)?;
    let reading = match read_request(&text, options.request_id.as_ref()) {
        Incoming::Request(reading) => reading,
        Incoming::Refused { response, error } => {
            // The agent learns the reason from the response, and the calling program from the exit code.
            print(console, &response, options.format);
            console.notice(&format!("agentd: {error}"));
            if error.kind == ReadErrorKind::MissingRequestId {
                console.notice(
                    "  a line `request_id: NAME` in the request names it, and so does --request-id NAME",
                );
            }
            return Ok(Exit::Usage);
        }
        Incoming::Nothing => return Err(no_request()),
    };
    let cancel = cancel_flag()?;
    let responding = Responding::once(common, console, &options.response_form(), &cancel)?;
    print(console, &responding.respond(&reading), options.format);
    Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done })
}

fn no_request() -> Failure {
    Failure::new(Exit::Usage, "there is no request in the text")
        .advise("a request begins with a line AGENT_REQUEST v1; `agentd parse codali` says what is read")
}

/// Prints a response in its form, or with `--json` as the one value of its JSON form.
fn print(console: Console, response: &Response, form: Form) {
    if !console.json {
        return console.result(&render_response(response, form));
    }
    let text = render_response(response, Form::JsonBody);
    console.result(text.split_once('\n').map_or(text.as_str(), |(_, body)| body));
}
