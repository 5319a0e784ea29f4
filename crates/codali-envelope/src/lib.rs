#![doc = include_str!("../README.md")]

mod adapter;
pub mod critic;
mod envelope_text;
mod error;
mod form;
mod header;
pub mod history;
mod limits;
mod request;
mod response;
mod version;
mod web;
mod yaml;

pub use adapter::{
    AnswerOptions, Budget, CommandOutput, GUIDANCE, RootForm, Sources, Stopwatch, answer, refuse,
};
pub use critic::CriticResult;
pub use error::{ReadError, ReadErrorKind};
pub use form::{Form, UnknownForm, render_request, render_response};
pub use limits::ReadLimits;
pub use request::need::{DagFormat, DelegateNeed, DelegateRole, Need, NeedKind, OpenNeed, TreeNeed};
pub use request::read_request::{
    ReadOptions, Reading, RejectedNeed, Strictness, extract_request, read_request,
};
pub use request::request_id::{MalformedRequestId, RequestId};
pub use request::role::Role;
pub use request::{Context, Request};
pub use response::need_result::{
    AstResult, CommandOutputResult, FailedResult, FileDiffResult, FileListResult, FileReadResult,
    ImpactDiagnosticsResult, ImpactResult, NeedResult, OpenResult, OtherResult, SearchResult, SnippetResult,
    SymbolsResult, TreeResult, WebResult,
};
pub use response::read_response::read_response;
pub use response::warning::{Warning, WarningCode};
pub use response::{Meta, Response};
pub use version::VERSION;
pub use web::{WebError, WebHit, WebSearch};
