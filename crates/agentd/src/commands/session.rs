//! `agentd new` and `agentd resume`: the loop of a session.

mod budget;
mod clipboard_replies;
pub(crate) mod model;
pub(crate) mod options;
mod pending_message;
mod read_files;
mod reports;
pub(crate) mod surroundings;
pub(crate) mod task_files;
mod typed_answer;

use std::cell::{Cell, RefCell};

use sandbox_fs::FsError;
use serde::Serialize;
use tag_session::{Inbox, InboxEvent, InboxFile, SessionError, Waited};
use tagproto::{CommandResult, Dialect, ReplyTo, Session, SessionId, Strictness, USUAL_BUDGET, read_in};
use wap_core::CancelFlag;
use workspace_host::FollowedSession;
use workspace_host::ReviewPolicy;
use workspace_host::SharedSessions;
use workspace_host::Watching;
use workspace_host::WorkspacePaths;
use workspace_host::session_failure::explain;
use workspace_host::session_failure::nothing_to_resume;
use workspace_host::{AppliedReply, ApplyReply, CreateSession, ReopenSession, SessionRefusal, SessionReply};

use crate::commands::review::asking::{NextStep, ask_about};
use crate::commands::review::waiting::{Reviewed, reviewed};
use crate::commands::session::clipboard_replies::ClipboardReplies;
use crate::commands::session::model::ModelOptions;
use crate::commands::session::options::Following;
use crate::commands::session::options::NewOptions;
use crate::commands::session::options::ResumeOptions;
use crate::commands::session::pending_message::{announce, copy, outbox_path, parts, put_on};
use crate::commands::session::reports::failed_blocks;
pub(crate) use crate::commands::session::reports::{report_superseded, report_unexpected};
use crate::commands::session::typed_answer::answer;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::views::console::{Console, Tone};
use crate::views::progress::{Progress, end_line, one_line};

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

/// A session that is being followed.
struct Loop<'a> {
    common: &'a CommonOptions,
    console: Console,
    sessions: &'a SharedSessions,
    id: SessionId,
    following: Following,
    cancel: &'a CancelFlag,
    /// Says where the pending message is and where its reply goes.
    announce: &'a dyn Fn(&SharedSessions, &Session),
    /// The message that was announced last.
    announced: Cell<u32>,
    /// True if the user carries the messages, and not a program.
    is_attended: bool,
    /// The results of the reply that was executed last.
    last_results: RefCell<Vec<CommandResult>>,
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
    let cancel = cancel_flag()?;
    let sessions = SharedSessions::open(
        &common.host(),
        WorkspacePaths::find(&common.host())?,
        &console.shared(),
        !new.no_wait,
    )?;
    let session = create(
        common,
        console,
        &sessions,
        NewTask {
            task,
            dialect: new.dialect,
            budget: new.budget,
            paste_characters: new.paste_characters,
            read_files: read_files::of(common, &new.read)?,
            from: new.from.clone(),
        },
        &cancel,
    )?;
    if console.json && new.no_wait {
        console.json_result(&Started {
            session: session.session_id.to_string(),
            sequence: session.sequence_number,
            outbox: outbox_path(&sessions, &session),
            parts: parts(&sessions, &session),
            workspace: found_workspace(common),
        });
    } else {
        introduce(console, &sessions, &session, (new.following, &new.model), &cancel);
    }
    if new.following.copy {
        copy(console, &sessions, &session)?;
    }
    if new.no_wait {
        return Ok(Exit::Done);
    }
    stay_with(common, console, &sessions, &session, (new.following, &new.model), &cancel)
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
    introduce(console, &sessions, &session, (resume.following, &resume.model), &cancel);
    if resume.following.copy {
        copy(console, &sessions, &session)?;
    }
    stay_with(common, console, &sessions, &session, (resume.following, &resume.model), &cancel)
}

/// Follows a session; meanwhile other processes may work on the same folder through this one.
fn stay_with(
    common: &CommonOptions,
    console: Console,
    sessions: &SharedSessions,
    session: &Session,
    (following, model): (Following, &ModelOptions),
    cancel: &CancelFlag,
) -> Outcome {
    if following.clipboard && session.paste_characters.is_some() {
        return Err(Failure::new(
            Exit::Usage,
            "--clipboard takes a message as a whole, and this session writes parts",
        )
        .advise("leave --clipboard out and copy the parts, or start a session without --paste"));
    }
    let clipboard = match following.clipboard {
        true => Some(ClipboardReplies::start(&sessions.paths().base)?),
        false => None,
    };
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
    let followed = Loop {
        common,
        console,
        sessions,
        id,
        following,
        cancel,
        announce: &announce,
        announced,
        is_attended: model.model.is_none(),
        last_results,
    };
    let outcome = match &model.model {
        Some(command) => followed.follow_model(command, model),
        None => followed.follow(),
    };
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
    let outcome = Loop {
        common,
        console,
        sessions,
        id,
        following,
        cancel,
        announce,
        announced,
        is_attended: true,
        last_results,
    }
    .follow();
    sessions.leave(cancel);
    outcome
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
    console.styled(Tone::Strong, &format!("session {}: {}", session.session_id, one_line(&session.task)));
    console.styled(Tone::Faint, &sessions.sandbox(cancel));
    if model.model.is_none() && !following.clipboard {
        announce(console, sessions, session);
    }
}

impl Loop<'_> {
    /// Executes reply after reply until DONE or Ctrl-C.
    fn follow(&self) -> Outcome {
        let followed = self.begin()?;
        let mut inbox = Inbox::default();
        loop {
            let waiting = self.console.spinner("waiting for a reply");
            let waited = inbox.wait(self.sessions.folders(), self.cancel);
            let waited = waited.map_err(|error| explain(SessionError::Files(error)))?;
            drop(waiting);
            match waited {
                Waited::Cancelled => return Ok(Exit::Interrupted),
                Waited::Event(InboxEvent::Unusable { name, why, set_aside }) => {
                    self.console.notice(&format!("inbox/{name} {why}"));
                    if let Some(destination) = set_aside {
                        self.console.notice(&format!("  it is now {}", destination.0.display()));
                    }
                }
                Waited::Event(InboxEvent::Reply(file)) => {
                    let exit = match self.whose(&followed, &file) {
                        Whose::This => self.round(&mut inbox, &file)?,
                        Whose::Other => {
                            inbox.leave(&file.name);
                            None
                        }
                        Whose::Unknown => {
                            let why = "several sessions wait for replies here, and it does not say which message it answers";
                            self.set_aside(&file, why, &format!("apply it with `agentd apply FILE --session {}`, or the id of another one", self.id))?;
                            None
                        }
                    };
                    if let Some(exit) = exit {
                        return Ok(exit);
                    }
                }
            }
        }
    }

    /// Marks the session as followed: two processes would take its replies from each other.
    fn begin(&self) -> Result<FollowedSession, Failure> {
        let base = &self.sessions.paths().base;
        let followed = FollowedSession::begin(base, self.id).map_err(|error| {
            Failure::new(Exit::Failed, format!("the state folder {} cannot be used: {error}", base.display()))
        })?;
        followed.ok_or_else(|| followed_already(self.id))
    }

    /// Determines which session a reply in the inbox is for, if several processes wait there.
    fn whose(&self, followed: &FollowedSession, file: &InboxFile) -> Whose {
        match ReplyTo::find(&file.text) {
            Some(quoted) if followed.is_followed(quoted.session) => Whose::Other,
            None if !followed.others().is_empty() => Whose::Unknown,
            _ => Whose::This,
        }
    }

    /// Moves a reply that is not executed out of the inbox.
    fn set_aside(&self, file: &InboxFile, why: &str, advice: &str) -> Result<(), Failure> {
        let destination = match self.sessions.folders().set_aside(&file.name) {
            Ok(destination) => destination,
            // Another process has read the file as well, and moved it first.
            Err(FsError::NotFound { .. }) => return Ok(()),
            Err(error) => return Err(explain(SessionError::Files(error))),
        };
        self.console.notice(&format!("not executed: {why}"));
        self.console.notice(&format!("  {advice}"));
        self.console.notice(&format!("  it is now {}", destination.0.display()));
        Ok(())
    }

    /// Executes one reply. Returns the exit code if the session ended.
    fn round(&self, inbox: &mut Inbox, file: &InboxFile) -> Result<Option<Exit>, Failure> {
        let Loop { common, console, sessions, cancel, .. } = *self;
        console.styled(Tone::Strong, &format!("received {}", file.name));
        let request = ApplyReply {
            reply: SessionReply {
                session: self.id,
                text: file.text.clone(),
                again: false,
                run_complete: self.following.run_complete,
            },
            file: Some(file.clone()),
            answering: sessions.session(self.id)?.sequence_number,
            confirmed: self.following.review.review == ReviewPolicy::All,
            timeout: common.command_timeout(),
        };
        let wanted =
            match ask_about(common, console, sessions, &request, self.following.review.review, cancel)? {
                NextStep::Execute => Ok(()),
                NextStep::Refused(refusal) => Err(refusal),
                NextStep::Queue { opens_view } => {
                    match reviewed(console, sessions, &request, opens_view, cancel)? {
                        Reviewed::NothingToReview | Reviewed::Decided => Ok(()),
                        Reviewed::Cancelled => return Ok(Some(Exit::Interrupted)),
                    }
                }
            };
        let applied = match wanted {
            Ok(()) => execute(console, sessions, &request, cancel)?,
            Err(refusal) => Err(refusal),
        };
        match applied {
            Ok(applied) => {
                self.last_results.replace(applied.results.clone());
                let exit = self.report(&applied)?;
                applied.late.iter().for_each(|line| console.notice(line));
                match applied.left_undone {
                    Some(refusal) => Err(refusal.into_failure()),
                    None => Ok(exit),
                }
            }
            Err(refusal) if refusal.is_taken => {
                console.detail(&refusal.message);
                inbox.leave(&file.name);
                Ok(None)
            }
            Err(refusal) if refusal.is_about_the_reply => {
                self.set_aside(file, &refusal.message, refusal.advice.as_deref().unwrap_or_default())?;
                Ok(None)
            }
            Err(refusal) => Err(refusal
                .into_failure()
                .advise("the reply is still in the inbox: `agentd resume` continues with the rest of it")),
        }
    }

    fn report(&self, applied: &AppliedReply) -> Result<Option<Exit>, Failure> {
        let console = self.console;
        if !applied.is_executed {
            console.progress("this reply was executed before; nothing was done");
        }
        if applied.was_resumed {
            console.detail("this reply was begun earlier; what was done then was not done again");
        }
        report_superseded(console, applied);
        if !applied.repairs.is_empty() {
            let repairs = applied.repairs.join(", ");
            console.styled(Tone::Faint, &format!("  undone in the pasted text: {repairs}"));
        }
        report_unexpected(console, applied);
        let mut session = applied.session.clone();
        if !session.is_complete {
            if self.is_attended && applied.is_executed && applied.results.iter().any(CommandResult::asks) {
                session = self.answered(session)?;
            }
            if self.announced.replace(session.sequence_number) != session.sequence_number {
                (self.announce)(self.sessions, &session);
                if self.following.copy {
                    copy(console, self.sessions, &session)?;
                }
            }
            return Ok(None);
        }
        let failed = failed_blocks(applied);
        let summary = session.done.as_deref().unwrap_or_default();
        console.styled(Tone::Good, &end_line(summary));
        if failed > 0 {
            let id = session.session_id;
            let blocks = if failed == 1 { "block" } else { "blocks" };
            console.notice(&format!(
                "  {failed} {blocks} of the last reply failed; `agentd show {id}` has them"
            ));
        }
        Ok(Some(Exit::Done))
    }
}

/// The session that a reply in the inbox is for.
enum Whose {
    This,
    /// One that another process follows.
    Other,
    Unknown,
}

/// The failure of a process that would follow a session that another one follows.
fn followed_already(id: SessionId) -> Failure {
    Failure::new(Exit::Held, format!("another agentd waits for replies to session {id} already")).advise(
        "save the reply in the inbox and that one executes it; `agentd apply FILE` executes one from here",
    )
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
