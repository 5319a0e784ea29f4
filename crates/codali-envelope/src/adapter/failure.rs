//! Failed needs.

use serde_json::{Map, Value};
use wap_core::{IndexError, Reason, WapError};

use crate::{FailedResult, Need, NeedKind, NeedResult, Warning, WarningCode};

/// The longest detail of a warning in characters.
const EXCERPT_CHARACTERS: usize = 200;

/// The failure of a need: a code, the object concerned, and a message for the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) code: WarningCode,
    pub(super) detail: Option<String>,
    pub(super) message: Option<String>,
}

impl Failure {
    pub(super) fn new(code: WarningCode) -> Failure {
        Failure { code, detail: None, message: None }
    }

    pub(super) fn about(code: WarningCode, detail: &str) -> Failure {
        Failure { code, detail: Some(excerpt(detail)), message: None }
    }

    pub(super) fn saying(self, message: impl Into<String>) -> Failure {
        Failure { message: Some(message.into()), ..self }
    }

    /// Maps an error of the workspace; `path` is the path of the request, and `otherwise` the code for all other reasons.
    pub(super) fn of_workspace(error: &WapError, path: &str, otherwise: WarningCode) -> Failure {
        let code = match error.reason() {
            Reason::FileNotFound | Reason::PathNotFound | Reason::DirectoryNotFound => {
                WarningCode::FileNotFound
            }
            Reason::PathEscapeAttempt => WarningCode::PathOutsideWorkspace,
            Reason::NotAFile | Reason::IsSymlink => WarningCode::NotAFile,
            Reason::BinaryFile => WarningCode::BinaryFile,
            Reason::Timeout => WarningCode::NeedTimeout,
            Reason::InvalidRange | Reason::InvalidField | Reason::InvalidGlob | Reason::NotADirectory => {
                WarningCode::InvalidField
            }
            _ => otherwise,
        };
        Failure::about(code, path).saying(error.message())
    }

    /// Maps an error of the index; `failed` is the code for every failure but a timeout.
    pub(super) fn of_index(error: &IndexError, failed: WarningCode) -> Failure {
        let failure = match error {
            IndexError::UnknownDocument { doc_id } => Failure::about(failed, doc_id),
            IndexError::UnknownFile { file } | IndexError::UnknownLanguage { file } => {
                Failure::about(failed, file)
            }
            IndexError::TimedOut => Failure::new(WarningCode::NeedTimeout),
            _ => Failure::new(failed),
        };
        failure.saying(error.to_string())
    }

    pub(super) fn warning(&self) -> Warning {
        match &self.detail {
            None => Warning::new(self.code),
            Some(detail) => Warning::with(self.code, detail.clone()),
        }
    }

    /// Returns the failed result of a need, with its identifying fields.
    pub(super) fn result(&self, need: &Need) -> NeedResult {
        self.result_with(need, identity(&need.kind))
    }

    /// Returns the failed result of a need, without its fields.
    pub(super) fn bare_result(&self, need: &Need) -> NeedResult {
        self.result_with(need, Map::new())
    }

    fn result_with(&self, need: &Need, fields: Map<String, Value>) -> NeedResult {
        NeedResult::Failed(FailedResult {
            need_type: need.kind.type_name().to_owned(),
            fields,
            error: self.code.name().to_owned(),
            message: self.message.clone(),
        })
    }
}

/// Cuts a text of a request and replaces control characters, for use in messages.
pub(super) fn excerpt(text: &str) -> String {
    // A line break in a detail could start a line that looks like a field of the response.
    let clean = |one: char| if one.is_control() { '\u{fffd}' } else { one };
    text.chars().take(EXCERPT_CHARACTERS).map(clean).collect()
}

/// Returns the fields that identify a need to the agent.
pub(super) fn identity(kind: &NeedKind) -> Map<String, Value> {
    let text = |name: &str, value: &str| (name.to_owned(), Value::from(value));
    let optional = |name: &str, value: &Option<String>| value.as_ref().map(|value| text(name, value));
    let fields: Vec<Option<(String, Value)>> = match kind {
        NeedKind::Search { query, .. } | NeedKind::Web { query, .. } => vec![Some(text("query", query))],
        NeedKind::Snippet { doc_id, .. } => vec![Some(text("doc_id", doc_id))],
        NeedKind::Open(open) => vec![optional("path", &open.path), optional("doc_id", &open.doc_id)],
        NeedKind::Symbols { file } | NeedKind::Ast { file, .. } | NeedKind::Impact { file, .. } => {
            vec![Some(text("file", file))]
        }
        NeedKind::ImpactDiagnostics { file, .. } => vec![optional("file", file)],
        NeedKind::Tree(tree) => vec![optional("path", &tree.path)],
        NeedKind::DagExport { session_id, .. } => vec![optional("session_id", session_id)],
        NeedKind::FileRead { path } => vec![Some(text("path", path))],
        NeedKind::FileList { root, pattern } => vec![Some(text("root", root)), optional("pattern", pattern)],
        NeedKind::CommandOutput {} => Vec::new(),
        NeedKind::FileDiff { paths } if paths.is_empty() => Vec::new(),
        NeedKind::FileDiff { paths } => vec![Some(("paths".to_owned(), Value::from(paths.clone())))],
        NeedKind::Delegate(delegate) => vec![Some(text("goal", &delegate.goal))],
    };
    fields.into_iter().flatten().collect()
}
