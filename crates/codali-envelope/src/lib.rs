#![doc = include_str!("../README.md")]

mod adapter;
mod almost_yaml;
pub mod critic;
mod envelope_text;
mod error;
mod escapes;
mod fields;
mod forgiving;
mod form;
mod header;
pub mod history;
mod json;
mod limits;
mod need;
mod need_reader;
mod need_result;
mod node;
mod path_rule;
mod read_request;
mod read_response;
mod request;
mod request_id;
mod response;
mod role;
mod version;
mod warning;
mod web;
mod yaml;

pub use adapter::{AnswerOptions, Budget, GUIDANCE, RootForm, Sources, Stopwatch, answer, refuse};
pub use critic::CriticResult;
pub use error::{ReadError, ReadErrorKind};
pub use form::{Form, UnknownForm, render_request, render_response};
pub use limits::ReadLimits;
pub use need::{DagFormat, DelegateNeed, DelegateRole, Need, NeedKind, OpenNeed, TreeNeed};
pub use need_result::{
    AstResult, FailedResult, FileDiffResult, FileListResult, FileReadResult, ImpactDiagnosticsResult,
    ImpactResult, NeedResult, OpenResult, OtherResult, SearchResult, SnippetResult, SymbolsResult,
    TreeResult, WebResult,
};
pub use read_request::{ReadOptions, Reading, RejectedNeed, Strictness, extract_request, read_request};
pub use read_response::read_response;
pub use request::{Context, Request};
pub use request_id::{MalformedRequestId, RequestId};
pub use response::{Meta, Response};
pub use role::Role;
pub use version::VERSION;
pub use warning::{Warning, WarningCode};
pub use web::{WebError, WebHit, WebSearch};
