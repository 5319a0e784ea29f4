//! Codali envelopes: what an agent without tools asks for, and what it gets back, as text.
//!
//! An agent that only writes text asks with an `AGENT_REQUEST`: a list of needs (search this, read that) in YAML, or in
//! what models write when they mean YAML. [`extract_request`] finds the request in a model's reply, [`read_request`] reads
//! one that stands alone, and a bad need does not sink the good ones. [`answer`] has a workspace and an index answer it.
//! [`render_response`] writes the `CODALI_RESPONSE`
//! with one result for each need, in either of two [`Form`]s; [`read_response`] and [`render_request`] are the ways back.
//! [`critic`] judges what a builder has done, [`history`] keeps what was said within an agent's window.
//!
//! No function here does I/O of its own, reads a clock or looks at the environment.
//!
//! ```
//! use codali_envelope::{NeedKind, ReadOptions, extract_request};
//!
//! let reply = "Let me look first.\n\nAGENT_REQUEST v1\nrequest_id: r-1\nneeds:\n  - type: docdex.search\n    query: error: not found\n";
//! let reading = extract_request(reply, &ReadOptions::default())?;
//! let query = NeedKind::Search { query: "error: not found".into(), limit: None };
//! assert_eq!(reading.request.needs[0].kind, query);
//! # Ok::<(), codali_envelope::ReadError>(())
//! ```
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

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

pub use adapter::{AnswerOptions, Budget, GUIDANCE, RootShown, Sources, Stopwatch, answer, refuse};
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
    AstResult, FailedResult, FileDiffResult, FileListResult, FileReadResult, ImpactDiagnosticsResult,
    ImpactResult, NeedResult, OpenResult, OtherResult, SearchResult, SnippetResult, SymbolsResult,
    TreeResult, WebResult,
};
pub use response::read_response::read_response;
pub use response::warning::{Warning, WarningCode};
pub use response::{Meta, Response};
pub use version::VERSION;
pub use web::{WebError, WebHit, WebSearch};
