//! Results that are lists.

use std::ops::Not;

use serde::{Deserialize, Serialize};
use wap_core::{AstNode, CodeHit, CodeSymbol, ImpactEdge, UnresolvedImport};

use crate::WebHit;

/// A result with a list that may be truncated: its fields, then `truncated` and the total number of items.
macro_rules! cut_list {
    (
        $(#[$about:meta])*
        pub struct $name:ident { $($fields:tt)* }
        $(#[$about_total:meta])*
        $total:ident
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($fields)*
            /// True if items were left out.
            #[serde(default, skip_serializing_if = "Not::not")]
            pub truncated: bool,
            $(#[$about_total])*
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $total: Option<u64>,
        }
    };
}

cut_list! {
    /// Hits of a search, best first.
    pub struct SearchResult {
        /// The query.
        pub query: String,
        /// The hits.
        pub hits: Vec<CodeHit>,
    }
    /// The total number of hits, if some were left out.
    total_hits
}

cut_list! {
    /// The definitions of a file.
    #[derive(Eq)]
    pub struct SymbolsResult {
        /// The file.
        pub file: String,
        /// Its definitions, in the order of the file.
        pub symbols: Vec<CodeSymbol>,
    }
    /// The total number of definitions, if some were left out.
    total_symbols
}

cut_list! {
    /// Nodes of a syntax tree.
    #[derive(Eq)]
    pub struct AstResult {
        /// The file.
        pub file: String,
        /// The nodes, parents before children.
        pub nodes: Vec<AstNode>,
    }
    /// The total number of nodes, if some were left out.
    total_nodes
}

cut_list! {
    /// The dependencies of a file.
    #[derive(Eq)]
    pub struct ImpactResult {
        /// The file.
        pub file: String,
        /// Files that depend on it.
        pub inbound: Vec<ImpactEdge>,
        /// Files that it depends on.
        pub outbound: Vec<ImpactEdge>,
        /// The number of its unresolved imports, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub unresolved: Option<u64>,
    }
    /// The total number of files in both lists, if some were left out.
    total_edges
}

cut_list! {
    /// Unresolved imports.
    #[derive(Eq)]
    pub struct ImpactDiagnosticsResult {
        /// The file; absent for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
        /// The imports, by file and line.
        pub diagnostics: Vec<UnresolvedImport>,
    }
    /// The total number of imports, if some were left out.
    total_diagnostics
}

cut_list! {
    /// The results of a web search.
    #[derive(Eq)]
    pub struct WebResult {
        /// The query.
        pub query: String,
        /// The pages, best first.
        pub results: Vec<WebHit>,
    }
    /// The total number of pages, if some were left out.
    total_results
}

cut_list! {
    /// The files below a folder.
    #[derive(Eq)]
    pub struct FileListResult {
        /// The folder, as requested.
        pub root: String,
        /// The glob, as requested.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pattern: Option<String>,
        /// The files, relative to the workspace, sorted by bytes.
        pub files: Vec<String>,
    }
    /// The total number of files, if some were left out; absent if not all folders could be listed.
    total_files
}
