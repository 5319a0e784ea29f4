//! The engine of a flow: a session of the state folder, whose replies are the builder's.

use codali_envelope::{CommandOutput, Reading, Response};
use codali_session::{Applied, EditResult, EngineError, FlowEngine};
use tagproto::{
    Block, BlockKind, CommandResult, CommandType, Dialect, Item, ReplyTo, SessionId, Strictness, read_in,
    render_block,
};
use wap_core::{CancelFlag, visible_line};
use workspace_host::{
    AppliedReply, ApplyReply, ReopenSession, ReviewPolicy, SessionRefusal, SessionReply, SharedSessions,
    TouchedBy, touched_paths,
};

use crate::commands::codali::responding::{Responding, ResponseForm};
use crate::commands::review::waiting::{Reviewed, reviewed};
use crate::commands::session::execute;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure};
use crate::views::console::Console;

/// The beginning of the result of a command that ended by itself.
pub(super) const HAS_RUN: &str = "Ran '";

/// The longest summary of a session.
const SUMMARY_CHARACTERS: usize = 70;

/// A session that receives a flow's edits, one reply for each run.
pub(super) struct SessionEngine<'a> {
    pub(super) common: &'a CommonOptions,
    pub(super) console: Console,
    pub(super) sessions: &'a SharedSessions,
    pub(super) id: SessionId,
    pub(super) form: ResponseForm<'a>,
    /// The builder's edits that wait for a person.
    pub(super) review: ReviewPolicy,
    /// The paths that must stay as they are, also where git ignores them.
    pub(super) untouched: &'a [String],
    pub(super) cancel: &'a CancelFlag,
}

impl SessionEngine<'_> {
    /// Executes a reply to the message of this number. One that was executed before is answered from the record.
    fn execute(&self, run: u32, text: &str) -> Result<Result<AppliedReply, SessionRefusal>, EngineError> {
        execute(self.console, self.sessions, &self.request(run, text), self.cancel).map_err(engine_error)
    }

    /// Waits until a person has reviewed a reply of the builder's, if the user wants that. Returns the refusal of one that will
    /// not be executed: the builder reads it, and the flow continues.
    fn await_review(&self, run: u32, text: &str) -> Result<Option<String>, EngineError> {
        let items = read_in(text, Strictness::Repair, Dialect::Agentd).items;
        let is_reviewed = match self.review {
            ReviewPolicy::None => false,
            ReviewPolicy::All => true,
            ReviewPolicy::Commands => items.iter().any(|item| item.kind() == BlockKind::RunCommand),
        };
        if !is_reviewed {
            return Ok(None);
        }
        let request = self.request(run, text);
        match reviewed(self.console, self.sessions, &request, false, self.cancel).map_err(engine_error)? {
            Reviewed::NothingToReview | Reviewed::Decided => Ok(None),
            Reviewed::Closed(why) => Ok(Some(format!("nothing of these edits was done: {why}"))),
            Reviewed::Refused(refusal) if refusal.is_about_the_reply => Ok(Some(refusal.message)),
            Reviewed::Refused(refusal) => Err(engine_error(refusal.into_failure())),
            Reviewed::Cancelled => {
                Err(engine_error(Failure::new(Exit::Interrupted, "stopped during a review")))
            }
        }
    }

    fn request(&self, run: u32, text: &str) -> ApplyReply {
        let reply_to = ReplyTo { session: self.id, sequence: run };
        ApplyReply {
            reply: SessionReply {
                session: self.id,
                // First: whatever the builder quotes, it answers this message.
                text: format!("Reply-To: {reply_to}\n\n{text}\n"),
                again: false,
                run_complete: true,
            },
            file: None,
            answering: run,
            confirmed: false,
            timeout: self.common.command_timeout(),
        }
    }

    /// Executes a reply of the program itself, which is not refused.
    fn execute_own(&self, run: u32, block: &Block<'_>) -> Result<AppliedReply, EngineError> {
        let text = render_block(block)
            .map_err(|error| engine_error(Failure::new(Exit::Usage, error.to_string())))?;
        self.execute(run, &text)?.map_err(|refusal| engine_error(refusal.into_failure()))
    }
}

impl FlowEngine for SessionEngine<'_> {
    fn pending_run(&self) -> Result<u32, EngineError> {
        let mut session = self.sessions.session(self.id).map_err(engine_error)?;
        // A DONE of the builder's ends nothing: the verdict does.
        if session.is_complete {
            let reopen = ReopenSession { id: self.id };
            session = self.sessions.call(&reopen, self.cancel).map_err(engine_error)?;
        }
        Ok(session.sequence_number)
    }

    fn has_edits(&self, text: &str) -> bool {
        let items = read_in(text, Strictness::Repair, Dialect::Agentd).items;
        items.iter().any(|item| matches!(item, Item::Block(_)) && is_edit(item.kind()))
    }

    fn apply(&self, run: u32, text: &str) -> Result<Applied, EngineError> {
        if let Some(refusal) = self.await_review(run, text)? {
            return Ok(refused(refusal));
        }
        match self.execute(run, text)? {
            Ok(applied) => {
                // The session holds the review of the reply that was executed last.
                let is_last = applied.session.sequence_number == applied.sequence + 1;
                let review = if is_last { applied.session.review } else { String::new() };
                let results = applied.results.into_iter().map(edit_result).collect();
                Ok(Applied { refusal: None, results, review })
            }
            Err(refusal) if refusal.is_about_the_reply => Ok(refused(refusal.message)),
            Err(refusal) => Err(engine_error(refusal.into_failure())),
        }
    }

    fn run_command(&self, run: u32, command: &str) -> Result<CommandOutput, EngineError> {
        let block = Block::RunCommand { command: command.trim().into(), background: None };
        let mut run = run;
        loop {
            let applied = self.execute_own(run, &block)?;
            let begun_before = applied.was_resumed || !applied.is_executed;
            let missing = || engine_error(Failure::new(Exit::Failed, "the command has no result"));
            let result = applied.results.into_iter().next().ok_or_else(missing)?;
            let output = result.text().into_owned();
            let CommandResult { summary, success, .. } = result;
            // One that a crash or Ctrl-C has cut off says nothing about the edits. As a new run it runs again.
            if begun_before && !success && !summary.starts_with(HAS_RUN) {
                run = self.pending_run()?;
                continue;
            }
            let outcome = summary.lines().last().unwrap_or_default().to_owned();
            return Ok(CommandOutput { command: command.to_owned(), succeeded: success, outcome, output });
        }
    }

    fn touched(&self) -> Result<Vec<String>, EngineError> {
        let paths = self.sessions.paths();
        let Some(journal) = paths.journal_reader().map_err(engine_error)? else { return Ok(Vec::new()) };
        let id = self.id.to_string();
        touched_paths(&journal, paths, TouchedBy::Session(&id), self.untouched)
            .map_err(|error| engine_error(Failure::new(Exit::Failed, error.to_string())))
    }

    fn respond(&self, reading: &Reading, output: Option<&CommandOutput>) -> Result<Response, EngineError> {
        // Opened for each request: the builder's edits lie in between.
        let responding = Responding::once(self.common, self.console, &self.form, self.cancel);
        Ok(responding.map_err(engine_error)?.respond_with(reading, output))
    }

    fn finish(&self, run: u32, summary: &str) -> Result<(), EngineError> {
        let summary = visible_line(summary, SUMMARY_CHARACTERS);
        self.execute_own(run, &Block::Done { summary: summary.trim().into() }).map(drop)
    }
}

/// Checks whether blocks of a kind change files or run something.
fn is_edit(kind: BlockKind) -> bool {
    !matches!(kind, BlockKind::ReadFile | BlockKind::Message | BlockKind::Done)
}

fn refused(refusal: String) -> Applied {
    Applied { refusal: Some(refusal), ..Applied::default() }
}

fn edit_result(result: CommandResult) -> EditResult {
    let is_edit = match result.command_type {
        CommandType::Block(kind) => is_edit(kind),
        CommandType::ParseError => true,
    };
    let details = result.text().into_owned();
    EditResult { summary: result.summary, details, succeeded: result.success, is_edit }
}

fn engine_error(failure: Failure) -> EngineError {
    let is_cancelled = failure.exit == Exit::Interrupted;
    EngineError { message: failure.message, advice: failure.advice, exit: failure.exit as u8, is_cancelled }
}
