//! The user's answer to a question of the model.

use std::io::IsTerminal;

use tagproto::Session;
use wap_core::CancelFlag;
use workspace_host::{AnswerModel, SharedSessions};

use crate::commands::session::following_loop::Loop;
use crate::exit::Failure;
use crate::views::console::Console;
use crate::views::typed_line::typed_line;

/// Puts an answer of the user into the pending message.
pub(super) fn answer(
    console: Console,
    sessions: &SharedSessions,
    session: &Session,
    text: String,
    cancel: &CancelFlag,
) -> Result<Session, Failure> {
    let request = AnswerModel { id: session.session_id, sequence: session.sequence_number, text };
    let session = sessions.call(&request, cancel)?;
    console.progress(&format!("message {} has your answer", session.sequence_number));
    Ok(session)
}

impl Loop<'_> {
    /// Asks the user for an answer to the model's question, and puts it into the pending message. Without a terminal it says how to
    /// answer.
    pub(super) fn answered(&self, session: Session) -> Result<Session, Failure> {
        if !can_ask() {
            let id = session.session_id;
            self.console.notice(&format!(
                "  the model asks something: `agentd resume {id} --answer TEXT` answers it"
            ));
            return Ok(session);
        }
        match typed_answer(self.cancel) {
            Some(text) => answer(self.console, self.sessions, &session, text, self.cancel),
            None => Ok(session),
        }
    }
}

/// Checks whether the user can be asked.
fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks the user for an answer of one line; `None` if there is none, or if the flag is raised.
fn typed_answer(cancel: &CancelFlag) -> Option<String> {
    let line = typed_line("your answer (Enter alone: none): ", cancel)?;
    let answer = line.trim();
    (!answer.is_empty()).then(|| answer.to_owned())
}
