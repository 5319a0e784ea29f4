//! The needs of a request.

use serde::Serialize;
use serde_json::{Map, Value};

/// One need of a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Need {
    /// The kind, with its fields.
    #[serde(flatten)]
    pub kind: NeedKind,
    /// Unknown fields, which are preserved.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl From<NeedKind> for Need {
    fn from(kind: NeedKind) -> Need {
        Need { kind, extra: Map::new() }
    }
}

/// The kinds of needs, with their fields. Numbers are within their ranges once a request has been read.
///
/// Source: Codali protocol, supported request types; ruling in docs/codali.md.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum NeedKind {
    /// A search for words.
    #[serde(rename = "docdex.search")]
    Search {
        /// The words.
        query: String,
        /// The most hits, 1 to 100.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// A document from an earlier search.
    #[serde(rename = "docdex.snippet")]
    Snippet {
        /// The document id from the search.
        doc_id: String,
        /// The number of lines, 10 to 400.
        #[serde(skip_serializing_if = "Option::is_none")]
        window: Option<u32>,
    },
    /// Lines of a file, by its path or by a document.
    #[serde(rename = "docdex.open")]
    Open(OpenNeed),
    /// The definitions of a file.
    #[serde(rename = "docdex.symbols")]
    Symbols {
        /// The file.
        file: String,
    },
    /// The syntax tree of a file.
    #[serde(rename = "docdex.ast")]
    Ast {
        /// The file.
        file: String,
        /// The most nodes, 1 to 100,000.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_nodes: Option<u32>,
    },
    /// The dependents and dependencies of a file.
    #[serde(rename = "docdex.impact")]
    Impact {
        /// The file.
        file: String,
        /// The number of steps to follow, 1 to 100.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_depth: Option<u32>,
    },
    /// Unresolved imports.
    #[serde(rename = "docdex.impact_diagnostics")]
    ImpactDiagnostics {
        /// The file; absent for all.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The most imports, 1 to 100.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// The number of imports to skip.
        #[serde(skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
    },
    /// The folders and files.
    #[serde(rename = "docdex.tree")]
    Tree(TreeNeed),
    /// A search of the web.
    #[serde(rename = "docdex.web")]
    Web {
        /// The words.
        query: String,
        /// True to search the web even if the workspace has an answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        force_web: Option<bool>,
    },
    /// The record of a session's reasoning.
    #[serde(rename = "docdex.dag_export")]
    DagExport {
        /// The session.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// The form of the record.
        #[serde(skip_serializing_if = "Option::is_none")]
        format: Option<DagFormat>,
        /// The most nodes, 1 to 100,000.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_nodes: Option<u32>,
    },
    /// A whole file.
    #[serde(rename = "file.read")]
    FileRead {
        /// The file.
        path: String,
    },
    /// The files below a folder.
    #[serde(rename = "file.list")]
    FileList {
        /// The folder.
        root: String,
        /// A glob relative to the folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
    },
    /// Unstaged changes.
    #[serde(rename = "file.diff")]
    FileDiff {
        /// Files and folders; none for everything.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
    },
    /// The output of the command that the flow ran.
    #[serde(rename = "command.output")]
    CommandOutput {},
    /// A task for another agent.
    #[serde(rename = "agent.delegate")]
    Delegate(DelegateNeed),
}

impl NeedKind {
    /// Returns the name of the kind, such as `docdex.search`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            NeedKind::Search { .. } => "docdex.search",
            NeedKind::Snippet { .. } => "docdex.snippet",
            NeedKind::Open(_) => "docdex.open",
            NeedKind::Symbols { .. } => "docdex.symbols",
            NeedKind::Ast { .. } => "docdex.ast",
            NeedKind::Impact { .. } => "docdex.impact",
            NeedKind::ImpactDiagnostics { .. } => "docdex.impact_diagnostics",
            NeedKind::Tree(_) => "docdex.tree",
            NeedKind::Web { .. } => "docdex.web",
            NeedKind::DagExport { .. } => "docdex.dag_export",
            NeedKind::FileRead { .. } => "file.read",
            NeedKind::FileList { .. } => "file.list",
            NeedKind::FileDiff { .. } => "file.diff",
            NeedKind::CommandOutput {} => "command.output",
            NeedKind::Delegate(_) => "agent.delegate",
        }
    }
}

/// Lines of a file. It has a path, a document or both; the path wins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OpenNeed {
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A document id from an earlier search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_id: Option<String>,
    /// The first line, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u64>,
    /// The last line, 1-based and inclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u64>,
    /// The number of lines, 10 to 400.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// The number of lines from the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<u64>,
}

/// A listing of folders and files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TreeNeed {
    /// The folder to begin with; absent for the whole workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The number of levels, 1 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// True to leave out files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirs_only: Option<bool>,
    /// True to include names that begin with a dot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_hidden: Option<bool>,
}

/// A task for another agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DelegateNeed {
    /// The role of the other agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<DelegateRole>,
    /// The task.
    pub goal: String,
    /// The tools that it may use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// The paths that it may read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_paths: Vec<String>,
    /// The paths that it may change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write_paths: Vec<String>,
    /// True if it may not change anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// The most steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
    /// The most calls of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<u64>,
    /// The longest time, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$word_doc:meta])* $word:ident $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
        pub enum $name {
            $($(#[$word_doc])* #[serde(rename = $text)] $word,)+
        }

        impl $name {
            /// All variants.
            pub const ALL: &[$name] = &[$($name::$word,)+];

            /// Returns its word in an envelope.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $($name::$word => $text,)+ }
            }
        }
    };
}

words! {
    /// The forms of a record of reasoning.
    DagFormat {
        /// JSON.
        Json "json",
        /// Plain text.
        Text "text",
        /// A graph in the DOT language.
        Dot "dot",
    }
}

words! {
    /// The role of another agent.
    DelegateRole {
        /// Explores the workspace.
        Explorer "explorer",
        /// Reviews changes.
        Reviewer "reviewer",
        /// Makes changes.
        Worker "worker",
        /// Checks that something works.
        Verifier "verifier",
        /// Defined by the goal.
        Custom "custom",
    }
}
