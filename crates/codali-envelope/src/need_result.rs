//! What a need gave.

use std::ops::Not;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use wap_core::{AstNode, CodeHit, CodeSymbol, ImpactEdge, UnresolvedImport};

use crate::{CriticResult, WarningCode, WebHit};

/// One result of a response.
///
/// What another implementation has sent in a shape of its own is read as [`NeedResult::Other`] and kept as it is.
///
/// Source: Codali protocol, `CODALI_RESPONSE`; ruling in docs/codali.md.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NeedResult {
    /// Of `docdex.search`.
    Search(SearchResult),
    /// Of `docdex.snippet`.
    Snippet(SnippetResult),
    /// Of `docdex.open`.
    Open(OpenResult),
    /// Of `docdex.symbols`.
    Symbols(SymbolsResult),
    /// Of `docdex.ast`.
    Ast(AstResult),
    /// Of `docdex.impact`.
    Impact(ImpactResult),
    /// Of `docdex.impact_diagnostics`.
    ImpactDiagnostics(ImpactDiagnosticsResult),
    /// Of `docdex.tree`.
    Tree(TreeResult),
    /// Of `docdex.web`.
    Web(WebResult),
    /// Of `file.read`.
    FileRead(FileReadResult),
    /// Of `file.list`.
    FileList(FileListResult),
    /// Of `file.diff`.
    FileDiff(FileDiffResult),
    /// The judgement of a critic, which answers no need.
    Critic(CriticResult),
    /// A need that failed.
    Failed(FailedResult),
    /// Anything else.
    Other(OtherResult),
}

macro_rules! typed_results {
    ($($variant:ident $name:literal,)+) => {
        impl NeedResult {
            /// Returns the type of the need that this is the result of.
            #[must_use]
            pub fn type_name(&self) -> &str {
                match self {
                    $(NeedResult::$variant(_) => $name,)+
                    NeedResult::Failed(failed) => &failed.need_type,
                    NeedResult::Other(other) => &other.result_type,
                }
            }

            /// Reads a result; what has no shape that is known here is kept as it is.
            pub(crate) fn from_fields(mut fields: Map<String, Value>) -> NeedResult {
                let result_type = match fields.get("type") {
                    Some(Value::String(name)) => name.clone(),
                    _ => return NeedResult::Other(OtherResult { result_type: String::new(), fields }),
                };
                fields.remove("type");
                let fields = match FailedResult::from_fields(&result_type, fields) {
                    Ok(failed) => return NeedResult::Failed(failed),
                    Err(fields) => fields,
                };
                match result_type.as_str() {
                    $($name => {
                        // The copy is only made of what the typed form does not take.
                        match serde_json::from_value(Value::Object(fields.clone())) {
                            Ok(result) => NeedResult::$variant(result),
                            Err(_) => NeedResult::Other(OtherResult { result_type, fields }),
                        }
                    })+
                    _ => NeedResult::Other(OtherResult { result_type, fields }),
                }
            }
        }

        impl Serialize for NeedResult {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(NeedResult::$variant(fields) => Typed { type_name: $name, fields }.serialize(serializer),)+
                    NeedResult::Failed(failed) => failed.serialize(serializer),
                    NeedResult::Other(other) => other.serialize(serializer),
                }
            }
        }
    };
}

typed_results! {
    Search "docdex.search",
    Snippet "docdex.snippet",
    Open "docdex.open",
    Symbols "docdex.symbols",
    Ast "docdex.ast",
    Impact "docdex.impact",
    ImpactDiagnostics "docdex.impact_diagnostics",
    Tree "docdex.tree",
    Web "docdex.web",
    FileRead "file.read",
    FileList "file.list",
    FileDiff "file.diff",
    Critic "critic.result",
}

#[derive(Serialize)]
struct Typed<'a, T> {
    #[serde(rename = "type")]
    type_name: &'static str,
    #[serde(flatten)]
    fields: &'a T,
}

/// Hits of a search, best first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchResult {
    /// What was searched for.
    pub query: String,
    /// The hits.
    pub hits: Vec<CodeHit>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// How many hits there were, if some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_hits: Option<u64>,
}

/// A piece of a file with lines around it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnippetResult {
    /// The piece.
    pub doc_id: String,
    /// Its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// First line of the content, 1-based.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u64>,
    /// Last line of the content, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u64>,
    /// Lines in the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// The lines.
    pub content: String,
}

/// Lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenResult {
    /// The file as it was asked for, or the file of the piece.
    pub path: String,
    /// The piece, if the file was asked for by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc_id: Option<String>,
    /// First line of the content, 1-based; absent for a whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_start: Option<u64>,
    /// Last line of the content, inclusive; absent for a whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_end: Option<u64>,
    /// Lines in the whole file, if not all of them are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// The lines.
    pub content: String,
}

/// What a file defines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SymbolsResult {
    /// The file.
    pub file: String,
    /// Its definitions, in the order of the file.
    pub symbols: Vec<CodeSymbol>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// How many definitions there are, if some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_symbols: Option<u64>,
}

/// Nodes of a syntax tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AstResult {
    /// The file.
    pub file: String,
    /// The nodes, parents before children.
    pub nodes: Vec<AstNode>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// How many nodes there are, if some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_nodes: Option<u64>,
}

/// The dependencies of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImpactResult {
    /// The file.
    pub file: String,
    /// Files that depend on it.
    pub inbound: Vec<ImpactEdge>,
    /// Files that it depends on.
    pub outbound: Vec<ImpactEdge>,
    /// How many of its imports lead nowhere; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unresolved: Option<u64>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// How many files there are in both lists, if some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_edges: Option<u64>,
}

/// Imports that lead nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImpactDiagnosticsResult {
    /// The file; absent for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The imports, by file and line.
    pub diagnostics: Vec<UnresolvedImport>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// How many there are, if some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_diagnostics: Option<u64>,
}

/// Folders and files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeResult {
    /// The folder that the listing begins with; absent for the whole workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// How many entries there are, if some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_entries: Option<u64>,
    /// One entry a line, indented by two blanks a level, folders with a slash.
    pub tree: String,
}

/// What a search of the web found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebResult {
    /// What was searched for.
    pub query: String,
    /// What was found, best first.
    pub results: Vec<WebHit>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// How much was found, if some was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_results: Option<u64>,
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileReadResult {
    /// The file, as it was asked for.
    pub path: String,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// Lines in the whole file, if not all of them are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// Its text.
    pub content: String,
}

/// The files beneath a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileListResult {
    /// The folder, as it was asked for.
    pub root: String,
    /// The glob that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The files, relative to the workspace, sorted by bytes.
    pub files: Vec<String>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// How many files there are, if some were left out; at least that many, if not all folders could be looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_files: Option<u64>,
}

/// What has changed, as a unified diff.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileDiffResult {
    /// Files and folders that were asked for; none for everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Whether something was left out.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub truncated: bool,
    /// Lines of the whole diff, if not all of them are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
    /// The diff; empty if nothing has changed.
    pub diff: String,
}

/// A need that failed, with the fields by which it can be told.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedResult {
    /// The type of the need; empty if it had none.
    pub need_type: String,
    /// What was asked for.
    pub fields: Map<String, Value>,
    /// Why it failed: the name of a [`WarningCode`], or what another implementation says.
    pub error: String,
    /// What to know about it, in words.
    pub message: Option<String>,
}

impl FailedResult {
    /// Returns the code of the failure; `None` if it is none of ours.
    #[must_use]
    pub fn code(&self) -> Option<WarningCode> {
        WarningCode::from_name(&self.error)
    }

    /// Takes the fields if they say that something failed, and else gives them back.
    fn from_fields(
        need_type: &str,
        mut fields: Map<String, Value>,
    ) -> Result<FailedResult, Map<String, Value>> {
        let has_failed = fields.get("status").is_some_and(|status| status == "error")
            && fields.get("error").is_some_and(Value::is_string)
            && fields.get("message").is_none_or(Value::is_string);
        if !has_failed {
            return Err(fields);
        }
        fields.remove("status");
        let mut text = |name: &str| match fields.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let (error, message) = (text("error").unwrap_or_default(), text("message"));
        Ok(FailedResult { need_type: need_type.to_owned(), fields, error, message })
    }
}

impl Serialize for FailedResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &self.need_type)?;
        for (key, value) in &self.fields {
            map.serialize_entry(key, value)?;
        }
        map.serialize_entry("status", "error")?;
        map.serialize_entry("error", &self.error)?;
        if let Some(message) = &self.message {
            map.serialize_entry("message", message)?;
        }
        map.end()
    }
}

/// A result of a type, or in a shape, that is not known here.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherResult {
    /// Its type; empty if it has none.
    pub result_type: String,
    /// Everything else.
    pub fields: Map<String, Value>,
}

impl Serialize for OtherResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.result_type.is_empty() {
            map.serialize_entry("type", &self.result_type)?;
        }
        for (key, value) in &self.fields {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
