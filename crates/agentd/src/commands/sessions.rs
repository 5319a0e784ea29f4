//! `agentd sessions`, `show` and `outbox`: reading the state folder, also while another process owns it.

pub(crate) mod export;
pub(crate) mod replay;

use change_journal::JournalReader;
use serde::Serialize;
use tag_session::{StepSummary, read_outbox_text, read_session, session_steps, session_summaries};
use tagproto::Session;
use workspace_host::session_failure::explain;
use workspace_host::session_failure::nothing_to_resume;
use workspace_host::{SharedSessions, WholeOutbox, WorkspacePaths};

use crate::commands::session::{cancel_flag, parse_id};
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use crate::views::progress::{end_line, one_line, printable, result_lines};

/// Lists the sessions.
pub(crate) fn list(common: &CommonOptions, console: Console) -> Outcome {
    let summaries = match WorkspacePaths::find(&common.host())?.journal_reader()? {
        Some(journal) => session_summaries(&journal).map_err(explain)?,
        None => Vec::new(),
    };
    if console.json {
        console.json_result(&summaries);
        return Ok(Exit::Done);
    }
    if summaries.is_empty() {
        console.notice("there are no sessions here; `agentd new TASK` starts one");
    }
    for summary in summaries {
        let state = if summary.complete { "done   " } else { "waiting" };
        console.result(&format!(
            "{}  {state}  message {:<3}  {}  {}",
            summary.session,
            summary.sequence,
            summary.updated_at,
            one_line(&summary.task)
        ));
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct SessionReport {
    #[serde(flatten)]
    session: Session,
    steps: Vec<StepSummary>,
}

/// Shows one session with its steps.
pub(crate) fn show(common: &CommonOptions, console: Console, id: &str) -> Outcome {
    let id = parse_id(id)?;
    let journal = reader(common)?;
    let session = read_session(&journal, id).map_err(explain)?;
    let steps = session_steps(&journal, id).map_err(explain)?;
    if console.json {
        console.json_result(&SessionReport { session, steps });
        return Ok(Exit::Done);
    }
    let state = if session.is_complete { "done" } else { "waiting for a reply" };
    console.result(&format!("session {id}: {}", printable(&one_line(&session.task))));
    console.result(&format!("{state}, message {}, dialect {}", session.sequence_number, session.dialect));
    console.result(&format!("created {}, changed {}", session.created_at, session.updated_at));
    for step in steps {
        let unfinished = match step.finished {
            true => "",
            false => {
                " (not finished; `agentd resume` continues one that is in the inbox, `agentd apply` with the same text any)"
            }
        };
        console.result(&format!("\nreply to message {}{unfinished}", step.sequence));
        for result in step.results {
            for line in result_lines("  ", &result) {
                console.result(&line);
            }
        }
    }
    if let Some(done) = &session.done {
        console.result(&format!("\n{}", end_line(done)));
    }
    Ok(Exit::Done)
}

/// Prints the pending outbox; with `full`, for a new chat; with `part`, only this part of it.
pub(crate) fn outbox(
    common: &CommonOptions,
    console: Console,
    id: Option<&str>,
    full: bool,
    part: Option<usize>,
) -> Outcome {
    let (session, text) = pending_message(common, console, id, full)?;
    let parts = session.outbox_parts(&text);
    if let (None, false) = (part, parts.is_empty()) {
        let count = parts.len();
        console.notice(&format!(
            "the message is too long for one paste: --part 1 to --part {count} print its parts"
        ));
    }
    let text = match part {
        None => text,
        Some(number) => one_part(text, parts, number)?,
    };
    if console.json {
        console.json_result(&text);
    } else {
        console.result(&text);
    }
    Ok(Exit::Done)
}

/// Returns the session with this id, or else the newest unfinished one, with its pending message; with `full`, that for a new
/// chat.
pub(crate) fn pending_message(
    common: &CommonOptions,
    console: Console,
    id: Option<&str>,
    full: bool,
) -> Result<(Session, String), Failure> {
    let journal = reader(common)?;
    let session = match id {
        Some(id) => read_session(&journal, parse_id(id)?).map_err(explain)?,
        None => {
            let newest =
                session_summaries(&journal).map_err(explain)?.into_iter().find(|summary| !summary.complete);
            read_session(&journal, parse_id(&newest.ok_or_else(nothing_to_resume)?.session)?)
                .map_err(explain)?
        }
    };
    if session.is_complete {
        return Err(Failure::new(
            Exit::Failed,
            format!("session {} is complete: no message is pending", session.session_id),
        ));
    }
    report_unfinished(console, &journal, &session)?;
    let text = if full {
        let paths = WorkspacePaths::find(&common.host())?;
        let sessions = SharedSessions::open(&common.host(), paths, &console.shared(), false)?;
        sessions.call(&WholeOutbox { id: session.session_id }, &cancel_flag()?)?
    } else {
        read_outbox_text(&journal, &session).map_err(explain)?
    };
    let text = text.ok_or_else(|| Failure::new(Exit::Failed, "the pending message is not in the journal"))?;
    Ok((session, text))
}

/// Reports that a reply to the pending message was begun and has not ended: after `kill -9` nothing else does.
pub(crate) fn report_unfinished(
    console: Console,
    journal: &JournalReader,
    session: &Session,
) -> Result<(), Failure> {
    let (id, sequence) = (session.session_id, session.sequence_number);
    let steps = session_steps(journal, id).map_err(explain)?;
    if steps.iter().any(|step| step.sequence == sequence && !step.finished) {
        console.notice(&format!(
            "a reply to message {sequence} was begun and has not ended: another agentd is carrying it out, or it was interrupted; \
             then `agentd apply` with the same reply does the rest and repeats nothing, and another reply drops the rest \
             (`agentd log` shows what it did)"
        ));
    }
    Ok(())
}

/// Returns the part with this number, from 1, of a message; a message that fits into one paste is its own first part.
pub(crate) fn one_part(text: String, parts: Vec<(String, String)>, number: usize) -> Result<String, Failure> {
    let count = parts.len().max(1);
    let mut texts = parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>();
    if texts.is_empty() {
        texts.push(text);
    }
    let part = number.checked_sub(1).and_then(|index| texts.into_iter().nth(index));
    part.ok_or_else(|| {
        let parts = if count == 1 { "1 part".to_owned() } else { format!("{count} parts") };
        Failure::new(Exit::Usage, format!("the message has {parts}, and no part {number}"))
    })
}

pub(crate) fn reader(common: &CommonOptions) -> Result<JournalReader, Failure> {
    WorkspacePaths::find(&common.host())?.journal_reader()?.ok_or_else(nothing_to_resume)
}
