//! `agentd codali`: requests of an agent in, responses out.

mod answering;
mod conversation;
mod history_file;
mod request_folder;
mod summarizer_command;
mod watch;

use codali_envelope::{Form, GUIDANCE, Response, render_response};

use crate::cli::{Codali, Common};
use crate::commands::parse::reply_text;
use crate::commands::session::cancel_flag;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use answering::{Answering, Read, read};

/// Does what is asked: answers one request, a row of them in a conversation, or those in a folder.
pub(crate) fn codali(common: &Common, console: Console, asked: &Codali) -> Outcome {
    if asked.guide {
        console.result(GUIDANCE);
        return Ok(Exit::Done);
    }
    if let Some(folder) = &asked.watch {
        return watch::watch(common, console, asked, folder);
    }
    if let Some(file) = &asked.conversation.history {
        return conversation::go_on(common, console, asked, file);
    }
    answer(common, console, asked)
}

/// Answers the request in a text and prints the response.
fn answer(common: &Common, console: Console, asked: &Codali) -> Outcome {
    let text = reply_text(&asked.file)?;
    let reading = match read(&text, asked.request_id.as_ref()) {
        Read::Request(reading) => reading,
        Read::Refused { response, why } => {
            // The agent learns why from the response; whoever called it, from the exit code.
            print(console, &response, asked.format);
            console.notice(&format!("agentd: {why}"));
            return Ok(Exit::Usage);
        }
        Read::Nothing => return Err(no_request()),
    };
    let cancel = cancel_flag()?;
    let answering = Answering::once(common, console, asked, &cancel)?;
    print(console, &answering.answer(&reading), asked.format);
    Ok(if cancel.is_cancelled() { Exit::Interrupted } else { Exit::Done })
}

fn no_request() -> Failure {
    Failure::new(Exit::Usage, "there is no request in the text")
        .advise("a request begins with a line AGENT_REQUEST v1; `agentd parse codali` says what is read")
}

/// Prints a response as it is written, or with `--json` as the one value that its JSON form has.
fn print(console: Console, response: &Response, form: Form) {
    if !console.json {
        return console.result(&render_response(response, form));
    }
    let text = render_response(response, Form::JsonBody);
    console.result(text.split_once('\n').map_or(text.as_str(), |(_, body)| body));
}
