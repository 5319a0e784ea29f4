//! The Workspace Agent Protocol (WAP) 1.0 as types.
//!
//! This crate owns the types that all protocol adapters and engines share: the requests and responses of the seven tools and of
//! `deleteFile`, the limits, the error codes with their reasons, the default exclusions, and the traits between adapters and
//! engines: [`Workspace`], and [`CodeIndex`] for questions about code.
//!
//! It does no I/O, reads no clock and starts no threads. Paths in requests are text as the model wrote it; an
//! engine parses them. Paths in responses are canonical, relative to the root and `/`-separated; a transport
//! that speaks the native dialect makes `metadata.path` absolute with [`Response::with_absolute_metadata`].
//!
//! ```
//! use wap_core::{Request, WriteMode};
//!
//! let arguments = serde_json::json!({ "path": "logs/app.log", "content": "started", "mode": "append" });
//! let Request::WriteFile(write) = Request::parse("writeFile", arguments)? else { unreachable!() };
//! assert_eq!(write.write_mode(), WriteMode::Append);
//! # Ok::<(), wap_core::WapError>(())
//! ```
//!
//! The feature `schema` derives JSON Schema for every request and response. The crate `memory-workspace` implements both
//! traits in memory, for tests.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod bounds;
mod call;
mod cancel;
mod code_index;
mod conversation;
mod error;
mod exclusions;
mod limits;
pub mod llm4s;
mod numbered_view;
mod observer;
mod path_pattern;
mod shown_versions;
mod task_file;
mod together;
mod tool;
mod version;
mod visible_text;
mod workspace;

pub use bounds::{JsonValues, check_json_size};
pub use call::{Call, ConversationId, Origin, Retention, RunKey};
pub use cancel::{CancelFlag, CancelGuard};
pub use code_index::delegating::DelegatingIndex;
pub use code_index::error::IndexError;
pub use code_index::syntax_check::{SyntaxCheck, SyntaxError};
pub use code_index::{
    AstNode, CodeHit, CodeIndex, CodeSymbol, DiagnoseImpact, DiagnoseImpactResponse, Freshness, ImpactEdge,
    IndexState, ListSymbols, ListSymbolsResponse, ReadAst, ReadAstResponse, ReadImpact, ReadImpactResponse,
    ReadSnippet, ReadSnippetResponse, SearchCode, SearchCodeResponse, UnresolvedImport,
};
pub use conversation::Conversation;
pub use conversation::last_answer::LastAnswer;
pub use error::{ErrorCode, Reason, WapError};
pub use exclusions::credential_name::{holds_credentials_if_keyed, usually_holds_credentials};
pub use exclusions::withheld_files::{WithheldFiles, WithheldRule};
pub use exclusions::{DEFAULT_EXCLUSIONS, Exclusions};
pub use limits::Limits;
pub use numbered_view::{numbered_line, numbered_view, push_numbered_view, unnumbered};
pub use observer::{CommandObserver, OutputStream, Unobserved};
pub use path_pattern::PathPattern;
pub use shown_versions::{LineSpan, ShownVersions};
pub use task_file::TaskFile;
pub use together::{LineExchange, NotTogether, Reversible, change_together};
pub use tool::delete_file::{DeleteFile, DeleteFileResponse};
pub use tool::denied::Denied;
pub use tool::execute_command::{ExecuteCommand, ExecuteCommandResponse, OUTPUT_PREFIX};
pub use tool::explore_files::{EntryKind, ExploreFiles, ExploreFilesResponse, ExploredFile};
pub use tool::file_change::{FileChange, FileChanged};
pub use tool::file_kind::FileKind;
pub use tool::file_states::{FileState, FileStates, Moment};
pub use tool::judged_file::JudgedFile;
pub use tool::line_choice::{LineConflict, LineDoubt, LineReading, SeenVersions, choose_lines, doubt_text};
pub use tool::metadata::FileMetadata;
pub use tool::modify_file::{
    CarriedLines, ChangedLines, LineNumbers, LineShift, ModifyFile, ModifyFileResponse, ModifyOperation,
    NearLine, RegexReplacements, ViewNumbers, WholeLines,
};
pub use tool::process::{
    MOST_PROCESSES, PROCESS_PREFIX, ProcessState, StartedProcess, StopProcess, StopProcessResponse,
    check_process_name, check_ready_text,
};
pub use tool::read_file::{ReadFile, ReadFileResponse};
#[cfg(feature = "schema")]
pub use tool::schema::{compact_schema, outline_schema, schema_of};
pub use tool::search_files::{QueryType, SearchFiles, SearchFilesResponse, SearchMatch, Skipped};
pub use tool::table::{GUIDELINES, ToolEffect};
#[cfg(feature = "schema")]
pub use tool::unknown_arguments::UnknownArguments;
pub use tool::workspace_info::WorkspaceInfo;
pub use tool::write_file::{WriteFile, WriteFileResponse, WriteMode};
pub use tool::{Request, Response, Tool};
pub use version::FileVersion;
pub use visible_text::{INVISIBLE, is_invisible, visible_line, visible_text};
pub use workspace::{Workspace, WorkspaceExt};
