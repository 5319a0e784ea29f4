//! Results that are lists.

use std::ops::Not;

use serde::{Deserialize, Serialize};
use wap_core::{AstNode, CodeHit, CodeSymbol, ImpactEdge, UnresolvedImport};

use crate::WebHit;

/// A result with a list that may be cut behind an item: its own fields, and behind them whether it was and how many items
/// there are.
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
            /// Whether something was left out.
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
        /// What was searched for.
        pub query: String,
        /// The hits.
        pub hits: Vec<CodeHit>,
    }
    /// How many hits there were, if some were left out.
    total_hits
}

cut_list! {
    /// What a file defines.
    #[derive(Eq)]
    pub struct SymbolsResult {
        /// The file.
        pub file: String,
        /// Its definitions, in the order of the file.
        pub symbols: Vec<CodeSymbol>,
    }
    /// How many definitions there are, if some were left out.
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
    /// How many nodes there are, if some were left out.
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
        /// How many of its imports lead nowhere; absent if that is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub unresolved: Option<u64>,
    }
    /// How many files there are in both lists, if some were left out.
    total_edges
}

cut_list! {
    /// Imports that lead nowhere.
    #[derive(Eq)]
    pub struct ImpactDiagnosticsResult {
        /// The file; absent for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
        /// The imports, by file and line.
        pub diagnostics: Vec<UnresolvedImport>,
    }
    /// How many there are, if some were left out.
    total_diagnostics
}

cut_list! {
    /// What a search of the web found.
    #[derive(Eq)]
    pub struct WebResult {
        /// What was searched for.
        pub query: String,
        /// What was found, best first.
        pub results: Vec<WebHit>,
    }
    /// How much was found, if some was left out.
    total_results
}

cut_list! {
    /// The files beneath a folder.
    #[derive(Eq)]
    pub struct FileListResult {
        /// The folder, as it was asked for.
        pub root: String,
        /// The glob that was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub pattern: Option<String>,
        /// The files, relative to the workspace, sorted by bytes.
        pub files: Vec<String>,
    }
    /// How many files there are, if some were left out; at least that many, if not all folders could be looked at.
    total_files
}
