//! Strict parsing.

pub(crate) mod properties;
mod rules;
