#![doc = include_str!("../README.md")]

mod conversation;
mod flow;
mod history_file;
mod incoming;
mod request_folder;
mod responder;
mod summarizer_command;
mod watch;

pub use conversation::{Conversation, Turn};
pub use flow::{
    Agent, AgentError, Agents, Applied, EditResult, EngineError, Flow, FlowEnd, FlowEngine, FlowError,
    FlowEvent, FlowEvents, FlowFolders, FlowSettings, Plan, StepError, StepFolder, Verdict, read_plan,
    read_verdict,
};
pub use history_file::{HistoryFile, HistoryFileError};
pub use incoming::{Incoming, read_request, warning_response};
pub use request_folder::{DroppedRequest, FolderError, Look, RequestFolder, Unusable};
pub use responder::{Responder, request_origin};
pub use summarizer_command::{NoSummarizer, SummarizerCommand};
pub use watch::{AnsweredFile, FolderGone, WatchEvents, watch};
