//! `agentd new` and `agentd resume`: the loop of a session.

mod advance_watch;
mod budget;
mod clipboard_replies;
mod following_loop;
pub(crate) mod model;
pub(crate) mod options;
mod pending_message;
mod read_files;
mod reports;
pub(crate) mod surroundings;
pub(crate) mod task_files;
mod typed_answer;

use std::cell::{Cell, RefCell};

use serde::Serialize;
use tag_session::SessionError;
use tagproto::{Dialect, Session, SessionId, Strictness, USUAL_BUDGET, read_in};
use wap_core::CancelFlag;
use workspace_host::SharedSessions;
use workspace_host::Watching;
use workspace_host::WorkspacePaths;
use workspace_host::session_failure::explain;
use workspace_host::session_failure::nothing_to_resume;
use workspace_host::{
    AppliedReply, ApplyReply, CreateSession, FollowedSession, ReopenSession, SessionRefusal,
};

use crate::commands::session::clipboard_replies::ClipboardReplies;
use crate::commands::session::following_loop::{Loop, is_followed};
use crate::commands::session::model::ModelOptions;
use crate::commands::session::options::Following;
use crate::commands::session::options::NewOptions;
use crate::commands::session::options::ResumeOptions;
use crate::commands::session::pending_message::{
    announce, announce_one_step, copy, outbox_path, parts, put_on,
};
pub(crate) use crate::commands::session::reports::{report_repairs, report_superseded, report_unexpected};
use crate::commands::session::typed_answer::answer;
use crate::commands::sessions::{reader, report_unfinished};
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::views::console::{Console, Tone};
use crate::views::progress::{Progress, one_line};

#[derive(Serialize)]
struct Started {
    session: String,
    sequence: u32,
    outbox: String,
    /// The files of its parts, if it is too long for one paste.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<String>,
    /// The workspace, where that is a folder above the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<String>,
}

/// Starts a session and follows it until DONE, unless `--no-wait` was given.
pub(crate) fn new(common: &CommonOptions, console: Console, new: &NewOptions) -> Outcome {
    let task = match new.task.as_slice() {
        [only] if only == "-" => read_files::task_on_standard_input()?,
        words => words.join(" "),
    };
    if task.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, "the task is empty").advise("say what the model should do"));
    }
    // What is refused makes no state folder.
    let read_files = read_files::of(common, &new.read)?;
    let cancel = cancel_flag()?;
    let sessions = SharedSessions::open(
        &common.host(),
        WorkspacePaths::find(&common.host())?,
        &console.shared(),
        !new.no_wait,
    )?;
    let clipboard = clipboard(new.following, new.paste_characters, &sessions)?;
    let session = create(
        common,
        console,
        &sessions,
        NewTask {
            task,
            dialect: new.dialect,
            budget: new.budget,
            paste_characters: new.paste_characters,
            read_files,
            from: new.from.clone(),
        },
        &cancel,
    )?;
    let followed = match new.no_wait {
        true => None,
        false => Some(following_loop::mark(&sessions, session.session_id)?),
    };
    if console.json {
        console.json_result(&Started {
            session: session.session_id.to_string(),
            sequence: session.sequence_number,
            outbox: outbox_path(&sessions, &session),
            parts: parts(&sessions, &session),
            workspace: found_workspace(common),
        });
    }
    if !new.no_wait {
        introduce(console, &sessions, &session, (new.following, &new.model), &cancel);
    } else if !console.json {
        name(console, &sessions, &session, &cancel);
        announce_one_step(console, &sessions, &session);
    }
    if new.following.copy {
        copy(common, console, &sessions, &session)?;
    }
    let Some(followed) = followed else { return Ok(Exit::Done) };
    let options = (new.following, &new.model, clipboard);
    stay_with(common, console, &sessions, (&session, followed), options, &cancel)
}

/// Returns the workspace for JSON, where that is a folder above the current one.
pub(crate) fn found_workspace(common: &CommonOptions) -> Option<String> {
    common.workspace_above.as_ref().map(|workspace_above| workspace_above.folder.display().to_string())
}

/// The task of a session to be started.
pub(crate) struct NewTask {
    /// The task, as the user gave it.
    pub(crate) task: String,
    /// The dialect that the model speaks.
    pub(crate) dialect: Dialect,
    /// The most tokens of a message, if the user chose it.
    pub(crate) budget: Option<u32>,
    /// The most characters of one paste, if the user chose it.
    pub(crate) paste_characters: Option<u32>,
    /// The files that the first message shows whole.
    pub(crate) read_files: Vec<String>,
    /// The conversation whose work it continues.
    pub(crate) from: Option<String>,
}

/// Starts a session.
pub(crate) fn create(
    common: &CommonOptions,
    console: Console,
    sessions: &SharedSessions,
    new: NewTask,
    cancel: &CancelFlag,
) -> Result<Session, Failure> {
    let [first, second, third, fourth, ..] = *uuid::Uuid::new_v4().as_bytes();
    let id = SessionId::from_random([first, second, third, fourth]);
    let NewTask { task, dialect, budget, paste_characters, read_files, from } = new;
    // The original has no such files, and no budget unless the user wants one.
    let (task_files, surroundings, budget) = match dialect {
        Dialect::Agentd => (
            task_files::task_files(common, console, sessions.paths(), &task, cancel),
            surroundings::surroundings(common),
            budget.or(Some(USUAL_BUDGET)),
        ),
        Dialect::CodingAgent => (Vec::new(), Vec::new(), budget),
    };
    sessions.call(
        &CreateSession {
            id,
            task,
            dialect,
            budget,
            paste_characters,
            task_files,
            read_files,
            surroundings,
            from,
        },
        cancel,
    )
}

/// Continues a session.
pub(crate) fn resume(common: &CommonOptions, console: Console, resume: &ResumeOptions) -> Outcome {
    let cancel = cancel_flag()?;
    let paths = WorkspacePaths::find(&common.host())?;
    if !paths.has_sessions() {
        return Err(nothing_to_resume());
    }
    let sessions = SharedSessions::open(&common.host(), paths, &console.shared(), true)?;
    let id = resume.id.as_deref().map(parse_id).transpose()?;
    let session = match id {
        Some(id) if resume.reopen => sessions.call(&ReopenSession { id }, &cancel)?,
        id => sessions.chosen(id)?,
    };
    if session.is_complete {
        return Err(explain(SessionError::Complete { id: session.session_id }));
    }
    let session = match &resume.answer {
        None => session,
        Some(text) => answer(console, &sessions, &session, text.clone(), &cancel)?,
    };
    if resume.answer.is_some() && is_followed(&sessions, session.session_id)? {
        console.progress(
            "another agentd waits for its reply: copy the message again if you have copied it before",
        );
        return Ok(Exit::Done);
    }
    let followed = following_loop::mark(&sessions, session.session_id)?;
    // The process that followed it until now may have executed a reply since it was read.
    let session = sessions.session(session.session_id)?;
    if session.is_complete {
        return Err(explain(SessionError::Complete { id: session.session_id }));
    }
    let clipboard = clipboard(resume.following, session.paste_characters, &sessions)?;
    introduce(console, &sessions, &session, (resume.following, &resume.model), &cancel);
    // A reply in the inbox is continued at once.
    if resume.model.model.is_none() && !has_replies(&sessions) {
        report_unfinished(console, &reader(common)?, &session)?;
    }
    if resume.following.copy {
        copy(common, console, &sessions, &session)?;
    }
    let options = (resume.following, &resume.model, clipboard);
    stay_with(common, console, &sessions, (&session, followed), options, &cancel)
}

/// Returns the clipboard, if replies are to come from there. It is opened before a session is begun that would wait for it.
fn clipboard(
    following: Following,
    paste_characters: Option<u32>,
    sessions: &SharedSessions,
) -> Result<Option<ClipboardReplies>, Failure> {
    match (following.clipboard, paste_characters) {
        (false, _) => Ok(None),
        (true, None) => ClipboardReplies::start(&sessions.paths().base).map(Some),
        (true, Some(_)) => Err(Failure::new(
            Exit::Usage,
            "--clipboard takes a message as a whole, and this session writes parts",
        )
        .advise("leave --clipboard out and copy the parts, or start a session without --paste")),
    }
}

/// Follows a session; meanwhile other processes may work on the same folder through this one.
fn stay_with(
    common: &CommonOptions,
    console: Console,
    sessions: &SharedSessions,
    (session, followed): (&Session, FollowedSession),
    (following, model, clipboard): (Following, &ModelOptions, Option<ClipboardReplies>),
    cancel: &CancelFlag,
) -> Outcome {
    if let Some(clipboard) = &clipboard {
        put_on(clipboard, console, sessions, session);
    }
    let announce = |sessions: &SharedSessions, session: &Session| match &clipboard {
        Some(clipboard) => put_on(clipboard, console, sessions, session),
        // A program reads the messages itself.
        None if model.model.is_some() => {}
        None => announce(console, sessions, session),
    };
    let (id, announced) = (session.session_id, Cell::new(session.sequence_number));
    let last_results = RefCell::default();
    let follower = Loop {
        common,
        console,
        sessions,
        id,
        followed,
        following,
        cancel,
        announce: &announce,
        announced,
        is_attended: model.model.is_none(),
        last_results,
    };
    let outcome = match &model.model {
        Some(command) => follower.follow_model(command, model),
        None => follower.follow(),
    };
    drop(follower);
    sessions.leave(cancel);
    if matches!(outcome, Ok(Exit::Interrupted)) {
        console.progress("stopped; `agentd resume` continues");
    }
    outcome
}

/// Follows a new session for another command, which announces messages and replies in its own words.
pub(crate) fn follow(
    common: &CommonOptions,
    console: Console,
    sessions: &SharedSessions,
    session: &Session,
    cancel: &CancelFlag,
    announce: &dyn Fn(&SharedSessions, &Session),
) -> Outcome {
    let (id, announced) = (session.session_id, Cell::new(session.sequence_number));
    let following = Following::default();
    let last_results = RefCell::default();
    let follower = Loop {
        common,
        console,
        sessions,
        id,
        followed: following_loop::mark(sessions, id)?,
        following,
        cancel,
        announce,
        announced,
        is_attended: true,
        last_results,
    };
    let outcome = follower.follow();
    drop(follower);
    sessions.leave(cancel);
    outcome
}

/// Checks whether a file in the inbox may be a reply.
fn has_replies(sessions: &SharedSessions) -> bool {
    let files = std::fs::read_dir(sessions.folders().inbox_path()).into_iter().flatten().flatten();
    files.into_iter().any(|file| file.path().extension().is_some_and(|end| end == "txt"))
}

/// Reads a session's id from the command line.
pub(crate) fn parse_id(id: &str) -> Result<SessionId, Failure> {
    id.parse().map_err(|error| {
        Failure::new(Exit::Usage, format!("'{id}': {error}")).advise("`agentd sessions` lists the sessions")
    })
}

/// Returns a flag that Ctrl-C raises.
pub(crate) fn cancel_flag() -> Result<CancelFlag, Failure> {
    let cancel = CancelFlag::new();
    cancel_on_signals(&cancel)
        .map_err(|error| Failure::new(Exit::Missing, format!("cannot listen for signals: {error}")))?;
    Ok(cancel)
}

fn introduce(
    console: Console,
    sessions: &SharedSessions,
    session: &Session,
    (following, model): (Following, &ModelOptions),
    cancel: &CancelFlag,
) {
    name(console, sessions, session, cancel);
    if model.model.is_none() && !following.clipboard {
        announce(console, sessions, session);
    }
}

fn name(console: Console, sessions: &SharedSessions, session: &Session, cancel: &CancelFlag) {
    console.styled(Tone::Strong, &format!("session {}: {}", session.session_id, one_line(&session.task)));
    console.styled(Tone::Faint, &sessions.sandbox(cancel));
}

/// Lets the owner of the state folder execute a reply, and shows the progress.
pub(crate) fn execute(
    console: Console,
    sessions: &SharedSessions,
    request: &ApplyReply,
    cancel: &CancelFlag,
) -> Result<Result<AppliedReply, SessionRefusal>, Failure> {
    let session = sessions.session(request.reply.session)?;
    let incoming = session.incoming(&request.reply.text);
    let text = incoming.text().filter(|_| !incoming.is_held(request.reply.run_complete));
    let reply = read_in(text.unwrap_or_default(), Strictness::Repair, session.dialect);
    let mut progress = Progress::new(console);
    sessions.call_watched(request, cancel, &mut Watching::new(&reply.items, &mut progress))
}
