//! The text of the PROTOCOL section, which explains to a model how to answer an outbox.

use crate::Dialect;

macro_rules! protocol_text {
    ($dialect:literal) => {
        concat!(
            include_str!("protocol_text/blocks.txt"),
            include_str!(concat!("protocol_text/", $dialect, ".txt")),
            include_str!("protocol_text/manners.txt"),
            include_str!(concat!("protocol_text/", $dialect, "_files.txt")),
        )
    };
}

/// The text of the PROTOCOL section of later messages in the dialect [`Dialect::Agentd`], which refers to the first message.
pub(crate) const SHORT_PROTOCOL_TEXT: &str = include_str!("protocol_text/later.txt");

/// Returns the text of the PROTOCOL section, which is the same in every outbox of a dialect except for those that refer to an
/// earlier one.
///
/// All its lines end with LF.
#[must_use]
pub const fn protocol_text(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Agentd => protocol_text!("agentd"),
        Dialect::CodingAgent => protocol_text!("codingagent"),
    }
}
