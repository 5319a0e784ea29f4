//! The corpus of attacks, and the long list of escapes.

mod blocked;
pub(crate) mod case_kind;
mod cases;
mod escapes;
pub(crate) mod exec_attacks;
mod exec_report;
mod host_objects;
mod phrases;
mod special_cases;
