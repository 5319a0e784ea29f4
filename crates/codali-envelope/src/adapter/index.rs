//! Needs that the code index or the web search answers.

use wap_core::{DiagnoseImpact, ListSymbols, ReadAst, ReadImpact, ReadSnippet, SearchCode};

use super::failure::Failure;
use super::fit;
use super::need_call::{Answer, NeedCall};
use crate::{
    AstResult, ImpactDiagnosticsResult, ImpactResult, NeedResult, SearchResult, SnippetResult, SymbolsResult,
    WarningCode, WebError, WebResult,
};

const DEFAULT_LIMIT: u32 = 8;
const DEFAULT_NODES: u32 = 20_000;
const DEFAULT_IMPACT_DEPTH: u32 = 1;
/// The default number of lines of a snippet.
pub(super) const DEFAULT_WINDOW: u32 = 40;

pub(super) fn search(query: &str, limit: Option<u32>, frame: &mut NeedCall<'_>) -> Answer {
    let request = SearchCode { query: query.to_owned(), limit: limit.unwrap_or(DEFAULT_LIMIT) };
    let response = frame.ask(WarningCode::DocdexSearchFailed, |index, call| index.search(call, &request))?;
    frame.note(&response.freshness);
    let mut hits = response.hits;
    let total = hits.len() as u64;
    let truncated = fit::items(&mut hits, frame.room);
    if truncated {
        frame.warn_cut("docdex.search", hits.len() as u64, total);
    }
    let query = request.query;
    Ok(NeedResult::Search(SearchResult { query, hits, truncated, total_hits: truncated.then_some(total) }))
}

pub(super) fn snippet(doc_id: &str, window: Option<u32>, frame: &mut NeedCall<'_>) -> Answer {
    let request = ReadSnippet { doc_id: doc_id.to_owned(), window_lines: window.unwrap_or(DEFAULT_WINDOW) };
    let response =
        frame.ask(WarningCode::DocdexSnippetFailed, |index, call| index.snippet(call, &request))?;
    frame.note(&response.freshness);
    let lines = fit::lines(response.content, frame.room);
    let is_cut = lines.kept < lines.total;
    if is_cut {
        frame.warn_cut(&response.path, lines.kept, lines.total);
    } else if response.is_truncated {
        frame.warn(WarningCode::Truncated, response.path.clone());
    }
    let last_kept = response.line_start.map(|start| (start + lines.kept).saturating_sub(1));
    Ok(NeedResult::Snippet(SnippetResult {
        doc_id: request.doc_id,
        path: Some(response.path),
        line_start: response.line_start,
        line_end: if is_cut { last_kept } else { response.line_end },
        total_lines: response.total_lines,
        truncated: is_cut || response.is_truncated,
        content: lines.text,
    }))
}

pub(super) fn symbols(file: &str, frame: &mut NeedCall<'_>) -> Answer {
    let request = ListSymbols { file: frame.indexed_path(file)? };
    let response =
        frame.ask(WarningCode::DocdexSymbolsFailed, |index, call| index.symbols(call, &request))?;
    frame.note(&response.freshness);
    let mut symbols = response.symbols;
    let total = symbols.len() as u64;
    let truncated = fit::items(&mut symbols, frame.room);
    if truncated {
        frame.warn_cut(&format!("symbols of {file}"), symbols.len() as u64, total);
    }
    Ok(NeedResult::Symbols(SymbolsResult {
        file: file.to_owned(),
        symbols,
        truncated,
        total_symbols: truncated.then_some(total),
    }))
}

pub(super) fn ast(file: &str, max_nodes: Option<u32>, frame: &mut NeedCall<'_>) -> Answer {
    let request = ReadAst { file: frame.indexed_path(file)?, max_nodes: max_nodes.unwrap_or(DEFAULT_NODES) };
    let response = frame.ask(WarningCode::DocdexAstFailed, |index, call| index.ast(call, &request))?;
    frame.note(&response.freshness);
    let mut nodes = response.nodes;
    fit::items(&mut nodes, frame.room);
    let truncated = (nodes.len() as u64) < response.total_nodes;
    if truncated {
        frame.warn_cut(&format!("nodes of {file}"), nodes.len() as u64, response.total_nodes);
    }
    Ok(NeedResult::Ast(AstResult {
        file: file.to_owned(),
        nodes,
        truncated,
        total_nodes: truncated.then_some(response.total_nodes),
    }))
}

pub(super) fn impact(file: &str, max_depth: Option<u32>, frame: &mut NeedCall<'_>) -> Answer {
    let max_depth = max_depth.unwrap_or(DEFAULT_IMPACT_DEPTH);
    let request = ReadImpact { file: frame.indexed_path(file)?, max_depth };
    let response = frame.ask(WarningCode::DocdexImpactFailed, |index, call| index.impact(call, &request))?;
    frame.note(&response.freshness);
    let (mut inbound, mut outbound) = (response.inbound, response.outbound);
    let total = (inbound.len() + outbound.len()) as u64;
    // Each direction may use half of the room, so that neither displaces the other.
    fit::items(&mut inbound, frame.room / 2);
    fit::items(&mut outbound, frame.room / 2);
    let kept = (inbound.len() + outbound.len()) as u64;
    let truncated = kept < total;
    if truncated {
        frame.warn_cut(&format!("impact of {file}"), kept, total);
    }
    Ok(NeedResult::Impact(ImpactResult {
        file: file.to_owned(),
        inbound,
        outbound,
        unresolved: Some(response.unresolved),
        truncated,
        total_edges: truncated.then_some(total),
    }))
}

pub(super) fn impact_diagnostics(
    file: Option<&str>,
    limit: Option<u32>,
    offset: Option<u64>,
    frame: &mut NeedCall<'_>,
) -> Answer {
    let request = DiagnoseImpact {
        file: file.map(|file| frame.indexed_path(file)).transpose()?,
        limit: limit.unwrap_or(DEFAULT_LIMIT),
        offset: offset.unwrap_or(0),
    };
    let response = frame.ask(WarningCode::DocdexImpactDiagnosticsFailed, |index, call| {
        index.impact_diagnostics(call, &request)
    })?;
    frame.note(&response.freshness);
    let mut diagnostics = response.diagnostics;
    fit::items(&mut diagnostics, frame.room);
    let kept = diagnostics.len() as u64;
    let truncated = request.offset.saturating_add(kept) < response.total;
    if truncated {
        frame.warn_cut("docdex.impact_diagnostics", kept, response.total);
    }
    Ok(NeedResult::ImpactDiagnostics(ImpactDiagnosticsResult {
        file: file.map(str::to_owned),
        diagnostics,
        truncated,
        total_diagnostics: truncated.then_some(response.total),
    }))
}

pub(super) fn web(query: &str, force: Option<bool>, frame: &mut NeedCall<'_>) -> Answer {
    let Some(web) = frame.sources.web else {
        return Err(Failure::new(WarningCode::WebDisabled).saying("web search is disabled"));
    };
    let response = web.search(frame.call, query, force.unwrap_or(false));
    let mut results = response.map_err(|error| {
        let code = match error {
            WebError::TimedOut => WarningCode::NeedTimeout,
            WebError::Failed { .. } => WarningCode::DocdexWebFailed,
        };
        Failure::new(code).saying(error.to_string())
    })?;
    let total = results.len() as u64;
    let truncated = fit::items(&mut results, frame.room);
    if truncated {
        frame.warn_cut("docdex.web", results.len() as u64, total);
    }
    let query = query.to_owned();
    Ok(NeedResult::Web(WebResult { query, results, truncated, total_results: truncated.then_some(total) }))
}
