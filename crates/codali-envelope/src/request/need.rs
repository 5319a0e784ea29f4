//! What an agent can ask for.

use serde::Serialize;
use serde_json::{Map, Value};

/// One thing that a request asks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Need {
    /// What is asked for.
    #[serde(flatten)]
    pub kind: NeedKind,
    /// Fields that mean nothing here; they are kept.
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
    /// A piece of a file that a search has found.
    #[serde(rename = "docdex.snippet")]
    Snippet {
        /// The piece, as the search has named it.
        doc_id: String,
        /// How many lines, 10 to 400.
        #[serde(skip_serializing_if = "Option::is_none")]
        window: Option<u32>,
    },
    /// Lines of a file, by its path or by a piece of it.
    #[serde(rename = "docdex.open")]
    Open(OpenNeed),
    /// What a file defines.
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
    /// What depends on a file, and what it depends on.
    #[serde(rename = "docdex.impact")]
    Impact {
        /// The file.
        file: String,
        /// How many steps to follow, 1 to 100.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_depth: Option<u32>,
    },
    /// Imports that lead nowhere.
    #[serde(rename = "docdex.impact_diagnostics")]
    ImpactDiagnostics {
        /// The file; absent for all.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The most imports, 1 to 100.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// How many to pass over.
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
        /// Whether to ask the web even if the workspace has an answer.
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
    /// The files beneath a folder.
    #[serde(rename = "file.list")]
    FileList {
        /// The folder.
        root: String,
        /// A glob relative to the folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
    },
    /// What has changed and is not staged.
    #[serde(rename = "file.diff")]
    FileDiff {
        /// Files and folders; none for everything.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
    },
    /// A task for another agent.
    #[serde(rename = "agent.delegate")]
    Delegate(DelegateNeed),
}

impl NeedKind {
    /// Returns the name of the kind, `docdex.search` for instance.
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
    /// A piece of a file, as a search has named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_id: Option<String>,
    /// The first line, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u64>,
    /// The last line, 1-based and inclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u64>,
    /// How many lines, 10 to 400.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// How many lines from the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<u64>,
}

/// A listing of folders and files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TreeNeed {
    /// The folder to begin with; absent for the whole workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How many levels, 1 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// Whether to leave out files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirs_only: Option<bool>,
    /// Whether to show names that begin with a dot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_hidden: Option<bool>,
}

/// A task for another agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DelegateNeed {
    /// What the other agent is to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<DelegateRole>,
    /// What it is to do.
    pub goal: String,
    /// What it may use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// What it may look at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_paths: Vec<String>,
    /// What it may change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write_paths: Vec<String>,
    /// Whether it may change nothing.
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
            /// Every one of them.
            pub const ALL: &[$name] = &[$($name::$word,)+];

            /// Returns the word for it.
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
    /// What another agent is to be.
    DelegateRole {
        /// Looks around.
        Explorer "explorer",
        /// Judges.
        Reviewer "reviewer",
        /// Makes changes.
        Worker "worker",
        /// Checks that something works.
        Verifier "verifier",
        /// What the goal says.
        Custom "custom",
    }
}
