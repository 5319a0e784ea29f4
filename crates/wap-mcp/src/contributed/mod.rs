//! Tools, prompts and resources that the author of a server adds to those of the workspace.
//!
//! A contribution answers each request in steps: it is done, or it asks the client something and is called again with the
//! answers. The server does the rest in both eras: it asks while the request waits in 2025-11-25, and answers with the questions
//! in 2026-07-28. A contribution does not see its client's era.

mod asking;
mod call;
mod capability;
mod changes;
mod client;
mod contribution;
mod contributions;
mod log;
mod log_level;
mod requests;
mod states;
mod steps;

pub use call::ContributionCall;
pub use changes::ResourceChanges;
pub(crate) use changes::TooMany;
pub(crate) use client::ContributionClient;
pub use contribution::{Contribution, Need, Outcome};
pub use contributions::Contributions;
pub use log_level::LogLevel;
pub(crate) use log_level::unknown_level;
