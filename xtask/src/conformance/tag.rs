//! Cases of the bracket-tag protocol.

pub(crate) mod carried_out;
pub(crate) mod cut_off_replies;
pub(crate) mod exec;
pub(crate) mod flow;
pub(crate) mod message_parts;
pub(crate) mod numbered_views;
pub(crate) mod parse;
pub(crate) mod paste;
