//! A session whose replies come from a program of the user: no person has to carry files.

use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use model_program::{ModelProgram, ProgramError};
use tag_session::{Inbox, InboxFile, REPLY_LIMIT_BYTES, SessionError, StopReason, Totals, Unattended};
use tagproto::{ReplyTo, Session};
use workspace_host::session_failure::explain;
use workspace_host::{TouchedBy, touched_paths};

use crate::commands::session::following_loop::Loop;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Tone;
use crate::views::count::counted;
use crate::views::progress::one_line;

/// The most files that the summary names.
const SHOWN_FILES: usize = 20;

/// Options of a session whose replies come from a program.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ModelOptions {
    /// Get replies from this command of your shell: it reads each message on standard input and prints the reply.
    #[arg(
        long,
        value_name = "COMMAND",
        value_parser = NonEmptyStringValueParser::new(),
        conflicts_with_all = ["copy", "clipboard"]
    )]
    pub model: Option<String>,
    /// Stop after this many replies that do not end the session.
    #[arg(long, value_name = "N", default_value_t = 25, requires = "model")]
    pub rounds: u32,
    /// The seconds that the command may take for one reply.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "model")]
    pub model_timeout: u64,
}

impl Loop<'_> {
    /// Has the program reply to message after message until DONE, Ctrl-C, or an end by [`StopReason`].
    pub(crate) fn follow_model(&self, command: &str, options: &ModelOptions) -> Outcome {
        let most_bytes = usize::try_from(REPLY_LIMIT_BYTES).unwrap_or(usize::MAX);
        let timeout = Duration::from_secs(options.model_timeout);
        let program = ModelProgram::new(command, timeout, most_bytes)
            .in_shell(std::env::var_os("SHELL").unwrap_or_default());
        let mut rounds = Unattended::new(options.rounds);
        let begun = Instant::now();
        let outcome = self.ask_until_done(&program, &mut rounds);
        self.sum_up(rounds.totals(), begun.elapsed());
        outcome
    }

    fn ask_until_done(&self, program: &ModelProgram, rounds: &mut Unattended) -> Outcome {
        let mut inbox = Inbox::default();
        loop {
            let session = self.sessions.session(self.id)?;
            // A reply that had arrived before this process began is not requested again.
            let file = match self.arrived(&session)? {
                Some(file) => Some(file),
                None => match self.ask(program, rounds, &session)? {
                    Requested::Reply => self.arrived(&session)?,
                    Requested::OtherSession => None,
                    Requested::Cancelled => return Ok(Exit::Interrupted),
                },
            };
            self.last_results.take();
            let exit = match &file {
                Some(file) => self.round(&mut inbox, file)?,
                None => None,
            };
            let has_effect = rounds.note_results(&self.last_results.take());
            if let Some(exit) = exit {
                return Ok(exit);
            }
            has_effect.map_err(|reason| self.stopped(reason))?;
        }
    }

    /// Asks the program for the reply to the pending message, and puts it into the inbox.
    fn ask(
        &self,
        program: &ModelProgram,
        rounds: &mut Unattended,
        session: &Session,
    ) -> Result<Requested, Failure> {
        let number = rounds.begin_round().map_err(|reason| self.stopped(reason))?;
        let prompt = self.sessions.outbox(session)?.unwrap_or_default();
        let message = session.sequence_number;
        let size = counted(tokens(&prompt), "token");
        self.console.styled(Tone::Strong, &format!("round {number}: message {message}, about {size}"));
        let begun = Instant::now();
        let reply = program.ask(&prompt, self.cancel);
        let reply = match reply {
            Err(ProgramError::Cancelled) => return Ok(Requested::Cancelled),
            reply => reply.map_err(|error| self.unanswered(&error))?,
        };
        let seconds = begun.elapsed().as_secs_f64();
        self.console
            .progress(&format!("reply after {seconds:.1} s, about {}", counted(tokens(&reply), "token")));
        rounds.note_reply(&reply).map_err(|reason| self.stopped(reason))?;
        let text = match ReplyTo::find(&reply) {
            Some(quoted) if quoted.session != self.id => {
                let other = quoted.session;
                self.console.notice(&format!("not executed: the reply is for another session ({other})"));
                return Ok(Requested::OtherSession);
            }
            Some(_) => format!("{reply}\n"),
            // It answers this message, whatever other processes wait for in this inbox.
            None => format!("Reply-To: {}\n{reply}\n", session.reply_to()),
        };
        let put = self.sessions.folders().put_reply(&reply_name(session), &text);
        put.map_err(|error| explain(SessionError::Files(error)))?;
        Ok(Requested::Reply)
    }

    /// Returns the reply to the pending message from the inbox; `None` if there is none.
    fn arrived(&self, session: &Session) -> Result<Option<InboxFile>, Failure> {
        let name = reply_name(session);
        self.sessions.folders().reply(&name).map_err(|why| {
            Failure::new(Exit::Failed, format!("inbox/{name} {why}"))
                .advise("remove it, and resume the session")
        })
    }

    fn unanswered(&self, error: &ProgramError) -> Failure {
        let advice = match error {
            ProgramError::TimedOut(_) => format!(
                "`agentd resume {} --model COMMAND --model-timeout SECONDS` asks for this reply again, with more time",
                self.id
            ),
            _ => format!("`agentd resume {} --model COMMAND` asks for this reply again", self.id),
        };
        Failure::new(Exit::Failed, error.to_string()).advise(&advice)
    }

    fn stopped(&self, reason: StopReason) -> Failure {
        let id = self.id;
        let advice = format!(
            "`agentd show {id}` has all of it, and `agentd resume {id} --model COMMAND --rounds N` continues"
        );
        Failure::new(Exit::Failed, reason.to_string()).advise(&advice)
    }

    /// Summarises the loop: rounds and time, changed files, the last test, and how to undo.
    fn sum_up(&self, totals: &Totals, elapsed: Duration) {
        let Totals { rounds, edits, commands, last_command, last_test } = totals;
        let counts =
            [counted(*rounds as usize, "round"), counted(*edits, "edit"), counted(*commands, "command")];
        self.console.progress(&format!("{}, {:.1} s", counts.join(", "), elapsed.as_secs_f64()));
        let touched = self.touched();
        if !touched.is_empty() {
            let names: Vec<String> = touched.iter().take(SHOWN_FILES).map(|path| one_line(path)).collect();
            let more = touched.len().saturating_sub(SHOWN_FILES);
            let more = if more > 0 { format!(" and {more} more (`agentd diff`)") } else { String::new() };
            self.console.progress(&format!("changed: {}{more}", names.join(", ")));
        }
        if let Some(last) = last_test {
            self.console.progress(&format!("the last test: {}", one_line(last)));
        }
        if let Some(last) = last_command.as_ref().filter(|_| last_test.is_none()) {
            self.console.progress(&format!("the last command: {}", one_line(last)));
        }
        if !touched.is_empty() {
            self.console.progress(&format!("`agentd undo --session {}` reverts all of it", self.id));
        }
    }

    /// Returns the files that the session has changed so far; none if the journal cannot be read, which fails nothing.
    fn touched(&self) -> Vec<String> {
        let (paths, id) = (self.sessions.paths(), self.id.to_string());
        let journal = paths.journal_reader().ok().flatten();
        journal
            .and_then(|journal| touched_paths(&journal, paths, TouchedBy::Session(&id), &[]).ok())
            .unwrap_or_default()
    }
}

/// The outcome of asking for a reply.
enum Requested {
    /// It is in the inbox.
    Reply,
    /// It names another session, and is not used.
    OtherSession,
    Cancelled,
}

/// The name of the file in the inbox that answers the pending message.
fn reply_name(session: &Session) -> String {
    format!("{}_seq{:04}_model.txt", session.session_id, session.sequence_number)
}

/// Estimates the tokens of a text as the budget does: a quarter of its characters, rounded up.
fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}
