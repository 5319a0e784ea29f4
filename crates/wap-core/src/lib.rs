//! The Workspace Agent Protocol (WAP) 1.0 as types.
//!
//! This crate owns the shapes that every protocol adapter and every engine agree on: the requests and responses
//! of the seven tools and of `deleteFile`, the limits, the error codes with their reasons, the default
//! exclusions, and the traits that stand between adapters and engines: [`Workspace`], and [`CodeIndex`] for what can be
//! asked about code.
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
//! Features: `schema` derives JSON Schema for every request and response; `memory` adds `MemoryWorkspace` and
//! `MemoryIndex`.

mod bounds;
mod call;
mod cancel;
mod code_index;
mod conversation;
mod delegating_index;
mod delete_file;
mod error;
mod exclusions;
mod execute_command;
mod explore_files;
mod file_change;
mod file_states;
mod index_error;
mod last_answer;
mod limits;
mod line_choice;
pub mod llm4s;
#[cfg(feature = "memory")]
mod memory;
#[cfg(feature = "memory")]
mod memory_index;
mod metadata;
mod modify_file;
mod observer;
mod read_file;
mod search_files;
mod shown_versions;
mod together;
mod tool;
#[cfg(feature = "schema")]
mod tool_schema;
mod tool_table;
mod version;
mod visible_text;
mod workspace;
mod workspace_info;
mod write_file;

pub use bounds::{JsonValues, check_json_size};
pub use call::{Call, ConversationId, Origin, Retention, RunKey};
pub use cancel::{CancelFlag, CancelGuard};
pub use code_index::{
    AstNode, CodeHit, CodeIndex, CodeSymbol, DiagnoseImpact, DiagnoseImpactResponse, Freshness, ImpactEdge,
    IndexState, ListSymbols, ListSymbolsResponse, ReadAst, ReadAstResponse, ReadImpact, ReadImpactResponse,
    ReadSnippet, ReadSnippetResponse, SearchCode, SearchCodeResponse, UnresolvedImport,
};
pub use conversation::Conversation;
pub use delegating_index::DelegatingIndex;
pub use delete_file::{DeleteFile, DeleteFileResponse};
pub use error::{ErrorCode, Reason, WapError};
pub use exclusions::{DEFAULT_EXCLUSIONS, Exclusions};
pub use execute_command::{ExecuteCommand, ExecuteCommandResponse, OUTPUT_PREFIX};
pub use explore_files::{EntryKind, ExploreFiles, ExploreFilesResponse, ExploredFile};
pub use file_change::{FileChange, FileChanged};
pub use file_states::{FileState, FileStates, Moment};
pub use index_error::IndexError;
pub use last_answer::LastAnswer;
pub use limits::Limits;
pub use line_choice::{LineConflict, LineDoubt, LineReading, SeenVersions, choose_lines, doubt_text};
#[cfg(feature = "memory")]
pub use memory::MemoryWorkspace;
#[cfg(feature = "memory")]
pub use memory_index::MemoryIndex;
pub use metadata::FileMetadata;
pub use modify_file::{
    CarriedLines, LineNumbers, LineShift, ModifyFile, ModifyFileResponse, ModifyOperation, RegexReplacements,
};
pub use observer::{CommandObserver, OutputStream, Unobserved};
pub use read_file::{ReadFile, ReadFileResponse};
pub use search_files::{QueryType, SearchFiles, SearchFilesResponse, SearchMatch, Skipped};
pub use shown_versions::{LineSpan, ShownVersions};
pub use together::{LineExchange, NotTogether, Reversible, change_together};
pub use tool::{Request, Response, Tool};
#[cfg(feature = "schema")]
pub use tool_schema::{compact_schema, outline_schema, schema_of};
pub use tool_table::{GUIDELINES, ToolEffect};
pub use version::FileVersion;
pub use visible_text::visible_text;
pub use workspace::{Workspace, WorkspaceExt};
pub use workspace_info::WorkspaceInfo;
pub use write_file::{WriteFile, WriteFileResponse, WriteMode};
