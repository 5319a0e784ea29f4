//! Clipboard texts that may be the reply to a pending message.

use crate::{Item, RepairKind, ReplyTo, Session, Strictness, read_in};

/// The relation of a clipboard text to the pending message of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clipped {
    /// The reply: it quotes the message's token, or quotes no token and has blocks.
    Reply,
    /// Edits in the format of another program, without the message's token. The user may have copied them for another purpose.
    EditsAlone,
    /// Anything else: prose, an outbox, a reply to another message.
    Other,
}

impl Session {
    /// Determines whether a text that the user copied is the reply to the pending message.
    ///
    /// A text that paste repair refuses, such as an outbox, is [`Clipped::Other`]. Linear in the length of the text.
    ///
    /// # Example
    ///
    /// ```
    /// use tagproto::{Clipped, Dialect, Session, SessionId};
    ///
    /// let session = Session::new(SessionId::from_random([1, 2, 3, 4]), "a task", "2026-01-01T00:00:00Z", Dialect::Agentd, None);
    /// assert_eq!(session.clipped("[READ_FILE path=\"src/a.rs\"]"), Clipped::Reply);
    /// assert_eq!(session.clipped("Reply-To: 01020304-7\n[DONE]\n[/DONE]"), Clipped::Other, "answers another message");
    /// assert_eq!(session.clipped("a phone number"), Clipped::Other);
    /// ```
    #[must_use]
    pub fn clipped(&self, text: &str) -> Clipped {
        let quoted = ReplyTo::find(text);
        if quoted.is_some_and(|quoted| quoted != self.reply_to()) {
            return Clipped::Other;
        }
        // A continuation of a reply that was cut off only has its blocks together with that reply.
        let incoming = self.incoming(text);
        let Some(whole) = incoming.text() else { return Clipped::Other };
        let reply = read_in(whole, Strictness::Repair, self.dialect);
        if reply.refused.is_some() {
            return Clipped::Other;
        }
        if quoted.is_some() {
            return Clipped::Reply;
        }
        if !reply.items.iter().any(|item| matches!(item, Item::Block(_))) {
            return Clipped::Other;
        }
        if reply.repairs.contains(RepairKind::OtherFormat) { Clipped::EditsAlone } else { Clipped::Reply }
    }
}
