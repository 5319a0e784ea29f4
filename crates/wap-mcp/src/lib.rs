#![doc = include_str!("../README.md")]

mod answer;
mod app;
mod change_text;
mod code_tools;
mod config;
mod contributed;
mod extra_calls;
mod extra_tool;
mod giving_up;
mod history;
mod http;
mod one_line;
mod output_text;
mod page;
mod progress;
mod prompts;
mod questions;
mod recent_outputs;
mod resources;
mod search_text;
mod server;
mod short_listing;
mod stdio;
mod strict_schema;
mod tasks;
mod text;
mod tool_list;

pub use code_tools::CodeIndexSource;
pub use config::{McpConfig, ServerName};
pub use contributed::{
    Contribution, ContributionCall, Contributions, LogLevel, Need, Outcome, ResourceChanges,
};
pub use extra_tool::ExtraTool;
pub use history::{LogPage, WorkspaceHistory};
pub use http::{BoundedSessions, HttpMcp, SessionRoom, SessionsError};
pub use page::PageLimit;
pub use questions::{
    LineKind, Question, Questions, ReviewProgress, ReviewQuestions, ShownLine, ShownReview, ShownStep,
    Verdict, Wanted,
};
pub use recent_outputs::RecentOutputs;
pub use resources::{
    Listed, ListedPage, Mark, NameError, ResourceName, SubscriptionDesk, Watched, WorkspaceResources,
};
pub use server::McpServer;
pub use stdio::serve_stdio;
pub use tasks::{CommandTasks, LISTEN as LISTEN_METHOD, TaskProgress, TaskView, rename_older};
