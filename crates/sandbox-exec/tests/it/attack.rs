//! The corpus of attacks, and the long list of escapes.

mod blocked;
mod cases;
mod escapes;
pub(crate) mod exec_attacks;
mod exec_report;
mod special_cases;
