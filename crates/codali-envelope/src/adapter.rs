//! Answers requests with a [`Workspace`](wap_core::Workspace) and a [`CodeIndex`](wap_core::CodeIndex).

mod answer;
mod budget;
mod command_output;
mod diff;
mod failure;
mod files;
mod fit;
mod globs;
mod guidance;
mod index;
mod listing;
mod need_call;
mod tree;
mod walk;

pub use answer::{AnswerOptions, RootForm, Sources, Stopwatch, answer, refuse};
pub use budget::Budget;
pub use command_output::CommandOutput;
pub use guidance::GUIDANCE;
