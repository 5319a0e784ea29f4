#![doc = include_str!("../README.md")]

pub mod confinement;
mod failure;
mod history;
pub mod homes;
mod json_lines;
pub mod json_rpc;
pub mod last_change;
pub mod line_input;
mod notices;
pub mod obeyed_names;
mod options;
mod owner;
mod reply_plan;
pub mod review;
mod secret_use;
pub mod session_failure;
pub mod state;
mod tasks;
pub mod user_file;

pub use confinement::own_programs::OwnPrograms;
pub use failure::{Exit, Failure};
pub use history::{
    Blame, BlamedLine, ListedRun, LogPart, LogRange, RunLine, RunPage, RunViews, TouchedBy, TouchedError,
    blame, bookkeeping_paths, log, log_page, log_range, log_text, touched_paths, undo_lines, undo_text,
};
pub use json_lines::{LinesEnd, serve_json_lines};
pub use notices::{NoNotices, Notices, SharedNotices};
pub use options::{HostOptions, USUAL_COMMAND_TIMEOUT};
pub use owner::Door;
pub use owner::followed_sessions::FollowedSession;
pub use owner::garbage_call::{CollectGarbage, Collected};
pub use owner::handover_call::DescribeWork;
pub use owner::owner_connection::{ConnectError, OwnerConnection};
pub use owner::process_calls::{ListProcesses, StopListedProcess};
pub use owner::protocol::{Hello, Welcome};
pub use owner::reply_calls::{AppliedReply, ApplyReply, PlanReply, ReplyState, SessionReply};
pub use owner::session_call::{
    AnswerModel, Caller, CreateSession, ReopenSession, SessionCall, SessionRefusal, WholeOutbox,
};
pub use owner::session_progress::Watching;
pub use owner::shared_sessions::SharedSessions;
pub use owner::shared_workspace::SharedWorkspace;
pub use owner::undo_request::{Obstacle, UndoAnswer, UndoRefusal, UndoRequest};
pub use reply_plan::{PlanLine, ReplyPlan};
pub use review::calls::{
    AnsweredProposal, AwaitReview, DecideProposal, DecidedProposal, DropProposal, ListProposals,
    ProposeCalls, ProposeReply, SaveDraft, ShowProposal, ShownProposal, TryProposal,
};
pub use review::proposal_text::proposal_text;
pub use review::reviewed_workspace::{ReviewPolicy, ReviewedWorkspace};
pub use review::visible_file_step::visible_file_step;
pub use secret_use::{SecretMapFile, SecretRules, SecretUse};
pub use state::{LocalSessions, Opened, ReadingEngine, ReadingFolder, STATE_FOLDER, WorkspacePaths};
pub use tasks::calls::{CancelTask, ListTasks, ShowTask, StartTask};
pub use tasks::{TaskId, TaskIdError, TaskRecord, TaskState};
