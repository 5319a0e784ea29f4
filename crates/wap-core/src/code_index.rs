//! The interface between protocol adapters and an index of the code in a workspace.

pub(crate) mod delegating;
pub(crate) mod error;
pub(crate) mod syntax_check;

use serde::{Deserialize, Serialize};

use crate::{Call, IndexError};

/// An index of the code in a workspace: full text, symbols, syntax trees and imports.
///
/// An index answers from the text that it has read, which may be older than the files. Every answer therefore carries its
/// [`Freshness`]. Paths in requests are canonical and relative to the root (an adapter checks the paths of a model before the
/// call), and so are paths in answers. Line numbers are 1-based and ranges inclusive.
///
/// Calls block; the caller owns threads. A call ends early when `call.cancel` is raised or `call.time_left` has passed.
///
/// # Errors
///
/// Every method fails with an [`IndexError`]; the index stays usable after any error.
///
/// Source: Codali protocol, supported request types; ruling in docs/codali.md.
pub trait CodeIndex: Send + Sync {
    /// Finds parts of files by words, best first.
    fn search(&self, call: &Call<'_>, request: &SearchCode) -> Result<SearchCodeResponse, IndexError>;

    /// Returns a part of a file that a search returned, with lines around it.
    fn snippet(&self, call: &Call<'_>, request: &ReadSnippet) -> Result<ReadSnippetResponse, IndexError>;

    /// Lists what a file defines.
    fn symbols(&self, call: &Call<'_>, request: &ListSymbols) -> Result<ListSymbolsResponse, IndexError>;

    /// Lists the nodes of a file's syntax tree.
    fn ast(&self, call: &Call<'_>, request: &ReadAst) -> Result<ReadAstResponse, IndexError>;

    /// Lists the files that depend on a file, and those on which it depends.
    fn impact(&self, call: &Call<'_>, request: &ReadImpact) -> Result<ReadImpactResponse, IndexError>;

    /// Lists imports that should resolve to a file of the workspace and do not.
    fn impact_diagnostics(
        &self,
        call: &Call<'_>,
        request: &DiagnoseImpact,
    ) -> Result<DiagnoseImpactResponse, IndexError>;
}

/// The reliability of an answer: the state of the index, and the files that have changed since.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freshness {
    /// The completeness of the index as a whole.
    pub state: IndexState,
    /// Paths in the answer whose files have changed since they were indexed, sorted.
    pub stale_paths: Vec<String>,
}

/// The completeness of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// Every file that should be in the index is in it.
    #[default]
    Ready,
    /// Files are still being read; answers may be incomplete.
    Building,
    /// The index is empty.
    Empty,
}

/// A search for words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchCode {
    /// Words as a person types them. Text that is not a valid query of the index is searched as plain words.
    pub query: String,
    /// The most hits to return.
    pub limit: u32,
}

/// Hits, best first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchCodeResponse {
    /// At most as many as were requested.
    pub hits: Vec<CodeHit>,
    /// The reliability of the answer.
    pub freshness: Freshness,
}

/// A part of a file that matches a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodeHit {
    /// The id of the part for [`CodeIndex::snippet`]; opaque to the caller.
    pub doc_id: String,
    /// The file.
    pub path: String,
    /// The score of the match: larger is better, comparable within one answer only. Finite; the local index has three decimals.
    pub score: f64,
    /// Lines around the best match, with their endings; very long ones may be truncated with `…`.
    pub snippet: String,
    /// First line of the snippet.
    pub line_start: u64,
    /// Last line of the snippet.
    pub line_end: u64,
    /// The estimated number of tokens of the whole part.
    pub token_estimate: u64,
}

/// A request for a part of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSnippet {
    /// The id of the part, from a search.
    pub doc_id: String,
    /// The number of lines to return, centred on the part.
    pub window_lines: u32,
}

/// A part of a file with lines around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadSnippetResponse {
    /// The file.
    pub path: String,
    /// The lines with their endings.
    pub content: String,
    /// First line of the content, if the index reports it.
    pub line_start: Option<u64>,
    /// Last line of the content, if the index reports it.
    pub line_end: Option<u64>,
    /// Lines in the whole file, if the index reports it.
    pub total_lines: Option<u64>,
    /// True if the index left out some lines in between.
    #[serde(default)]
    pub is_truncated: bool,
    /// The reliability of the answer.
    pub freshness: Freshness,
}

/// A request for the definitions in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSymbols {
    /// The file.
    pub file: String,
}

/// The definitions in a file, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSymbolsResponse {
    /// The definitions.
    pub symbols: Vec<CodeSymbol>,
    /// The reliability of the answer.
    pub freshness: Freshness,
}

/// One definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeSymbol {
    /// Its name.
    pub name: String,
    /// Its kind, in the terms of its language: `function`, `method`, `struct`, `class`, `constant` and so on.
    pub kind: String,
    /// Its first line without the body, on one line.
    pub signature: String,
    /// Its first line.
    pub line_start: u64,
    /// Its last line.
    pub line_end: u64,
    /// The definition that contains it; `None` at the top level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
}

/// A request for a syntax tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAst {
    /// The file.
    pub file: String,
    /// The most nodes to return.
    pub max_nodes: u32,
}

/// Nodes of a syntax tree, parents before children, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAstResponse {
    /// At most as many as were requested.
    pub nodes: Vec<AstNode>,
    /// The number of nodes of the tree.
    pub total_nodes: u64,
    /// The reliability of the answer.
    pub freshness: Freshness,
}

/// One node of a syntax tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AstNode {
    /// Its kind, in the terms of the grammar.
    pub kind: String,
    /// The number of nodes that contain it; 0 for the root.
    pub depth: u32,
    /// Its first line.
    pub line_start: u64,
    /// The column at which it begins, in bytes, 1-based.
    pub column_start: u64,
    /// Its last line.
    pub line_end: u64,
    /// The column at which it ends, in bytes, 1-based and exclusive.
    pub column_end: u64,
}

/// A request for the dependencies of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadImpact {
    /// The file.
    pub file: String,
    /// The number of steps over which to follow dependencies; 1 for direct ones.
    pub max_depth: u32,
}

/// The dependencies of a file, sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadImpactResponse {
    /// Files that depend on this one.
    pub inbound: Vec<ImpactEdge>,
    /// Files that this one depends on.
    pub outbound: Vec<ImpactEdge>,
    /// The number of imports of the file that should resolve to a file of the workspace and do not.
    pub unresolved: u64,
    /// The reliability of the answer.
    pub freshness: Freshness,
}

/// One file at the other end of a dependency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImpactEdge {
    /// The other file.
    pub file: String,
    /// The kind of dependency: `import`, `include`, `module` and so on.
    pub kind: String,
    /// The number of steps between the two; 1 for a direct dependency.
    pub depth: u32,
}

/// A request for imports that cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnoseImpact {
    /// Only those of this file; `None` for all files.
    pub file: Option<String>,
    /// The most imports to return.
    pub limit: u32,
    /// The number of imports to skip first.
    pub offset: u64,
}

/// Imports that cannot be resolved, sorted by file and line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnoseImpactResponse {
    /// At most as many as were requested.
    pub diagnostics: Vec<UnresolvedImport>,
    /// The number of all such imports.
    pub total: u64,
    /// The reliability of the answer.
    pub freshness: Freshness,
}

/// An import that should resolve to a file of the workspace and does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnresolvedImport {
    /// The importing file.
    pub file: String,
    /// The line of the import.
    pub line: u64,
    /// The imported name, as the file spells it.
    pub import: String,
}
