//! The loop of a session: reply after reply is taken from the inbox and executed, until DONE.

use std::cell::{Cell, RefCell};

use sandbox_fs::FsError;
use tag_session::{Inbox, InboxEvent, InboxFile, SessionError, Waited};
use tagproto::{CommandResult, ReplyTo, Session, SessionId};
use wap_core::CancelFlag;
use workspace_host::session_failure::explain;
use workspace_host::{AppliedReply, ApplyReply, FollowedSession, ReviewPolicy, SessionReply, SharedSessions};

use crate::commands::review::asking::{NextStep, ask_about};
use crate::commands::review::waiting::{Reviewed, reviewed};
use crate::commands::session::advance_watch::{AdvanceWatch, has_advanced};
use crate::commands::session::execute;
use crate::commands::session::options::Following;
use crate::commands::session::pending_message::copy;
use crate::commands::session::reports::{
    failed_blocks, report_repairs, report_superseded, report_unexpected,
};
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::{Console, Tone};
use crate::views::progress::end_line;

/// A session that is being followed.
pub(super) struct Loop<'a> {
    pub(super) common: &'a CommonOptions,
    pub(super) console: Console,
    pub(super) sessions: &'a SharedSessions,
    pub(super) id: SessionId,
    /// The mark that this process follows it.
    pub(super) followed: FollowedSession,
    pub(super) following: Following,
    pub(super) cancel: &'a CancelFlag,
    /// Says where the pending message is and where its reply goes.
    pub(super) announce: &'a dyn Fn(&SharedSessions, &Session),
    /// The message that was announced last.
    pub(super) announced: Cell<u32>,
    /// True if the user carries the messages, and not a program.
    pub(super) is_attended: bool,
    /// The results of the reply that was executed last.
    pub(super) last_results: RefCell<Vec<CommandResult>>,
}

impl Loop<'_> {
    /// Executes reply after reply until DONE or Ctrl-C.
    pub(super) fn follow(&self) -> Outcome {
        let mut inbox = Inbox::default();
        loop {
            match self.wait(&mut inbox)? {
                Waited::Cancelled if self.cancel.is_cancelled() => return Ok(Exit::Interrupted),
                Waited::Cancelled => {
                    if let Some(exit) = self.after_advance()? {
                        return Ok(exit);
                    }
                }
                Waited::Event(InboxEvent::Unusable { name, why, set_aside }) => {
                    self.console.notice(&format!("inbox/{name} {why}"));
                    if let Some(destination) = set_aside {
                        self.console.notice(&format!("  it is now {}", destination.0.display()));
                    }
                }
                Waited::Event(InboxEvent::Reply(file)) => {
                    let exit = match self.whose(&file) {
                        Whose::This => self.round(&mut inbox, &file)?,
                        Whose::Other => {
                            inbox.leave(&file.name);
                            None
                        }
                        Whose::Unfollowed(id) => {
                            self.console.notice(&format!(
                                "not executed: {} answers session {id}, for whose replies no process waits",
                                file.name
                            ));
                            self.console.notice(&format!(
                                "  it stays in the inbox: `agentd resume {id}` executes it"
                            ));
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

    /// Waits for an event of the inbox. The wait is cancelled by Ctrl-C, and when the session advances without this process.
    fn wait(&self, inbox: &mut Inbox) -> Result<Waited, Failure> {
        let _spinner = self.console.spinner("waiting for a reply");
        let wake = CancelFlag::new();
        let interrupted = wake.clone();
        let _interrupts = self.cancel.on_cancel(Box::new(move || interrupted.cancel()));
        let _watch = AdvanceWatch::begin(self.sessions, self.id, self.announced.get(), &wake);
        inbox.wait(self.sessions.folders(), &wake).map_err(|error| explain(SessionError::Files(error)))
    }

    /// Announces what another process has made of the session. Returns the exit code if it has ended.
    fn after_advance(&self) -> Result<Option<Exit>, Failure> {
        let Loop { console, sessions, .. } = *self;
        let session = sessions.session(self.id)?;
        if !has_advanced(&session, self.announced.get()) {
            return Ok(None);
        }
        console.progress("another process has executed a reply to this session");
        if session.is_complete {
            console.styled(Tone::Good, &end_line(session.done.as_deref().unwrap_or_default()));
            return Ok(Some(Exit::Done));
        }
        self.announce_pending(&session)?;
        Ok(None)
    }

    /// Announces the pending message, unless that was done before.
    fn announce_pending(&self, session: &Session) -> Result<(), Failure> {
        if self.announced.replace(session.sequence_number) != session.sequence_number {
            (self.announce)(self.sessions, session);
            if self.following.copy {
                copy(self.common, self.console, self.sessions, session)?;
            }
        }
        Ok(())
    }

    /// Determines which session a reply in the inbox is for, if several processes wait there.
    fn whose(&self, file: &InboxFile) -> Whose {
        let followed = &self.followed;
        match ReplyTo::find(&file.text) {
            Some(quoted) if followed.is_followed(quoted.session) => Whose::Other,
            // The process that followed it may have been killed.
            Some(quoted) if quoted.session != self.id && self.is_unfinished(quoted.session) => {
                Whose::Unfollowed(quoted.session)
            }
            None if !followed.others().is_empty() => Whose::Unknown,
            _ => Whose::This,
        }
    }

    fn is_unfinished(&self, id: SessionId) -> bool {
        self.sessions.session(id).is_ok_and(|session| !session.is_complete)
    }

    /// Moves a reply that is not executed out of the inbox.
    fn set_aside(&self, file: &InboxFile, why: &str, advice: &str) -> Result<(), Failure> {
        let destination = match self.sessions.folders().set_aside(file) {
            Ok(destination) => destination,
            // Another process has read the file as well, and moved it first.
            Err(FsError::NotFound { .. }) => return Ok(()),
            Err(error) => return Err(explain(SessionError::Files(error))),
        };
        self.console.notice(&format!("not executed: {why}"));
        self.console.notice(&format!("  {advice}"));
        self.console.notice(&match destination {
            Some(destination) => format!("  it is now {}", destination.0.display()),
            None => format!("  {} is another reply by now, which is read next", file.name),
        });
        Ok(())
    }

    /// Executes one reply. Returns the exit code if the session ended.
    pub(super) fn round(&self, inbox: &mut Inbox, file: &InboxFile) -> Result<Option<Exit>, Failure> {
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
        let mut is_reviewed = false;
        let wanted =
            match ask_about(common, console, sessions, &request, self.following.review.review, cancel)? {
                NextStep::Execute => Ok(()),
                NextStep::Refused(refusal) => Err(refusal),
                NextStep::Stopped => return Ok(Some(Exit::Interrupted)),
                NextStep::Queue { opens_view } => {
                    match reviewed(console, sessions, &request, opens_view, cancel)? {
                        Reviewed::NothingToReview => Ok(()),
                        Reviewed::Decided => {
                            is_reviewed = true;
                            Ok(())
                        }
                        Reviewed::Closed(why) => {
                            inbox.leave(&file.name);
                            return self.after_closed(why, request.answering);
                        }
                        Reviewed::Refused(refusal) => Err(refusal),
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
                let exit = self.report(&applied, is_reviewed)?;
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

    /// Says that a reply was not executed, and where its session is: it may have moved on by another process. Returns the exit
    /// code if it has ended.
    fn after_closed(&self, why: &str, answered: u32) -> Result<Option<Exit>, Failure> {
        let Loop { console, sessions, .. } = *self;
        console.notice(&format!("not executed: {why}"));
        let session = sessions.session(self.id)?;
        if session.is_complete {
            console.notice(&end_line(session.done.as_deref().unwrap_or_default()));
            return Ok(Some(Exit::Done));
        }
        if session.sequence_number == answered {
            console.notice("  a reply that is saved anew is reviewed anew");
        } else {
            self.announced.set(session.sequence_number);
            (self.announce)(sessions, &session);
        }
        Ok(None)
    }

    /// Shows what became of a reply. One that was reviewed is executed by its landing already, for instance by another process.
    fn report(&self, applied: &AppliedReply, is_reviewed: bool) -> Result<Option<Exit>, Failure> {
        let console = self.console;
        if !applied.is_executed {
            console.progress(if is_reviewed {
                "your review has been applied"
            } else {
                "this reply was executed before; nothing was done"
            });
        }
        if applied.was_resumed {
            console.detail("this reply was begun earlier; what was done then was not done again");
        }
        report_superseded(console, applied);
        report_repairs(console, applied);
        report_unexpected(console, applied);
        let mut session = applied.session.clone();
        if !session.is_complete {
            if self.is_attended && applied.is_executed && applied.results.iter().any(CommandResult::asks) {
                session = self.answered(session)?;
            }
            self.announce_pending(&session)?;
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
    /// A session that another process follows.
    Other,
    /// An unfinished session that no process follows.
    Unfollowed(SessionId),
    Unknown,
}

/// Checks whether another process waits for replies to a session.
pub(super) fn is_followed(sessions: &SharedSessions, id: SessionId) -> Result<bool, Failure> {
    Ok(begin(sessions, id)?.is_none())
}

/// Begins to follow a session; `None` if another process does.
fn begin(sessions: &SharedSessions, id: SessionId) -> Result<Option<FollowedSession>, Failure> {
    let base = &sessions.paths().base;
    FollowedSession::begin(base, id).map_err(|error| {
        Failure::new(Exit::Failed, format!("the state folder {} cannot be used: {error}", base.display()))
    })
}

/// Marks a session as followed: two processes would take its replies from each other. This comes before anything is announced, or
/// another process that the announcement has started could be first.
pub(super) fn mark(sessions: &SharedSessions, id: SessionId) -> Result<FollowedSession, Failure> {
    begin(sessions, id)?.ok_or_else(|| followed_already(id))
}

/// The failure of a process that is to follow a session that another process follows.
fn followed_already(id: SessionId) -> Failure {
    Failure::new(Exit::Held, format!("another agentd waits for replies to session {id} already")).advise(
        "save the reply in the inbox and that one executes it; `agentd apply FILE` executes one from here. \
         `agentd sessions` lists the other sessions, and `agentd resume ID` continues one of them",
    )
}
