//! Reads needs from their fields.

use crate::request::fields::Fields;
use crate::yaml::node::{Content, Node};
use crate::{
    DagFormat, DelegateNeed, DelegateRole, Need, NeedKind, OpenNeed, TreeNeed, Warning, WarningCode,
};

/// A rejected need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    /// The type of the need; empty if it has none.
    pub(crate) need_type: String,
    pub(crate) code: WarningCode,
    pub(crate) detail: String,
}

const LINES: std::ops::RangeInclusive<u64> = 1..=u64::MAX;
const LIMIT: std::ops::RangeInclusive<u32> = 1..=100;
const WINDOW: std::ops::RangeInclusive<u32> = 10..=400;
const DEPTH: std::ops::RangeInclusive<u32> = 1..=100;
const NODES: std::ops::RangeInclusive<u32> = 1..=100_000;

/// Reads one item of `needs`. Adds warnings about dropped fields; the caller adds one for a rejection.
pub(crate) fn read_need(node: Node, warnings: &mut Vec<Warning>) -> Result<Need, Rejection> {
    let Content::Map(entries) = node.content else {
        let detail = "a need is not a list of fields".to_owned();
        return Err(Rejection { need_type: String::new(), code: WarningCode::InvalidNeed, detail });
    };
    let mut fields = Fields::new(entries, warnings);
    let Some(need_type) = fields.text(&["type"]) else {
        let detail = "a need has no type".to_owned();
        return Err(Rejection { need_type: String::new(), code: WarningCode::InvalidNeed, detail });
    };
    match read_kind(need_type.trim(), &mut fields) {
        Ok(kind) => Ok(Need { kind, extra: fields.rest() }),
        Err((code, detail)) => Err(Rejection { need_type, code, detail }),
    }
}

fn read_kind(need_type: &str, fields: &mut Fields<'_>) -> Result<NeedKind, (WarningCode, String)> {
    let lacks = |name: &str| (WarningCode::InvalidNeed, format!("{need_type} has no {name}"));
    let file = |fields: &mut Fields<'_>| fields.text(&["file", "path"]);
    Ok(match need_type {
        "docdex.search" => NeedKind::Search {
            query: fields.sentence(&["query"]).ok_or_else(|| lacks("query"))?,
            limit: fields.count(&["limit"], LIMIT),
        },
        "docdex.snippet" => NeedKind::Snippet {
            doc_id: fields.text(&["doc_id", "docId", "path", "file"]).ok_or_else(|| lacks("doc_id"))?,
            window: fields.count(&["window"], WINDOW),
        },
        "docdex.open" => {
            let open = OpenNeed {
                path: fields.text(&["path", "file"]),
                doc_id: fields.text(&["doc_id", "docId"]),
                start_line: fields.number(&["start_line", "startLine"], LINES),
                end_line: fields.number(&["end_line", "endLine"], LINES),
                window: fields.count(&["window"], WINDOW),
                head: fields.number(&["head"], LINES),
            };
            if open.path.is_none() && open.doc_id.is_none() {
                return Err(lacks("path and no doc_id"));
            }
            NeedKind::Open(open)
        }
        "docdex.symbols" => NeedKind::Symbols { file: file(fields).ok_or_else(|| lacks("file"))? },
        "docdex.ast" => NeedKind::Ast {
            file: file(fields).ok_or_else(|| lacks("file"))?,
            max_nodes: fields.count(&["max_nodes", "maxNodes"], NODES),
        },
        "docdex.impact" => NeedKind::Impact {
            file: file(fields).ok_or_else(|| lacks("file"))?,
            max_depth: fields.count(&["max_depth", "maxDepth", "depth"], DEPTH),
        },
        "docdex.impact_diagnostics" => NeedKind::ImpactDiagnostics {
            file: file(fields),
            limit: fields.count(&["limit"], LIMIT),
            offset: fields.number(&["offset"], 0..=u64::MAX),
        },
        "docdex.tree" => NeedKind::Tree(TreeNeed {
            path: fields.text(&["path", "root"]),
            max_depth: fields.count(&["max_depth", "maxDepth", "depth"], DEPTH),
            dirs_only: fields.flag(&["dirs_only", "dirsOnly"]),
            include_hidden: fields.flag(&["include_hidden", "includeHidden"]),
        }),
        "docdex.web" => NeedKind::Web {
            query: fields.sentence(&["query"]).ok_or_else(|| lacks("query"))?,
            force_web: fields.flag(&["force_web", "forceWeb"]),
        },
        "docdex.dag_export" => NeedKind::DagExport {
            session_id: fields.text(&["session_id", "sessionId"]),
            format: fields
                .word(&["format"], DagFormat::ALL, DagFormat::name)
                .map_err(|_| (WarningCode::InvalidNeed, format!("{need_type} has an unknown format")))?,
            max_nodes: fields.count(&["max_nodes", "maxNodes"], NODES),
        },
        "file.read" => {
            fields.warn_of_lines();
            NeedKind::FileRead { path: fields.text(&["path", "file"]).ok_or_else(|| lacks("path"))? }
        }
        "file.list" => NeedKind::FileList {
            root: fields.text(&["root", "path"]).unwrap_or_else(|| ".".to_owned()),
            pattern: fields.text(&["pattern"]),
        },
        "file.diff" => NeedKind::FileDiff { paths: fields.texts(&["paths", "path", "file"]) },
        "command.output" => NeedKind::CommandOutput {},
        "agent.delegate" => NeedKind::Delegate(DelegateNeed {
            role: fields
                .word(&["role"], DelegateRole::ALL, DelegateRole::name)
                .map_err(|_| (WarningCode::InvalidNeed, format!("{need_type} has an unknown role")))?,
            goal: fields.sentence(&["goal"]).ok_or_else(|| lacks("goal"))?,
            tools: fields.texts(&["tools"]),
            allowed_paths: fields.texts(&["allowed_paths", "allowedPaths"]),
            write_paths: fields.texts(&["write_paths", "writePaths"]),
            read_only: fields.flag(&["read_only", "readOnly"]),
            max_steps: fields.number(&["max_steps", "maxSteps"], LINES),
            max_tool_calls: fields.number(&["max_tool_calls", "maxToolCalls"], LINES),
            timeout_ms: fields.number(&["timeout_ms", "timeoutMs"], LINES),
        }),
        _ => {
            let excerpt: String = need_type.chars().take(64).collect();
            return Err((WarningCode::UnsupportedNeed, excerpt));
        }
    })
}
