//! A conversation with an agent that keeps no history: all messages so far are sent each time.

use codali_envelope::history::{ContextWindow, History, Prompt, Speaker, Summarizer, TokenCounter};
use wap_core::CancelFlag;

use crate::{HistoryFile, HistoryFileError};

/// A conversation that is kept in a file.
pub struct Conversation<'a> {
    /// The file, which is written before a prompt is returned.
    pub file: HistoryFile,
    /// The size of the agent's window.
    pub window: ContextWindow,
    /// Counts the tokens of texts.
    pub counter: &'a dyn TokenCounter,
    /// The text before the history in each prompt.
    pub system: &'a str,
    /// Ends a step early; the file then stays unchanged.
    pub cancel: &'a CancelFlag,
}

/// The result of one step of a conversation.
#[derive(Debug)]
pub enum Turn {
    /// The next prompt for the agent.
    Next(Prompt),
    /// The step was cancelled, and the file is unchanged.
    Cancelled,
}

impl Conversation<'_> {
    /// Returns the messages so far.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.file.history
    }

    /// Adds a message of the user.
    ///
    /// # Errors
    ///
    /// [`HistoryFileError`] if the file cannot be written, or was changed by another program.
    pub fn add_task(
        &mut self,
        task: &str,
        summarizer: &mut dyn Summarizer,
    ) -> Result<Turn, HistoryFileError> {
        self.file.history.push(Speaker::User, task);
        self.next(summarizer)
    }

    /// Adds a request of the agent and the rendered response to it.
    ///
    /// # Errors
    ///
    /// [`HistoryFileError`] if the file cannot be written, or was changed by another program.
    pub fn add_response(
        &mut self,
        reply: &str,
        response: String,
        summarizer: &mut dyn Summarizer,
    ) -> Result<Turn, HistoryFileError> {
        if self.cancel.is_cancelled() {
            return Ok(Turn::Cancelled);
        }
        // Add both or none: a request without its response would stay open in every later prompt.
        self.file.history.push(Speaker::Agent, reply);
        self.file.history.push(Speaker::Codali, response);
        self.next(summarizer)
    }

    /// Adds a reply without a request. The agent is not called again before the next message of the user.
    ///
    /// # Errors
    ///
    /// [`HistoryFileError`] if the file cannot be written, or was changed by another program.
    pub fn add_final_reply(&mut self, reply: &str) -> Result<(), HistoryFileError> {
        self.file.history.push(Speaker::Agent, reply);
        self.file.write()
    }

    /// Shortens the history to the window, writes the file, and returns the next prompt.
    fn next(&mut self, summarizer: &mut dyn Summarizer) -> Result<Turn, HistoryFileError> {
        let prompt = self.file.history.prompt(self.system, &self.window, self.counter, summarizer);
        if self.cancel.is_cancelled() {
            return Ok(Turn::Cancelled);
        }
        // Write the file before the prompt is sent: the agent's answer must find it in the history.
        self.file.write()?;
        Ok(Turn::Next(prompt))
    }
}
