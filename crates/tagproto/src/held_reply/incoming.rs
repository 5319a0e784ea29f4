//! A reply as it arrived.

use std::borrow::Cow;

use crate::HeldReply;

/// A reply as it arrived, in relation to the held reply before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming<'a> {
    /// A whole reply, joined to the held reply if it continues it.
    Whole(Cow<'a, str>),
    /// A whole reply that begins with the first block of the held reply, and is carried out alone.
    Anew(&'a str),
    /// A whole reply unrelated to the held reply, which is dropped.
    Instead(&'a str),
    /// A reply that ends inside a block: its whole text, and the part of it to hold.
    CutOff {
        /// The text, joined to the previously held reply if it continues it.
        text: Cow<'a, str>,
        /// Its complete lines.
        held: HeldReply,
    },
    /// A reply that should have continued the held reply, but may not do so.
    NotContinued,
}

impl Incoming<'_> {
    /// Returns the whole text that arrived; `None` if it cannot be determined.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Incoming::Whole(text) | Incoming::CutOff { text, .. } => Some(text),
            Incoming::Anew(text) | Incoming::Instead(text) => Some(text),
            Incoming::NotContinued => None,
        }
    }

    /// Checks whether nothing of the reply is carried out. With `run_complete`, the complete blocks of a reply that was cut off
    /// are carried out.
    #[must_use]
    pub fn is_held(&self, run_complete: bool) -> bool {
        match self {
            Incoming::Whole(_) | Incoming::Anew(_) | Incoming::Instead(_) => false,
            Incoming::CutOff { .. } => !run_complete,
            Incoming::NotContinued => true,
        }
    }

    /// Returns the part to hold.
    #[must_use]
    pub fn into_held(self) -> Option<HeldReply> {
        match self {
            Incoming::CutOff { held, .. } => Some(held),
            _ => None,
        }
    }
}
