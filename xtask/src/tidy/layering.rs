//! The dependencies that each crate may have within the workspace.

use super::Finding;
use crate::CrateList;

const CHECK: &str = "layering";

/// The dependencies that each crate may have within the workspace, tests apart. `rel-path` is open to every crate, and `*` is
/// everything but `agentd-workspace` and `xtask`. A crate that is missing here has no place in the design yet.
const TABLE: [(&str, &[&str]); 45] = [
    ("rel-path", &[]),
    ("content-hash", &[]),
    ("git-index", &[]),
    ("wap-core", &[]),
    ("tagproto", &["wap-core"]),
    ("codali-envelope", &["wap-core"]),
    ("cocode-env", &[]),
    ("text-edit", &[]),
    ("wap-edit", &["wap-core", "text-edit"]),
    ("memory-workspace", &["wap-core", "wap-edit", "text-edit"]),
    ("test-support", &["wap-core"]),
    ("sandbox-fs", &["content-hash"]),
    ("egress", &["sandbox-exec"]),
    ("sandbox-exec", &[]),
    ("cow-layer", &["sandbox-fs"]),
    ("change-journal", &["content-hash"]),
    ("change-review", &["wap-core", "change-journal", "content-hash"]),
    ("review-view", &["wap-core", "change-review"]),
    ("file-index", &["sandbox-fs"]),
    ("drop-folder", &["wap-core", "sandbox-fs"]),
    ("wap-calls", &["wap-core"]),
    ("wap-mcp", &["content-hash", "wap-core", "wap-calls"]),
    ("wap-http", &["wap-core", "wap-calls", "wap-mcp"]),
    (
        "local-workspace",
        &[
            "wap-core",
            "sandbox-fs",
            "sandbox-exec",
            "cow-layer",
            "egress",
            "change-journal",
            "file-index",
            "text-edit",
            "wap-edit",
            "git-index",
        ],
    ),
    ("code-index", &["wap-core", "sandbox-fs", "file-index"]),
    ("docdex-client", &["wap-core"]),
    ("mcp-client-config", &[]),
    ("model-program", &["wap-core"]),
    ("secret-placeholders", &["wap-core", "wap-edit", "text-edit"]),
    (
        "codali-session",
        &[
            "codali-envelope",
            "wap-core",
            "docdex-client",
            "model-program",
            "drop-folder",
            "sandbox-fs",
            "secret-placeholders",
        ],
    ),
    ("tag-session", &["tagproto", "wap-core", "sandbox-fs", "change-journal", "drop-folder"]),
    (
        "workspace-host",
        &[
            "wap-core",
            "wap-calls",
            "secret-placeholders",
            "tagproto",
            "tag-session",
            "local-workspace",
            "change-journal",
            "change-review",
            "content-hash",
            "egress",
            "file-index",
            "sandbox-fs",
            "sandbox-exec",
        ],
    ),
    (
        "workspace-index",
        &["code-index", "file-index", "secret-placeholders", "wap-core", "wap-mcp", "workspace-host"],
    ),
    (
        "workspace-mcp",
        &[
            "change-journal",
            "change-review",
            "local-workspace",
            "tagproto",
            "wap-core",
            "wap-mcp",
            "workspace-host",
        ],
    ),
    ("cocode-runner", &["cocode-env", "egress", "sandbox-exec", "change-journal", "git-index"]),
    ("cocode-fleet", &[]),
    ("fleet-runner", &["cocode-env", "cocode-fleet", "cocode-runner", "sandbox-exec"]),
    (
        "web-ui",
        &[
            "wap-core",
            "wap-http",
            "tagproto",
            "tag-session",
            "drop-folder",
            "change-journal",
            "change-review",
            "local-workspace",
            "workspace-host",
            "cocode-env",
            "cocode-runner",
        ],
    ),
    ("agentd-workspace", &["*"]),
    ("fuzz-checks", &["*"]),
    ("examples", &["*"]),
    ("adapter-search-replace", &["wap-core", "text-edit"]),
    ("adapter-apply-patch", &["text-edit", "wap-core"]),
    ("contributed-tools", &["wap-core", "wap-calls", "wap-mcp", "wap-http", "memory-workspace"]),
    ("xtask", &["*"]),
];

/// Crates that do no I/O, and what would give it to them.
pub(crate) const CODECS: [&str; 9] = [
    "rel-path",
    "wap-core",
    "wap-edit",
    "tagproto",
    "codali-envelope",
    "cocode-env",
    "text-edit",
    "git-index",
    "secret-placeholders",
];
const NOT_IN_CODECS: [&str; 16] = [
    "tokio",
    "async-std",
    "smol",
    "futures",
    "axum",
    "hyper",
    "rusqlite",
    "rustix",
    "libc",
    "nix",
    "notify",
    "signal-hook",
    "landlock",
    "seccompiler",
    "tempfile",
    "jiff",
];

pub(super) fn check(list: &CrateList) -> Vec<Finding> {
    let names: Vec<&str> = list.crates.iter().map(|one| one.name.as_str()).collect();
    let mut findings = Vec::new();
    for one in &list.crates {
        let mut report = |text: String| findings.push(Finding::new(CHECK, &one.name, text));
        let Some((_, allowed)) = TABLE.iter().find(|(name, _)| *name == one.name) else {
            report("the crate is not in the layering table".to_owned());
            continue;
        };
        for dependency in one.dependencies.iter().map(String::as_str) {
            let is_ours = names.contains(&dependency);
            let is_top = matches!(dependency, "agentd-workspace" | "xtask");
            let everything = allowed.contains(&"*") && !is_top;
            if is_ours && dependency != "rel-path" && !everything && !allowed.contains(&dependency) {
                report(format!("may not depend on {dependency}"));
            }
            if CODECS.contains(&one.name.as_str()) && NOT_IN_CODECS.contains(&dependency) {
                report(format!("is a codec and may not depend on {dependency}"));
            }
        }
    }
    findings
}
