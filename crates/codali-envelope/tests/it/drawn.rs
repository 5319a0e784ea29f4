//! Generators of values for the properties.

use codali_envelope::critic::{CriticStatus, Disposition, Guardrail, ReasonCode};
use codali_envelope::{
    AstResult, CommandOutputResult, Context, CriticResult, DagFormat, DelegateNeed, DelegateRole,
    FailedResult, FileDiffResult, FileListResult, FileReadResult, ImpactDiagnosticsResult, ImpactResult,
    Meta, Need, NeedKind, NeedResult, OpenNeed, OpenResult, OtherResult, Request, RequestId, Response,
    SearchResult, SnippetResult, SymbolsResult, TreeNeed, TreeResult, Warning, WarningCode, WebHit,
    WebResult,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value};
use wap_core::{AstNode, CodeHit, CodeSymbol, ImpactEdge, UnresolvedImport};

/// Generates any text, with a preference for characters that readers trip over.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-z .,:#'\"\\-]{0,12}",
        2 => Just("\n".to_owned()),
        1 => "\\PC{0,6}",
        1 => any::<char>().prop_map(String::from),
        2 => prop::sample::select(vec![
            "AGENT_REQUEST v1", "CODALI_RESPONSE v1", "---", "...", "\r\n", "\t", "  ", "```", "~~~", "\u{0}", "\u{7f}",
            "\u{85}", "\u{2028}", "\u{feff}", "\u{1f680}", "|", ">", "&a", "*a", "!!str", "%YAML", "? ", "- ", ": ", "# ",
            "[", "]", "{", "}", "true", "null", "~", "0x10", "1e3", "007", "<<", "request_id: x", "needs:", "\\", "\"", "'",
        ]).prop_map(str::to_owned),
    ];
    vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

/// Generates a text that is not blank.
pub(crate) fn filled_text() -> impl Strategy<Value = String> {
    any_text().prop_filter("blank", |text| !text.trim().is_empty())
}

pub(crate) fn request_id() -> impl Strategy<Value = RequestId> {
    let texts = prop_oneof![
        "[0-9]{1,6}",
        "[a-z0-9-]{1,20}",
        "\\PC{1,20}",
        Just("null".to_owned()),
        Just("- x: #1".to_owned())
    ];
    texts.prop_filter_map("no name of a request", |text| text.parse().ok())
}

pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("no JSON", |number| number.is_finite()).prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((any_text(), inner), 0..4).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Generates unknown fields.
fn extra() -> impl Strategy<Value = Map<String, Value>> {
    let key = prop_oneof!["x_[a-z]{1,8}", any_text().prop_map(|text| format!("x {text}"))];
    prop_oneof![3 => Just(Map::new()), 1 => vec((key, any_value()), 0..3).prop_map(|members| members.into_iter().collect())]
}

fn need_kind() -> impl Strategy<Value = NeedKind> {
    let text = || filled_text();
    let texts = || vec(filled_text(), 0..3);
    let line = || option::of(1..=u64::MAX);
    let open = (option::of(text()), option::of(text()), line(), line(), option::of(10..=400_u32), line())
        .prop_filter("nothing to open", |open| open.0.is_some() || open.1.is_some())
        .prop_map(|(path, doc_id, start_line, end_line, window, head)| {
            NeedKind::Open(OpenNeed { path, doc_id, start_line, end_line, window, head })
        });
    let tree = (option::of(text()), option::of(1..=100_u32), any::<Option<bool>>(), any::<Option<bool>>());
    let tree = tree.prop_map(|(path, max_depth, dirs_only, include_hidden)| {
        NeedKind::Tree(TreeNeed { path, max_depth, dirs_only, include_hidden })
    });
    let role = option::of(prop::sample::select(DelegateRole::ALL));
    let delegate = (role, text(), texts(), texts(), texts(), any::<Option<bool>>(), line(), line(), line());
    let delegate = delegate.prop_map(
        |(
            role,
            goal,
            tools,
            allowed_paths,
            write_paths,
            read_only,
            max_steps,
            max_tool_calls,
            timeout_ms,
        )| {
            NeedKind::Delegate(DelegateNeed {
                role,
                goal,
                tools,
                allowed_paths,
                write_paths,
                read_only,
                max_steps,
                max_tool_calls,
                timeout_ms,
            })
        },
    );
    let format = option::of(prop::sample::select(DagFormat::ALL));
    prop_oneof![
        (text(), option::of(1..=100_u32)).prop_map(|(query, limit)| NeedKind::Search { query, limit }),
        (text(), option::of(10..=400_u32)).prop_map(|(doc_id, window)| NeedKind::Snippet { doc_id, window }),
        open,
        text().prop_map(|file| NeedKind::Symbols { file }),
        (text(), option::of(1..=100_000_u32)).prop_map(|(file, max_nodes)| NeedKind::Ast { file, max_nodes }),
        (text(), option::of(1..=100_u32)).prop_map(|(file, max_depth)| NeedKind::Impact { file, max_depth }),
        (option::of(text()), option::of(1..=100_u32), any::<Option<u64>>())
            .prop_map(|(file, limit, offset)| NeedKind::ImpactDiagnostics { file, limit, offset }),
        tree,
        (text(), any::<Option<bool>>()).prop_map(|(query, force_web)| NeedKind::Web { query, force_web }),
        (option::of(text()), format, option::of(1..=100_000_u32)).prop_map(
            |(session_id, format, max_nodes)| NeedKind::DagExport { session_id, format, max_nodes }
        ),
        text().prop_map(|path| NeedKind::FileRead { path }),
        (text(), option::of(text())).prop_map(|(root, pattern)| NeedKind::FileList { root, pattern }),
        texts().prop_map(|paths| NeedKind::FileDiff { paths }),
        Just(NeedKind::CommandOutput {}),
        delegate,
    ]
}

pub(crate) fn any_request() -> impl Strategy<Value = Request> {
    let need = (need_kind(), extra()).prop_map(|(kind, extra)| Need { kind, extra });
    let context = (option::of(filled_text()), vec(filled_text(), 0..3), extra())
        .prop_map(|(summary, constraints, extra)| Context { summary, constraints, extra });
    let role = filled_text().prop_map(|text| text.parse().unwrap());
    (role, request_id(), vec(need, 1..5), option::of(context), extra()).prop_map(
        |(role, request_id, needs, context, extra)| Request { role, request_id, needs, context, extra },
    )
}

fn score() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("no score", |score| score.is_finite()),
        (0..1000_u32).prop_map(f64::from)
    ]
}

#[expect(clippy::too_many_lines, reason = "one entry for each kind of result")]
fn need_result() -> impl Strategy<Value = NeedResult> {
    let text = || any_text();
    let number = || any::<u64>();
    let total = || any::<Option<u64>>();
    let hit = (text(), text(), score(), text(), number(), number(), number()).prop_map(
        |(doc_id, path, score, snippet, line_start, line_end, token_estimate)| CodeHit {
            doc_id,
            path,
            score,
            snippet,
            line_start,
            line_end,
            token_estimate,
        },
    );
    let symbol = (text(), text(), text(), number(), number(), option::of(text())).prop_map(
        |(name, kind, signature, line_start, line_end, container)| CodeSymbol {
            name,
            kind,
            signature,
            line_start,
            line_end,
            container,
        },
    );
    let node = (text(), any::<u32>(), number(), number(), number(), number()).prop_map(
        |(kind, depth, line_start, column_start, line_end, column_end)| AstNode {
            kind,
            depth,
            line_start,
            column_start,
            line_end,
            column_end,
        },
    );
    let edge =
        || (text(), text(), any::<u32>()).prop_map(|(file, kind, depth)| ImpactEdge { file, kind, depth });
    let import =
        (text(), number(), text()).prop_map(|(file, line, import)| UnresolvedImport { file, line, import });
    let page = (text(), text(), text()).prop_map(|(title, url, snippet)| WebHit { title, url, snippet });
    let opened = (text(), option::of(text()), total(), total(), total(), any::<bool>(), text()).prop_map(
        |(path, doc_id, line_start, line_end, total_lines, truncated, content)| {
            NeedResult::Open(OpenResult {
                path,
                doc_id,
                line_start,
                line_end,
                total_lines,
                truncated,
                content,
            })
        },
    );
    let snippet = (text(), option::of(text()), total(), total(), total(), any::<bool>(), text()).prop_map(
        |(doc_id, path, line_start, line_end, total_lines, truncated, content)| {
            NeedResult::Snippet(SnippetResult {
                doc_id,
                path,
                line_start,
                line_end,
                total_lines,
                truncated,
                content,
            })
        },
    );
    let impact = (text(), vec(edge(), 0..3), vec(edge(), 0..3), total(), any::<bool>(), total()).prop_map(
        |(file, inbound, outbound, unresolved, truncated, total_edges)| {
            NeedResult::Impact(ImpactResult { file, inbound, outbound, unresolved, truncated, total_edges })
        },
    );
    let guardrail = (
        prop::sample::select(vec![Disposition::Retryable, Disposition::NonRetryable]),
        prop::sample::select(vec![
            ReasonCode::MissingEvidence,
            ReasonCode::ScopeViolation,
            ReasonCode::DocEditGuard,
        ]),
    );
    let guardrail =
        option::of(guardrail.prop_map(|(disposition, reason_code)| Guardrail { disposition, reason_code }));
    let status = prop::sample::select(vec![CriticStatus::Pass, CriticStatus::Fail]);
    let texts = || vec(any_text(), 0..3);
    let critic = (status, texts(), texts(), texts(), texts(), guardrail).prop_map(
        |(status, reasons, suggested_fixes, touched_files, plan_targets, guardrail)| {
            NeedResult::Critic(CriticResult {
                status,
                reasons,
                suggested_fixes,
                touched_files,
                plan_targets,
                guardrail,
            })
        },
    );
    let failed = ("[a-z]{1,6}\\.[a-z]{1,6}", extra(), text(), option::of(text())).prop_map(
        |(need_type, fields, error, message)| {
            NeedResult::Failed(FailedResult { need_type, fields, error, message })
        },
    );
    let other = ("x\\.[a-z]{1,6}", extra())
        .prop_map(|(result_type, fields)| NeedResult::Other(OtherResult { result_type, fields }));
    prop_oneof![
        (text(), vec(hit, 0..3), any::<bool>(), total()).prop_map(|(query, hits, truncated, total_hits)| {
            NeedResult::Search(SearchResult { query, hits, truncated, total_hits })
        }),
        snippet,
        opened,
        (text(), vec(symbol, 0..3), any::<bool>(), total()).prop_map(
            |(file, symbols, truncated, total_symbols)| {
                NeedResult::Symbols(SymbolsResult { file, symbols, truncated, total_symbols })
            }
        ),
        (text(), vec(node, 0..3), any::<bool>(), total()).prop_map(
            |(file, nodes, truncated, total_nodes)| {
                NeedResult::Ast(AstResult { file, nodes, truncated, total_nodes })
            }
        ),
        impact,
        (option::of(text()), vec(import, 0..3), any::<bool>(), total()).prop_map(
            |(file, diagnostics, truncated, total_diagnostics)| {
                NeedResult::ImpactDiagnostics(ImpactDiagnosticsResult {
                    file,
                    diagnostics,
                    truncated,
                    total_diagnostics,
                })
            }
        ),
        (option::of(text()), any::<bool>(), total(), text()).prop_map(
            |(path, truncated, total_entries, tree)| {
                NeedResult::Tree(TreeResult { path, truncated, total_entries, tree })
            }
        ),
        (text(), vec(page, 0..3), any::<bool>(), total()).prop_map(
            |(query, results, truncated, total_results)| {
                NeedResult::Web(WebResult { query, results, truncated, total_results })
            }
        ),
        (text(), any::<bool>(), total(), text()).prop_map(|(path, truncated, total_lines, content)| {
            NeedResult::FileRead(FileReadResult { path, truncated, total_lines, content })
        }),
        (text(), option::of(text()), texts(), any::<bool>(), total()).prop_map(
            |(root, pattern, files, truncated, total_files)| {
                NeedResult::FileList(FileListResult { root, pattern, files, truncated, total_files })
            }
        ),
        (texts(), any::<bool>(), total(), text()).prop_map(|(paths, truncated, total_lines, diff)| {
            NeedResult::FileDiff(FileDiffResult { paths, truncated, total_lines, diff })
        }),
        (text(), any::<bool>(), text(), any::<bool>(), total(), text()).prop_map(
            |(command, succeeded, outcome, truncated, total_lines, content)| {
                NeedResult::CommandOutput(CommandOutputResult {
                    command,
                    succeeded,
                    outcome,
                    truncated,
                    total_lines,
                    content,
                })
            }
        ),
        critic,
        failed,
        other,
    ]
}

fn warning() -> impl Strategy<Value = Warning> {
    prop_oneof![
        prop::sample::select(WarningCode::ALL).prop_map(Warning::new),
        (prop::sample::select(WarningCode::ALL), any_text())
            .prop_map(|(code, detail)| Warning::with(code, detail)),
        any_text().prop_map(|text| Warning::parse(&text)),
    ]
}

pub(crate) fn any_response() -> impl Strategy<Value = Response> {
    let meta = (option::of(any_text()), vec(warning(), 0..3), any::<Option<u64>>(), extra())
        .prop_map(|(repo_root, warnings, elapsed_ms, extra)| Meta { repo_root, warnings, elapsed_ms, extra });
    (request_id(), vec(need_result(), 0..4), meta, extra())
        .prop_map(|(request_id, results, meta, extra)| Response { request_id, results, meta, extra })
}
