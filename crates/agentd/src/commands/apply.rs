//! `agentd apply`: one reply, executed once.

mod dry_run;
mod trial;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use tag_session::SessionError;
use tagproto::{CommandResult, Session};
use workspace_host::SharedSessions;
use workspace_host::Welcome;
use workspace_host::WorkspacePaths;
use workspace_host::session_failure::explain;
use workspace_host::session_failure::nothing_to_resume;
use workspace_host::{ApplyReply, SessionRefusal, SessionReply};

use crate::commands::apply::dry_run::dry_run;
use crate::commands::apply::trial::Tried;
use crate::commands::parse::reply_text;
use crate::commands::review::asking::review;
use crate::commands::session::{
    cancel_flag, execute, found_workspace, parse_id, report_repairs, report_superseded, report_unexpected,
};
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;
use crate::views::progress::{end_line, result_lines};

#[derive(Debug, Args)]
pub(crate) struct ApplyOptions {
    /// The reply, or `-` for standard input.
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
    #[command(flatten)]
    pub execution: ExecutionOptions,
}

/// Options of executing one reply.
#[derive(Debug, Args)]
pub(crate) struct ExecutionOptions {
    /// The session's id [default: the newest unfinished one].
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Show the plan and the differences, and run nothing.
    #[arg(long, conflicts_with = "review")]
    pub dry_run: bool,
    /// Execute it on a copy-on-write layer, show its changes, and keep them only when confirmed.
    #[arg(long = "try", conflicts_with_all = ["dry_run", "review"])]
    pub on_trial: bool,
    /// Keep it without a question if every block succeeds.
    #[arg(long, requires = "on_trial")]
    pub keep: bool,
    /// Ask before the reply is executed.
    #[arg(long)]
    pub review: bool,
    /// Execute a text that was executed before.
    #[arg(long)]
    pub again: bool,
    /// Execute the complete blocks of a reply that was cut off, instead of first asking the model to continue.
    #[arg(long)]
    pub run_complete: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    session: String,
    sequence: u32,
    results: &'a [CommandResult],
    complete: bool,
    done: Option<&'a str>,
    outbox: Option<String>,
    /// The workspace, where that is a folder above the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<String>,
}

/// Executes the reply of a file and writes the next outbox.
pub(crate) fn apply(common: &CommonOptions, console: Console, apply: &ApplyOptions) -> Outcome {
    let text = reply_text(&apply.file)?;
    if text.trim().is_empty() {
        return Err(explain(SessionError::Empty));
    }
    let sessions = open_sessions(common, console)?;
    let session = chosen(&sessions, &apply.execution)?;
    execute_text(common, console, (&sessions, &session), text, &apply.execution)
}

/// Opens the sessions of the workspace.
pub(crate) fn open_sessions(common: &CommonOptions, console: Console) -> Result<SharedSessions, Failure> {
    let paths = WorkspacePaths::find(&common.host())?;
    if !paths.has_sessions() {
        return Err(nothing_to_resume());
    }
    SharedSessions::open(&common.host(), paths, &console.shared(), false)
}

/// Returns the session that the user has named, or else the newest unfinished one.
pub(crate) fn chosen(sessions: &SharedSessions, execution: &ExecutionOptions) -> Result<Session, Failure> {
    sessions.chosen(execution.session.as_deref().map(parse_id).transpose()?)
}

/// Executes a reply to the pending message of a session and writes the next outbox.
pub(crate) fn execute_text(
    common: &CommonOptions,
    console: Console,
    (sessions, session): (&SharedSessions, &Session),
    text: String,
    apply: &ExecutionOptions,
) -> Outcome {
    let cancel = cancel_flag()?;
    let ExecutionOptions { again, run_complete, .. } = *apply;
    let reply = SessionReply { session: session.session_id, text, again, run_complete };
    if apply.dry_run {
        return dry_run(common, console, sessions, session, reply, &cancel);
    }
    // There is nothing to try of a reply that is held.
    let is_tried = apply.on_trial && !session.incoming(&reply.text).is_held(run_complete);
    if is_tried {
        let owner = sessions.owned()?.map_err(|owner| needs_the_folder(&owner))?;
        let tried = Tried { common, console, paths: sessions.paths(), sessions: &owner, session };
        if !tried.execute(&reply.text, apply, &cancel)? {
            return Ok(Exit::Done);
        }
        // Its steps are recorded now: applying it finds everything done and writes the next outbox.
    }
    let request = ApplyReply {
        reply,
        file: None,
        answering: session.sequence_number,
        confirmed: apply.review,
        timeout: common.command_timeout(),
    };
    let wanted = if apply.review { review(common, console, sessions, &request, &cancel)? } else { Ok(()) };
    let applied = match wanted {
        // A trial has shown the results.
        Ok(()) if is_tried => execute(console.without_progress(), sessions, &request, &cancel)?,
        Ok(()) => execute(console, sessions, &request, &cancel)?,
        Err(refusal) => Err(refusal),
    };
    let applied = applied.map_err(SessionRefusal::into_failure)?;
    if applied.is_executed {
        report_superseded(console, &applied);
        report_repairs(console, &applied);
        report_unexpected(console, &applied);
    } else {
        console.notice("this reply was executed before; nothing was done");
    }
    let session = &applied.session;
    let outbox = (!session.is_complete)
        .then(|| sessions.folders().outbox_path(&session.outbox_file_name()).display().to_string());
    // A trial has shown them, or progress on the same terminal.
    let is_shown = applied.is_executed && (is_tried || console.is_one_screen()) && !console.json;
    let results: &[CommandResult] = if is_shown { &[] } else { &applied.results };
    report(common, console, session, applied.sequence, results, outbox);
    applied.late.iter().for_each(|line| console.notice(line));
    match applied.left_undone {
        None => Ok(Exit::Done),
        Some(refusal) => Err(refusal.into_failure()),
    }
}

/// The failure of a trial while another process owns the state folder: it needs the whole folder to itself.
fn needs_the_folder(owner: &Welcome) -> Failure {
    let Welcome { process_id, command, .. } = owner;
    let what = format!("process {process_id} (agentd {command}) owns the state folder, and --try needs it");
    Failure::new(Exit::Held, what)
        .advise("stop that process first; --dry-run and --review work while it runs")
}

fn report(
    common: &CommonOptions,
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
            workspace: found_workspace(common),
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
