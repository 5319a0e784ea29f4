//! The JSON of a docdex daemon, converted to responses.
//!
//! Missing optional fields get a default. A missing required field, a list of another type, or a path that leads out of
//! the workspace makes the answer unreadable.

use std::collections::HashMap;

use rel_path::RelPath;
use serde_json::Value;
use wap_core::{
    AstNode, CodeHit, CodeSymbol, DiagnoseImpact, DiagnoseImpactResponse, ImpactEdge, IndexError,
    ListSymbolsResponse, ReadAstResponse, ReadImpactResponse, ReadSnippetResponse, SearchCodeResponse,
    UnresolvedImport,
};

/// The estimated number of bytes of a token.
const BYTES_PER_TOKEN: usize = 4;

/// The most brackets, colons and commas of an answer outside of its texts. A value of three bytes takes a hundred times that in
/// memory, so bounding the length is not enough.
const MOST_MARKS: usize = 500_000;

/// Parses an answer.
pub(super) fn parsed(text: &str) -> Result<Value, IndexError> {
    if marks(text) > MOST_MARKS {
        return Err(too_long());
    }
    serde_json::from_str(text).map_err(|_| unreadable())
}

/// Counts the characters that begin or separate values.
fn marks(text: &str) -> usize {
    let (mut count, mut in_text, mut is_escaped) = (0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b'{' | b'[' | b':' | b',' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

pub(super) fn too_long() -> IndexError {
    IndexError::Failed { cause: "the docdex daemon's answer is too long".to_owned() }
}

pub(super) fn unreadable() -> IndexError {
    IndexError::Failed { cause: "the docdex daemon's answer cannot be read".to_owned() }
}

pub(super) fn search(answer: &Value, limit: u32) -> Result<SearchCodeResponse, IndexError> {
    // A daemon may send more hits than requested.
    let hits = list(answer, &["hits", "results"])?.iter().take(limit as usize).map(|hit| {
        let snippet = text(hit, &["snippet", "summary"]).unwrap_or_default();
        let line_start = number(hit, &["line_start"]).unwrap_or(1).max(1);
        let lines = snippet.lines().count().max(1) as u64;
        Ok(CodeHit {
            doc_id: text(hit, &["doc_id", "docId"]).ok_or_else(unreadable)?,
            path: path(hit, &["rel_path", "path"])?,
            score: hit.get("score").and_then(Value::as_f64).filter(|score| score.is_finite()).unwrap_or(0.0),
            line_end: number(hit, &["line_end"]).unwrap_or(line_start + lines - 1).max(line_start),
            token_estimate: number(hit, &["token_estimate"])
                .unwrap_or(snippet.len().div_ceil(BYTES_PER_TOKEN) as u64),
            snippet,
            line_start,
        })
    });
    Ok(SearchCodeResponse { hits: hits.collect::<Result<_, IndexError>>()?, ..SearchCodeResponse::default() })
}

/// Converts a snippet; `None` if the daemon has no such document.
pub(super) fn snippet(answer: &Value) -> Result<Option<ReadSnippetResponse>, IndexError> {
    let (Some(doc), Some(snippet)) = (present(answer, "doc"), present(answer, "snippet")) else {
        return Ok(None);
    };
    let content = text(snippet, &["text"]).ok_or_else(unreadable)?;
    // The daemon omits the lines of a document that no search has returned before.
    let line_start = number(snippet, &["line_start"]).map(|line| line.max(1));
    let lines = content.lines().count().max(1) as u64;
    let last = |start: u64| number(snippet, &["line_end"]).unwrap_or(start + lines - 1).max(start);
    let line_end = line_start.map(last);
    let total_lines = number(snippet, &["total_lines"]).or_else(|| number(doc, &["total_lines"]));
    Ok(Some(ReadSnippetResponse {
        path: path(doc, &["rel_path", "path"])?,
        content,
        line_start,
        line_end,
        total_lines: total_lines.map(|total| total.max(line_end.unwrap_or(0))),
        is_truncated: snippet.get("truncated").and_then(Value::as_bool).unwrap_or(false),
        freshness: Default::default(),
    }))
}

pub(super) fn symbols(answer: &Value) -> Result<ListSymbolsResponse, IndexError> {
    let symbols = list(answer, &["symbols"])?.iter().map(|symbol| {
        let (line_start, line_end, ..) = range(symbol)?;
        let name = text(symbol, &["name"]).ok_or_else(unreadable)?;
        Ok(CodeSymbol {
            kind: text(symbol, &["kind"]).unwrap_or_else(|| "symbol".to_owned()),
            signature: text(symbol, &["signature"]).unwrap_or_else(|| name.clone()),
            container: text(symbol, &["container", "parent"]),
            name,
            line_start,
            line_end,
        })
    });
    Ok(ListSymbolsResponse {
        symbols: symbols.collect::<Result<_, IndexError>>()?,
        ..ListSymbolsResponse::default()
    })
}

pub(super) fn ast(answer: &Value, max_nodes: u32) -> Result<ReadAstResponse, IndexError> {
    let listed = list(answer, &["nodes"])?;
    let nodes = listed.iter().take(max_nodes as usize).map(|node| {
        let (line_start, line_end, column_start, column_end) = range(node)?;
        Ok(AstNode {
            kind: text(node, &["kind"]).ok_or_else(unreadable)?,
            depth: number(node, &["depth"]).and_then(|depth| u32::try_from(depth).ok()).unwrap_or(0),
            line_start,
            column_start,
            line_end,
            column_end,
        })
    });
    let nodes: Vec<AstNode> = nodes.collect::<Result<_, IndexError>>()?;
    let total = number(answer, &["total_nodes", "totalNodes"]).unwrap_or(listed.len() as u64);
    Ok(ReadAstResponse { total_nodes: total.max(nodes.len() as u64), nodes, ..ReadAstResponse::default() })
}

/// Converts the dependencies of a file. Direct ones have a kind in `edges`; of the others, the daemon only returns the paths.
pub(super) fn impact(answer: &Value, file: &str) -> Result<ReadImpactResponse, IndexError> {
    let edges = list(answer, &["edges"]).unwrap_or_default();
    let side = |key: &str, own: &str, other: &str| -> Result<Vec<ImpactEdge>, IndexError> {
        let end = |edge: &Value, name: &str| edge.get(name).and_then(Value::as_str).map(str::to_owned);
        let mut direct: HashMap<String, &Value> = HashMap::new();
        for edge in edges.iter().filter(|edge| end(edge, own).as_deref() == Some(file)) {
            // The first edge counts.
            end(edge, other).map(|path| direct.entry(path).or_insert(edge));
        }
        let mut files = Vec::new();
        for one in list(answer, &[key])? {
            let one = one.as_str().ok_or_else(unreadable)?;
            let edge = direct.get(one);
            let kind = edge.and_then(|edge| text(edge, &["kind"])).unwrap_or_else(|| "import".to_owned());
            // Without edges all files count as direct dependencies; otherwise a file without an edge is at least two steps away.
            let depth = if edge.is_some() || edges.is_empty() { 1 } else { 2 };
            files.push(ImpactEdge { file: checked(one)?, kind, depth });
        }
        files.sort_by(|left, right| left.file.cmp(&right.file));
        Ok(files)
    };
    Ok(ReadImpactResponse {
        inbound: side("inbound", "target", "source")?,
        outbound: side("outbound", "source", "target")?,
        unresolved: answer
            .pointer("/diagnostics/unresolved_imports_total")
            .and_then(Value::as_u64)
            .unwrap_or(0),
        ..ReadImpactResponse::default()
    })
}

pub(super) fn diagnostics(
    answer: &Value,
    request: &DiagnoseImpact,
) -> Result<DiagnoseImpactResponse, IndexError> {
    let listed = list(answer, &["diagnostics", "entries", "unresolved"])?;
    let mut diagnostics = Vec::new();
    for entry in listed.iter().take(request.limit as usize) {
        let file = path(entry, &["file", "path"])?;
        let line = number(entry, &["line"]).unwrap_or(1).max(1);
        let import = text(entry, &["import", "specifier"]).ok_or_else(unreadable)?;
        diagnostics.push(UnresolvedImport { file, line, import });
    }
    // Never fewer than the answer shows.
    let least = if listed.is_empty() { 0 } else { request.offset.saturating_add(listed.len() as u64) };
    let total = number(answer, &["total"]).unwrap_or(least).max(least);
    Ok(DiagnoseImpactResponse { diagnostics, total, ..DiagnoseImpactResponse::default() })
}

fn present<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).filter(|value| !value.is_null())
}

fn list<'v>(value: &'v Value, keys: &[&str]) -> Result<&'v [Value], IndexError> {
    let list = keys.iter().find_map(|key| present(value, key));
    list.and_then(Value::as_array).map(Vec::as_slice).ok_or_else(unreadable)
}

fn text(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| value.get(key)?.as_str()).map(str::to_owned)
}

/// Returns a number of lines or items, clamped to 32 bits, so that sums of such numbers cannot overflow.
fn number(value: &Value, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| value.get(key)?.as_u64()).map(|number| number.min(u64::from(u32::MAX)))
}

fn path(value: &Value, keys: &[&str]) -> Result<String, IndexError> {
    checked(&text(value, keys).ok_or_else(unreadable)?)
}

/// Checks that a path is relative and stays within the workspace, and normalises it.
fn checked(path: &str) -> Result<String, IndexError> {
    let path = RelPath::parse(path).ok().filter(|path| !path.is_root() && !path.has_parent_steps());
    path.map(|path| path.to_string()).ok_or_else(unreadable)
}

/// Returns the first line, last line, first column and last column of `range`, or of the item itself.
fn range(item: &Value) -> Result<(u64, u64, u64, u64), IndexError> {
    let range = present(item, "range").unwrap_or(item);
    let start = number(range, &["start_line", "line_start"]).ok_or_else(unreadable)?.max(1);
    let end = number(range, &["end_line", "line_end"]).unwrap_or(start).max(start);
    let columns = (number(range, &["start_col"]).unwrap_or(1), number(range, &["end_col"]).unwrap_or(1));
    Ok((start, end, columns.0.max(1), columns.1.max(1)))
}

/// Percent-encodes a text as one segment of a URL path.
pub(super) fn path_segment(text: &str) -> String {
    let mut segment = String::new();
    for byte in text.bytes() {
        match byte {
            b'-' | b'_' | b'.' | b'~' => segment.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => segment.push(char::from(byte)),
            _ => segment.push_str(&format!("%{byte:02X}")),
        }
    }
    segment
}
