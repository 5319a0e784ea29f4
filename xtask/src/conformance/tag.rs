//! Cases of the bracket-tag protocol.

pub(crate) mod exec;
pub(crate) mod flow;
pub(crate) mod parse;
pub(crate) mod paste;
