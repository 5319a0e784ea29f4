//! Paste repair.

mod properties;
mod rules;
