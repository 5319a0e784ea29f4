//! A reply as it arrived.

use std::borrow::Cow;

use crate::HeldReply;

/// A reply as it arrived, seen with the one that is held before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming<'a> {
    /// A whole reply, joined to the held one if it continues that.
    Whole(Cow<'a, str>),
    /// A whole reply that begins with the first block of the held one, and is carried out alone.
    Anew(&'a str),
    /// A whole reply that has nothing to do with the held one, of which nothing is ever carried out.
    Instead(&'a str),
    /// A reply that ends inside a block: its whole text, and the part of it to hold.
    CutOff {
        /// The text, joined to the reply that was held before, if it continues that.
        text: Cow<'a, str>,
        /// Its complete lines.
        held: HeldReply,
    },
    /// A reply that should have continued the held one, and of which it is not clear how it does.
    NotContinued,
}

impl Incoming<'_> {
    /// Returns the whole text, as far as it arrived; `None` if it cannot be determined.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Incoming::Whole(text) | Incoming::CutOff { text, .. } => Some(text),
            Incoming::Anew(text) | Incoming::Instead(text) => Some(text),
            Incoming::NotContinued => None,
        }
    }

    /// Checks whether nothing of the reply is carried out. With `run_complete`, the complete blocks of a reply that was cut off
    /// are.
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
