//! The tools that use the code index, with answers as text for a model.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use wap_core::{
    Call, CodeIndex, DiagnoseImpact, Freshness, IndexError, IndexState, ListSymbols, ReadAst, ReadImpact,
    ReadSnippet, Reason, SearchCode, WapError,
};

use crate::extra_tool::{self, ExtraTool};

/// The code index of a workspace, which may be opened by the first call that uses it.
pub trait CodeIndexSource: Send + Sync {
    /// Returns the index.
    ///
    /// # Errors
    ///
    /// [`WapError`] if it cannot be opened.
    fn index(&self) -> Result<Arc<dyn CodeIndex>, WapError>;
}

/// The arguments of all the tools; each tool reads its own.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CodeArguments {
    query: Option<String>,
    file: Option<String>,
    doc_id: Option<String>,
    limit: Option<u32>,
    offset: Option<u64>,
    window: Option<u32>,
    max_nodes: Option<u32>,
    max_depth: Option<u32>,
}

/// Answers a call of one of the tools, as text for a model.
pub(crate) fn call(
    source: &dyn CodeIndexSource,
    tool: ExtraTool,
    arguments: Value,
    call: &Call<'_>,
) -> Result<String, WapError> {
    let arguments: CodeArguments = extra_tool::read(arguments)?;
    answer(&*source.index()?, tool, &arguments, call)
}

fn answer(
    index: &dyn CodeIndex,
    tool: ExtraTool,
    arguments: &CodeArguments,
    call: &Call<'_>,
) -> Result<String, WapError> {
    let mut text = String::new();
    // Writing to a `String` does not fail.
    let line = |text: &mut String, written: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{written}");
    };
    let freshness = match tool {
        ExtraTool::DocdexSearch => {
            let query = needed(arguments.query.as_ref(), "query")?;
            let request = SearchCode { query, limit: arguments.limit.unwrap_or(8).clamp(1, 100) };
            let results = index.search(call, &request).map_err(|error| failed(&error))?;
            for hit in &results.hits {
                let (path, doc_id) = (&hit.path, &hit.doc_id);
                line(&mut text, format_args!("{path}:{}-{} (docId {doc_id})", hit.line_start, hit.line_end));
                for content in hit.snippet.lines() {
                    line(&mut text, format_args!("    {content}"));
                }
            }
            results.freshness
        }
        ExtraTool::DocdexSnippet => {
            let doc_id = needed(arguments.doc_id.as_ref(), "docId")?;
            let request = ReadSnippet { doc_id, window_lines: arguments.window.unwrap_or(40).clamp(10, 400) };
            let snippet = index.snippet(call, &request).map_err(|error| failed(&error))?;
            let path = &snippet.path;
            let total = snippet.total_lines.map(|total| format!(" of {total}")).unwrap_or_default();
            let cut = if snippet.is_truncated { ", with lines left out" } else { "" };
            // Without a range there are no numbers to print; after a gap in the lines they would be wrong.
            match (snippet.line_start, snippet.line_end) {
                (Some(first), Some(last)) => {
                    line(&mut text, format_args!("{path}:{first}-{last}{total}{cut}"));
                    for (number, content) in (first..).zip(snippet.content.lines()) {
                        if snippet.is_truncated {
                            line(&mut text, format_args!("        {content}"));
                        } else {
                            line(&mut text, format_args!("{number:>6}  {content}"));
                        }
                    }
                }
                _ => {
                    line(&mut text, format_args!("{path}{total}{cut}"));
                    for content in snippet.content.lines() {
                        line(&mut text, format_args!("        {content}"));
                    }
                }
            }
            snippet.freshness
        }
        ExtraTool::DocdexSymbols => {
            let request = ListSymbols { file: needed(arguments.file.as_ref(), "file")? };
            let definitions = index.symbols(call, &request).map_err(|error| failed(&error))?;
            for one in &definitions.symbols {
                let container = one.container.as_ref().map(|name| format!("{name}.")).unwrap_or_default();
                let (kind, name, signature) = (&one.kind, &one.name, &one.signature);
                let lines = (one.line_start, one.line_end);
                line(
                    &mut text,
                    format_args!("{}-{} {kind} {container}{name}: {signature}", lines.0, lines.1),
                );
            }
            definitions.freshness
        }
        ExtraTool::DocdexAst => {
            let max_nodes = arguments.max_nodes.unwrap_or(500).clamp(1, 100_000);
            let request = ReadAst { file: needed(arguments.file.as_ref(), "file")?, max_nodes };
            let tree = index.ast(call, &request).map_err(|error| failed(&error))?;
            for node in &tree.nodes {
                // Indentation carries no information at that depth, and would fill the answer.
                let indent = "  ".repeat(node.depth.min(40) as usize);
                let (start, end) = ((node.line_start, node.column_start), (node.line_end, node.column_end));
                let kind = &node.kind;
                line(&mut text, format_args!("{indent}{kind} {}:{}-{}:{}", start.0, start.1, end.0, end.1));
            }
            let listed = tree.nodes.len() as u64;
            if listed < tree.total_nodes {
                line(
                    &mut text,
                    format_args!(
                        "[the first {listed} of {} nodes: raise maxNodes for more]",
                        tree.total_nodes
                    ),
                );
            }
            tree.freshness
        }
        ExtraTool::DocdexImpact => {
            let max_depth = arguments.max_depth.unwrap_or(1).clamp(1, 100);
            let request = ReadImpact { file: needed(arguments.file.as_ref(), "file")?, max_depth };
            let impact = index.impact(call, &request).map_err(|error| failed(&error))?;
            for (direction, edges) in
                [("depends on this", &impact.inbound), ("this depends on", &impact.outbound)]
            {
                line(&mut text, format_args!("{direction}: {}", edges.len()));
                for edge in edges {
                    line(&mut text, format_args!("  {} ({}, {} away)", edge.file, edge.kind, edge.depth));
                }
            }
            line(&mut text, format_args!("unresolved imports: {}", impact.unresolved));
            impact.freshness
        }
        _ => {
            let (limit, offset) =
                (arguments.limit.unwrap_or(50).clamp(1, 1_000), arguments.offset.unwrap_or(0));
            let request = DiagnoseImpact { file: arguments.file.clone(), limit, offset };
            let page = index.impact_diagnostics(call, &request).map_err(|error| failed(&error))?;
            for one in &page.diagnostics {
                line(&mut text, format_args!("{}:{} {}", one.file, one.line, one.import));
            }
            line(&mut text, format_args!("[{} of {} are shown]", page.diagnostics.len(), page.total));
            page.freshness
        }
    };
    if text.is_empty() {
        text.push_str("nothing is page\n");
    }
    text.push_str(&note(&freshness));
    Ok(text)
}

fn needed(value: Option<&String>, field: &str) -> Result<String, WapError> {
    value.cloned().ok_or_else(|| {
        WapError::new(Reason::InvalidField, format!("'{field}' is missing")).with("field", field)
    })
}

/// Renders the warnings about an index that is incomplete or behind its files.
fn note(freshness: &Freshness) -> String {
    let mut text = String::new();
    if freshness.state == IndexState::Building {
        text.push_str("[the index is still being built: something may be missing]\n");
    }
    if !freshness.stale_paths.is_empty() {
        let paths = freshness.stale_paths.join(", ");
        text.push_str(&format!("[changed since they were indexed: {paths}]\n"));
    }
    text
}

fn failed(error: &IndexError) -> WapError {
    let reason = match error {
        IndexError::UnknownFile { .. } | IndexError::UnknownDocument { .. } => Reason::PathNotFound,
        IndexError::UnknownLanguage { .. } => Reason::InvalidField,
        IndexError::Cancelled => Reason::Cancelled,
        _ => Reason::ReadError,
    };
    WapError::new(reason, error.to_string())
}
