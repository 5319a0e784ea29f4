//! The messages of a history.

use serde::{Deserialize, Serialize};

/// One message of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The speaker.
    pub speaker: Speaker,
    /// The text.
    pub text: String,
}

/// The speaker of a message. There is no system speaker: the system prompt is not part of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The user, or a program in that role.
    User,
    /// The agent.
    Agent,
    /// A response with results.
    Codali,
    /// A summary of removed messages.
    Summary,
}

/// The messages of a conversation, oldest first. A summary, if there is one, is the first message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct History {
    pub(super) messages: Vec<Message>,
    /// The messages that were left out without a summary so far.
    #[serde(skip)]
    pub(super) left_out: u64,
}

impl FromIterator<Message> for History {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> History {
        History { messages: messages.into_iter().collect(), left_out: 0 }
    }
}

impl History {
    /// Returns a history without messages.
    #[must_use]
    pub fn new() -> History {
        History::default()
    }

    /// Adds a message at the end.
    pub fn push(&mut self, speaker: Speaker, text: impl Into<String>) {
        self.messages.push(Message { speaker, text: text.into() });
    }

    /// Returns the number of messages that were left out without a summary so far. It is not part of the history's JSON form.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns the same messages with `count` recorded as left out without a summary.
    #[must_use]
    pub fn with_left_out(self, count: u64) -> History {
        History { left_out: count, ..self }
    }

    /// Returns the messages, oldest first.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }
}
