//! Renders answers of the code index as text. Names come from the folder's files, so each is kept within one line.

use std::fmt::Write as _;

use wap_core::{
    DiagnoseImpactResponse, ListSymbolsResponse, ReadAstResponse, ReadImpactResponse, ReadSnippetResponse,
    SearchCodeResponse,
};

use crate::one_line::one_line;

/// The most levels by which a node is indented: a tree of thousands of levels would need megabytes of spaces.
const DEEPEST_INDENT: u32 = 40;

/// The prefix of a quoted line without a number.
const QUOTED: &str = "        ";

// Writing to a `String` never fails.

pub(super) fn hits(response: &SearchCodeResponse) -> String {
    let mut text = String::new();
    for hit in &response.hits {
        let (path, doc_id) = (one_line(&hit.path), one_line(&hit.doc_id));
        let _ = writeln!(text, "{path}:{}-{} (docId {doc_id})", hit.line_start, hit.line_end);
        for line in hit.snippet.lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

pub(super) fn snippet(response: &ReadSnippetResponse) -> String {
    let path = one_line(&response.path);
    let total = response.total_lines.map(|total| format!(" of {total}")).unwrap_or_default();
    let cut = if response.is_truncated { ", with lines left out" } else { "" };
    let lines = response.content.lines();
    let quoted = |line: &str| format!("{QUOTED}{line}\n");
    // Without line numbers from the index, print none; after a gap they would be wrong.
    let (range, lines): (_, String) = match (response.line_start, response.line_end) {
        (Some(first), Some(last)) => {
            let numbered = |(number, line): (u64, &str)| format!("{number:>6}  {line}\n");
            let lines = match response.is_truncated {
                true => lines.map(quoted).collect(),
                false => (first..).zip(lines).map(numbered).collect(),
            };
            (format!(":{first}-{last}"), lines)
        }
        _ => (String::new(), lines.map(quoted).collect()),
    };
    format!("{path}{range}{total}{cut}\n{lines}")
}

pub(super) fn symbols(response: &ListSymbolsResponse) -> String {
    let mut text = String::new();
    for one in &response.symbols {
        let container = one.container.as_ref().map(|name| format!("{}.", one_line(name)));
        let container = container.unwrap_or_default();
        let (kind, name, signature) = (one_line(&one.kind), one_line(&one.name), one_line(&one.signature));
        let (first, last) = (one.line_start, one.line_end);
        let _ = writeln!(text, "{first}-{last} {kind} {container}{name}: {signature}");
    }
    text
}

pub(super) fn ast(response: &ReadAstResponse) -> String {
    let mut text = String::new();
    for node in &response.nodes {
        let indent = "  ".repeat(node.depth.min(DEEPEST_INDENT) as usize);
        let (start, end) = ((node.line_start, node.column_start), (node.line_end, node.column_end));
        let kind = one_line(&node.kind);
        let _ = writeln!(text, "{indent}{kind} {}:{}-{}:{}", start.0, start.1, end.0, end.1);
    }
    let count = response.nodes.len() as u64;
    if count < response.total_nodes {
        let _ = writeln!(text, "[{count} of {} nodes are shown]", response.total_nodes);
    }
    text
}

pub(super) fn impact(response: &ReadImpactResponse) -> String {
    let mut text = String::new();
    for (direction, edges) in
        [("depends on this", &response.inbound), ("this depends on", &response.outbound)]
    {
        let _ = writeln!(text, "{direction}: {}", edges.len());
        for edge in edges {
            let (file, kind) = (one_line(&edge.file), one_line(&edge.kind));
            let _ = writeln!(text, "  {file} ({kind}, {} away)", edge.depth);
        }
    }
    let _ = writeln!(text, "imports that lead nowhere: {}", response.unresolved);
    text
}

pub(super) fn diagnostics(response: &DiagnoseImpactResponse) -> String {
    let mut text = String::new();
    for one in &response.diagnostics {
        let (file, import) = (one_line(&one.file), one_line(&one.import));
        let _ = writeln!(text, "{file}:{} {import}", one.line);
    }
    let _ = writeln!(text, "[{} of {} are shown]", response.diagnostics.len(), response.total);
    text
}
