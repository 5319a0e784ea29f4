//! `agentd apply`: one reply, executed once.

use serde::Serialize;
use tag_session::{Applied, ApplyOptions, SessionError};
use tagproto::{CommandResult, Reply, Session};

use crate::cli::{self, Common};
use crate::commands::dry_run::dry_run;
use crate::commands::parse::reply_text;
use crate::commands::review::ask;
use crate::commands::session::{
    cancel_flag, nothing_to_resume, parse_id, tell_late_writes, tell_taken_over, tell_unexpected,
};
use crate::commands::trial::Tried;
use crate::console::Console;
use crate::exit::{Exit, Outcome};
use crate::progress::{Progress, end_line, result_lines};
use crate::session_failure::{explain, unwritten};
use crate::state::{self, Places};

#[derive(Serialize)]
struct Report<'a> {
    session: String,
    sequence: u32,
    results: &'a [CommandResult],
    complete: bool,
    done: Option<&'a str>,
    outbox: Option<String>,
}

/// Executes one reply and writes the next outbox.
pub(crate) fn apply(common: &Common, console: Console, apply: &cli::Apply) -> Outcome {
    let text = reply_text(&apply.file)?;
    if text.trim().is_empty() {
        return Err(explain(SessionError::Empty));
    }
    let cancel = cancel_flag()?;
    let places = Places::find(common)?;
    if !places.has_sessions() {
        return Err(nothing_to_resume());
    }
    let sessions = state::open(common, &places, console)?;
    let session = match &apply.session {
        Some(id) => sessions.session(parse_id(id)?).map_err(explain)?,
        None => sessions.newest_unfinished().map_err(explain)?.ok_or_else(nothing_to_resume)?,
    };
    if apply.dry_run {
        return dry_run(common, console, &sessions, &session, &text, apply.again, &cancel);
    }
    if apply.on_trial {
        let tried = Tried { common, console, places: &places, sessions: &sessions, session: &session };
        if !tried.execute(&text, apply, &cancel)? {
            return Ok(Exit::Done);
        }
        // It is on record now: what follows finds everything done and writes the next outbox.
    }
    let id = session.session_id;
    let mut review = |reply: &Reply<'_>| ask(common, console, &sessions, id, reply, &cancel);
    let review: Option<&mut dyn FnMut(&Reply<'_>) -> _> = if apply.review { Some(&mut review) } else { None };
    let options = ApplyOptions { again: apply.again, review, file: None };
    let mut progress = Progress::new(console);
    let applied = sessions
        .apply(session.session_id, &text, common.command_timeout(), options, &cancel, &mut progress)
        .map_err(explain)?;
    let (session, sequence, results, not_written) = match applied {
        Applied::Executed(executed) => {
            tell_taken_over(console, &executed);
            tell_unexpected(console, &executed);
            (executed.session, executed.sequence, executed.results, executed.not_written)
        }
        Applied::AlreadyDone { sequence, results } => {
            console.notice("this reply was executed before; nothing was done");
            (sessions.session(session.session_id).map_err(explain)?, sequence, results, None)
        }
    };
    let outbox = (!session.is_complete)
        .then(|| sessions.folders().outbox_path(&session.outbox_file_name()).display().to_string());
    report(console, &session, sequence, &results, outbox);
    tell_late_writes(console, sessions.workspace());
    match not_written {
        None => Ok(Exit::Done),
        Some(error) => Err(unwritten(&error)),
    }
}

fn report(
    console: Console,
    session: &Session,
    sequence: u32,
    results: &[CommandResult],
    outbox: Option<String>,
) {
    if console.json {
        console.json_result(&Report {
            session: session.session_id.to_string(),
            sequence,
            results,
            complete: session.is_complete,
            done: session.done.as_deref(),
            outbox,
        });
        return;
    }
    for line in results.iter().flat_map(|result| result_lines("", result)) {
        console.result(&line);
    }
    match outbox {
        Some(outbox) => console.result(&format!("next message: {outbox}")),
        None => console.result(&end_line(session.done.as_deref().unwrap_or_default())),
    }
}
