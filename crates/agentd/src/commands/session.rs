//! `agentd new` and `agentd resume`: the loop of a session.

use local_workspace::{LateWrite, LocalWorkspace};
use serde::Serialize;
use tag_session::{Applied, ApplyOptions, Executed, Found, InboxFile, SessionError, Waited};
use tagproto::{BlockKind, CommandType, Reply, Session, SessionId};
use wap_core::CancelFlag;

use crate::cli::{Common, Following, New, Resume};
use crate::clipboard;
use crate::commands::review::ask;
use crate::console::{Console, Tone};
use crate::exit::{Exit, Failure, Outcome};
use crate::interrupt::cancel_on_signals;
use crate::progress::{Progress, end_line, one_line};
use crate::session_failure::{explain, unwritten};
use crate::state::{self, LocalSessions, Opened, Places};

#[derive(Serialize)]
struct Started {
    session: String,
    sequence: u32,
    outbox: String,
}

/// A session that is being followed.
struct Loop<'a> {
    common: &'a Common,
    console: Console,
    sessions: &'a LocalSessions,
    id: SessionId,
    following: Following,
    cancel: &'a CancelFlag,
    /// Says where the pending message is and where its reply goes.
    announce: &'a dyn Fn(&LocalSessions, &Session),
}

/// Starts a session and, unless told otherwise, stays with it until DONE.
pub(crate) fn new(common: &Common, console: Console, new: &New) -> Outcome {
    let task = new.task.join(" ");
    if task.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, "the task is empty").advise("say what the model should do"));
    }
    let cancel = cancel_flag()?;
    let sessions = state::open(common, &Places::find(common)?, console)?;
    let session = sessions.create(&task, new.dialect, new.budget, &cancel).map_err(explain)?;
    if console.json && new.no_wait {
        console.json_result(&Started {
            session: session.session_id.to_string(),
            sequence: session.sequence_number,
            outbox: outbox_path(&sessions, &session),
        });
    } else {
        introduce(console, &sessions, &session);
    }
    if new.following.copy {
        copy(console, &sessions, &session)?;
    }
    if new.no_wait {
        return Ok(Exit::Done);
    }
    let id = session.session_id;
    let following = new.following;
    let announce = |sessions: &LocalSessions, session: &Session| announce(console, sessions, session);
    let announce = &announce;
    stay_with(
        &sessions,
        &Loop { common, console, sessions: &sessions, id, following, cancel: &cancel, announce },
    )
}

/// Goes on with a session.
pub(crate) fn resume(common: &Common, console: Console, resume: &Resume) -> Outcome {
    let cancel = cancel_flag()?;
    let places = Places::find(common)?;
    if !places.has_sessions() {
        return Err(nothing_to_resume());
    }
    let sessions = state::open(common, &places, console)?;
    let session = match &resume.id {
        Some(id) if resume.reopen => sessions.reopen(parse_id(id)?, &cancel).map_err(explain)?,
        Some(id) => sessions.session(parse_id(id)?).map_err(explain)?,
        None => sessions.newest_unfinished().map_err(explain)?.ok_or_else(nothing_to_resume)?,
    };
    if session.is_complete {
        return Err(explain(SessionError::Complete { id: session.session_id }));
    }
    introduce(console, &sessions, &session);
    if resume.following.copy {
        copy(console, &sessions, &session)?;
    }
    let id = session.session_id;
    let following = resume.following;
    let announce = |sessions: &LocalSessions, session: &Session| announce(console, sessions, session);
    let announce = &announce;
    stay_with(
        &sessions,
        &Loop { common, console, sessions: &sessions, id, following, cancel: &cancel, announce },
    )
}

/// Follows a session; meanwhile other processes may work on the same folder through this one.
fn stay_with(opened: &Opened, session: &Loop<'_>) -> Outcome {
    opened.door.stay(session.common.history_limit, session.console);
    let outcome = session.follow();
    opened.door.wait_for_commands(&|| false);
    if matches!(outcome, Ok(Exit::Interrupted)) {
        session.console.progress("stopped; `agentd resume` goes on");
    }
    outcome
}

/// Follows a new session for another command, which says in its own words where messages and replies are.
pub(crate) fn follow(
    common: &Common,
    console: Console,
    opened: &Opened,
    id: SessionId,
    cancel: &CancelFlag,
    announce: &dyn Fn(&LocalSessions, &Session),
) -> Outcome {
    let following = Following::default();
    Loop { common, console, sessions: opened, id, following, cancel, announce }.follow()
}

/// The failure where an unfinished session is needed and there is none.
pub(crate) fn nothing_to_resume() -> Failure {
    Failure::new(Exit::Usage, "there is no unfinished session here")
        .advise("start one with `agentd new TASK`; `agentd demo` shows how it goes")
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

fn introduce(console: Console, sessions: &LocalSessions, session: &Session) {
    console.styled(Tone::Strong, &format!("session {}: {}", session.session_id, one_line(&session.task)));
    let report = sessions.workspace().sandbox_report();
    console.styled(Tone::Faint, &report.map_or_else(|error| error.to_string(), ToString::to_string));
    announce(console, sessions, session);
}

fn announce(console: Console, sessions: &LocalSessions, session: &Session) {
    console.progress(&format!("message {} to copy into the chat:", session.sequence_number));
    console.progress(&format!("  {}", outbox_path(sessions, session)));
    console.progress("save the reply as a .txt file in:");
    console.progress(&format!("  {}", sessions.folders().inbox_path().display()));
}

/// Puts the pending message on the clipboard, or says that it cannot be.
fn copy(console: Console, sessions: &LocalSessions, session: &Session) -> Result<(), Failure> {
    let text = sessions.outbox(session).map_err(explain)?.unwrap_or_default();
    let number = session.sequence_number;
    match clipboard::copy(&text) {
        Some(program) => console.progress(&format!("message {number} is on the clipboard ({program})")),
        None => console.notice(
            "the clipboard cannot be used: none of wl-copy, xclip, xsel and pbcopy works here; copy the file instead",
        ),
    }
    Ok(())
}

fn outbox_path(sessions: &LocalSessions, session: &Session) -> String {
    sessions.folders().outbox_path(&session.outbox_file_name()).display().to_string()
}

impl Loop<'_> {
    /// Executes reply after reply until DONE or Ctrl-C.
    fn follow(&self) -> Outcome {
        loop {
            let waiting = self.console.spinner("waiting for a reply");
            let waited = self.sessions.wait(self.cancel).map_err(explain)?;
            drop(waiting);
            match waited {
                Waited::Cancelled => return Ok(Exit::Interrupted),
                Waited::Found(Found::Unusable { name, why, set_aside }) => {
                    self.console.notice(&format!("inbox/{name} {why}"));
                    if let Some(place) = set_aside {
                        self.console.notice(&format!("  it is now {}", place.0.display()));
                    }
                }
                Waited::Found(Found::Reply(file)) => {
                    if let Some(exit) = self.round(&file)? {
                        return Ok(exit);
                    }
                }
            }
        }
    }

    /// Executes one reply. Returns how the session ended, if it did.
    fn round(&self, file: &InboxFile) -> Result<Option<Exit>, Failure> {
        let Loop { console, sessions, .. } = *self;
        console.styled(Tone::Strong, &format!("received {}", file.name));
        let mut ask = |reply: &Reply<'_>| ask(self.common, console, sessions, self.id, reply, self.cancel);
        let options = ApplyOptions {
            again: false,
            review: if self.following.review { Some(&mut ask) } else { None },
            file: Some(file),
        };
        let mut progress = Progress::new(console);
        let applied = sessions.apply(
            self.id,
            &file.text,
            self.common.command_timeout(),
            options,
            self.cancel,
            &mut progress,
        );
        match applied {
            Ok(Applied::Executed(executed)) => {
                let moved = sessions.move_to_processed(&file.name);
                let told = self.tell(&executed)?;
                tell_late_writes(console, sessions.workspace());
                if let Some(error) = &executed.not_written {
                    return Err(unwritten(error));
                }
                // Opening the state folder again puts it away.
                moved.map_err(|error| {
                    explain(error).advise(
                        "the reply was executed, and `agentd resume` goes on; its file is put away then",
                    )
                })?;
                Ok(told)
            }
            Ok(Applied::AlreadyDone { .. }) => {
                sessions.move_to_processed(&file.name).map_err(explain)?;
                console.progress("this reply was executed before; nothing was done");
                let session = sessions.session(self.id).map_err(explain)?;
                Ok(if session.is_complete { Some(Exit::Done) } else { None })
            }
            Err(error) if is_about_the_reply(&error) => {
                let place = sessions.set_aside(&file.name).map_err(explain)?;
                let failure = explain(error);
                console.notice(&format!("not executed: {}", failure.message));
                console.notice(&format!("  {}", failure.advice.unwrap_or_default()));
                console.notice(&format!("  the file is now {}", place.0.display()));
                Ok(None)
            }
            Err(error) => {
                let failure = explain(error);
                Err(failure
                    .advise("the reply is still in the inbox: `agentd resume` goes on with the rest of it"))
            }
        }
    }

    fn tell(&self, executed: &Executed) -> Result<Option<Exit>, Failure> {
        let console = self.console;
        if executed.was_resumed {
            console.detail("this reply was begun earlier; what was done then was not done again");
        }
        tell_taken_over(console, executed);
        if !executed.repairs.is_empty() {
            let names: Vec<_> = executed.repairs.iter().map(|kind| kind.to_string()).collect();
            console.styled(Tone::Faint, &format!("  undone in the pasted text: {}", names.join(", ")));
        }
        tell_unexpected(console, executed);
        if !executed.session.is_complete {
            (self.announce)(self.sessions, &executed.session);
            if self.following.copy {
                copy(console, self.sessions, &executed.session)?;
            }
            return Ok(None);
        }
        let failed = failed_blocks(executed);
        let summary = executed.session.done.as_deref().unwrap_or_default();
        console.styled(Tone::Good, &end_line(summary));
        if failed > 0 {
            let id = executed.session.session_id;
            let blocks = if failed == 1 { "block" } else { "blocks" };
            console.notice(&format!(
                "  {failed} {blocks} of the last reply failed; `agentd show {id}` has them"
            ));
        }
        Ok(Some(Exit::Done))
    }
}

/// Tells the user that a reply held nothing to do, or that its DONE did not end the session.
pub(crate) fn tell_unexpected(console: Console, executed: &Executed) {
    if executed.results.is_empty() {
        console.notice("  no block was found in this reply, so nothing was done; the next message tells the model how blocks are written");
    }
    let done = CommandType::Block(BlockKind::Done);
    let says_done = executed.results.iter().any(|result| result.success && result.command_type == done);
    if says_done && !executed.session.is_complete {
        let failed = failed_blocks(executed);
        let blocks = if failed == 1 {
            "1 block of the reply failed".to_owned()
        } else {
            format!("{failed} blocks of the reply failed")
        };
        console.notice(&format!(
            "  the model said DONE, but {blocks}: the session goes on, and the next message has the results"
        ));
    }
}

fn failed_blocks(executed: &Executed) -> usize {
    executed.results.iter().filter(|result| !result.success).count()
}

/// Tells what other programs wrote to files that had just been replaced, as far as that is seen by now.
pub(crate) fn tell_late_writes(console: Console, workspace: &LocalWorkspace) {
    workspace.checkpoint();
    for LateWrite { path, kept_as, .. } in workspace.late_writes() {
        console.notice(&match kept_as {
            Ok(kept) => format!("{path} was written to by a program that had it open from before: what it wrote is kept as {kept}"),
            Err(error) => format!("{path} was written to by a program that had it open from before, and what it wrote could not be kept: {error}"),
        });
    }
    for path in workspace.unsynced() {
        console.notice(&format!("the disk has not taken {path}: the journal has it, and it is written again until the disk takes it"));
    }
}

/// Tells what became of a reply that was stopped before this one.
pub(crate) fn tell_taken_over(console: Console, executed: &Executed) {
    if executed.taken_over.is_empty() {
        return;
    }
    console.notice("  another reply to the same message was stopped earlier: its rest is given up, and the model is told what it had done");
    for result in &executed.taken_over {
        let mark = if result.success { "OK" } else { "FAILED" };
        console.notice(&format!("    [{mark}] {}: {}", result.command_type, one_line(&result.summary)));
    }
}

/// Whether another reply may do better.
fn is_about_the_reply(error: &SessionError) -> bool {
    matches!(
        error,
        SessionError::Refused(_)
            | SessionError::OtherSession { .. }
            | SessionError::OtherSequence { .. }
            | SessionError::KnownText { .. }
            | SessionError::KnownUnfinished { .. }
            | SessionError::BegunElsewhere { .. }
            | SessionError::HistoryLost
            | SessionError::Empty
            | SessionError::Declined
    )
}
