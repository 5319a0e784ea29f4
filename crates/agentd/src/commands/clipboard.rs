//! `agentd copy` and `agentd paste`: the pending message out, its reply in.

use std::io::IsTerminal;
use std::path::Path;

use clap::Args;
use tag_session::{REPLY_LIMIT_BYTES, SessionError};
use tagproto::Clipped;
use workspace_host::session_failure::explain;

use crate::commands::apply::{ExecutionOptions, chosen, execute_text, open_sessions};
use crate::commands::parse::reply_text;
use crate::commands::sessions::{one_part, pending_message};
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::clipboard::{self, NO_CLIPBOARD};
use crate::views::console::Console;

#[derive(Debug, Args)]
pub(crate) struct CopyOptions {
    /// The session's id [default: the newest unfinished one].
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Copy it for a new chat: with all rules, the whole list of files and the task.
    #[arg(long)]
    pub full: bool,
    /// Copy one of the parts of a message that is too long for one paste, from 1.
    #[arg(long, value_name = "N")]
    pub part: Option<usize>,
}

/// Puts the pending message on the clipboard.
pub(crate) fn copy(common: &CommonOptions, console: Console, options: &CopyOptions) -> Outcome {
    let (session, text) = pending_message(common, console, options.session.as_deref(), options.full)?;
    let parts = session.outbox_parts(&text);
    let count = parts.len();
    let text = match options.part {
        None => text,
        Some(number) => one_part(text, parts, number)?,
    };
    let Some(way) = clipboard::copy(&common.own_programs(), &text) else {
        return Err(Failure::new(Exit::Missing, format!("the clipboard cannot be used: {NO_CLIPBOARD}"))
            .advise("`agentd outbox` prints the message"));
    };
    let (number, id) = (session.sequence_number, session.session_id);
    let characters = text.chars().count();
    let part = options.part.map(|part| format!("part {part} of ")).unwrap_or_default();
    console.progress(&format!(
        "{part}message {number} of session {id}, {characters} characters, is on the clipboard ({way})"
    ));
    if options.part.is_none() && count > 0 {
        console.notice(&format!(
            "the message is too long for one paste: `agentd copy --part 1` to `--part {count}` copy its parts"
        ));
    }
    Ok(Exit::Done)
}

/// Executes the reply on standard input or, at a terminal, on the clipboard.
pub(crate) fn paste(common: &CommonOptions, console: Console, options: &ExecutionOptions) -> Outcome {
    let is_typed = std::io::stdin().is_terminal();
    let text = if is_typed { None } else { Some(reply_text(Path::new("-"))?) };
    if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
        return Err(explain(SessionError::Empty));
    }
    let sessions = open_sessions(common, console)?;
    let session = chosen(&sessions, options)?;
    let text = match text {
        Some(text) => text,
        None => {
            let text = clipboard::paste(&common.own_programs(), REPLY_LIMIT_BYTES).ok_or_else(no_text)?;
            // A text that was copied for another purpose, a password for instance, goes nowhere.
            if session.clipped(&text) == Clipped::Other {
                let (number, id) = (session.sequence_number, session.session_id);
                let what =
                    format!("the text on the clipboard is not a reply to message {number} of session {id}");
                return Err(Failure::new(Exit::Usage, what)
                    .advise("copy the whole reply of the model, or name the session with --session ID"));
            }
            text
        }
    };
    execute_text(common, console, (&sessions, &session), text, options)
}

fn no_text() -> Failure {
    let what = "there is no text on the clipboard, too much, or no clipboard can be reached";
    Failure::new(Exit::Missing, what)
        .advise("`agentd paste < FILE` and `agentd apply FILE` read the reply from a file")
}
