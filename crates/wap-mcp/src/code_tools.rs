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

/// What the tools can be asked with; each takes what it needs.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Asked {
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
    let asked: Asked = extra_tool::read(arguments)?;
    answer(&*source.index()?, tool, &asked, call)
}

fn answer(
    index: &dyn CodeIndex,
    tool: ExtraTool,
    asked: &Asked,
    call: &Call<'_>,
) -> Result<String, WapError> {
    let mut text = String::new();
    // Writing to a text goes well.
    let line = |text: &mut String, written: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{written}");
    };
    let freshness = match tool {
        ExtraTool::DocdexSearch => {
            let query = needed(asked.query.as_ref(), "query")?;
            let request = SearchCode { query, limit: asked.limit.unwrap_or(8).clamp(1, 100) };
            let found = index.search(call, &request).map_err(|error| failed(&error))?;
            for hit in &found.hits {
                let (path, doc_id) = (&hit.path, &hit.doc_id);
                line(&mut text, format_args!("{path}:{}-{} (docId {doc_id})", hit.line_start, hit.line_end));
                for shown in hit.snippet.lines() {
                    line(&mut text, format_args!("    {shown}"));
                }
            }
            found.freshness
        }
        ExtraTool::DocdexSnippet => {
            let doc_id = needed(asked.doc_id.as_ref(), "docId")?;
            let request = ReadSnippet { doc_id, window_lines: asked.window.unwrap_or(40).clamp(10, 400) };
            let found = index.snippet(call, &request).map_err(|error| failed(&error))?;
            let path = &found.path;
            let total = found.total_lines.map(|total| format!(" of {total}")).unwrap_or_default();
            let cut = if found.is_truncated { ", with lines left out" } else { "" };
            // Numbers that are not known are not made up; those behind a gap would be wrong.
            match (found.line_start, found.line_end) {
                (Some(first), Some(last)) => {
                    line(&mut text, format_args!("{path}:{first}-{last}{total}{cut}"));
                    for (number, shown) in (first..).zip(found.content.lines()) {
                        if found.is_truncated {
                            line(&mut text, format_args!("        {shown}"));
                        } else {
                            line(&mut text, format_args!("{number:>6}  {shown}"));
                        }
                    }
                }
                _ => {
                    line(&mut text, format_args!("{path}{total}{cut}"));
                    for shown in found.content.lines() {
                        line(&mut text, format_args!("        {shown}"));
                    }
                }
            }
            found.freshness
        }
        ExtraTool::DocdexSymbols => {
            let request = ListSymbols { file: needed(asked.file.as_ref(), "file")? };
            let found = index.symbols(call, &request).map_err(|error| failed(&error))?;
            for one in &found.symbols {
                let container = one.container.as_ref().map(|name| format!("{name}.")).unwrap_or_default();
                let (kind, name, signature) = (&one.kind, &one.name, &one.signature);
                let lines = (one.line_start, one.line_end);
                line(
                    &mut text,
                    format_args!("{}-{} {kind} {container}{name}: {signature}", lines.0, lines.1),
                );
            }
            found.freshness
        }
        ExtraTool::DocdexAst => {
            let max_nodes = asked.max_nodes.unwrap_or(500).clamp(1, 100_000);
            let request = ReadAst { file: needed(asked.file.as_ref(), "file")?, max_nodes };
            let found = index.ast(call, &request).map_err(|error| failed(&error))?;
            for node in &found.nodes {
                // Deep trees are shown as deep as anybody reads.
                let indent = "  ".repeat(node.depth.min(40) as usize);
                let (start, end) = ((node.line_start, node.column_start), (node.line_end, node.column_end));
                let kind = &node.kind;
                line(&mut text, format_args!("{indent}{kind} {}:{}-{}:{}", start.0, start.1, end.0, end.1));
            }
            let shown = found.nodes.len() as u64;
            if shown < found.total_nodes {
                line(&mut text, format_args!("[{shown} of {} nodes are shown]", found.total_nodes));
            }
            found.freshness
        }
        ExtraTool::DocdexImpact => {
            let max_depth = asked.max_depth.unwrap_or(1).clamp(1, 100);
            let request = ReadImpact { file: needed(asked.file.as_ref(), "file")?, max_depth };
            let found = index.impact(call, &request).map_err(|error| failed(&error))?;
            for (direction, edges) in
                [("depends on this", &found.inbound), ("this depends on", &found.outbound)]
            {
                line(&mut text, format_args!("{direction}: {}", edges.len()));
                for edge in edges {
                    line(&mut text, format_args!("  {} ({}, {} away)", edge.file, edge.kind, edge.depth));
                }
            }
            line(&mut text, format_args!("imports that lead nowhere: {}", found.unresolved));
            found.freshness
        }
        _ => {
            let (limit, offset) = (asked.limit.unwrap_or(50).clamp(1, 1_000), asked.offset.unwrap_or(0));
            let request = DiagnoseImpact { file: asked.file.clone(), limit, offset };
            let found = index.impact_diagnostics(call, &request).map_err(|error| failed(&error))?;
            for one in &found.diagnostics {
                line(&mut text, format_args!("{}:{} {}", one.file, one.line, one.import));
            }
            line(&mut text, format_args!("[{} of {} are shown]", found.diagnostics.len(), found.total));
            found.freshness
        }
    };
    if text.is_empty() {
        text.push_str("nothing is found\n");
    }
    text.push_str(&note(&freshness));
    Ok(text)
}

fn needed(value: Option<&String>, field: &str) -> Result<String, WapError> {
    value.cloned().ok_or_else(|| {
        WapError::new(Reason::InvalidField, format!("'{field}' is missing")).with("field", field)
    })
}

/// What a reader has to know of an answer that is not whole.
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
