//! Cases whose expectation a ruling replaces.

use serde_json::Value;

/// A case that is run with another expectation than its own, because a higher authority says so.
#[derive(Debug)]
pub(super) struct Ruling {
    pub file: &'static str,
    pub case: &'static str,
    /// The expectation instead, as JSON.
    pub expect: &'static str,
    pub reason: &'static str,
}

/// All of them. The case as it stands must fail, else the row is no longer needed.
const RULINGS: [Ruling; 12] = [
    Ruling {
        file: "tagproto.json",
        case: "flow_no_results_section_when_empty",
        expect: r###"{
        "order": [
            "=== HEADER ===", "=== PROTOCOL ===", "=== CONTEXT ===", "## Workspace Files",
            "## Previous Command Results", "=== PROMPT ==="
        ]
    }"###,
        reason: "a reply in which nothing was recognised is answered with a note (docs/tagproto.md)",
    },
    Ruling {
        file: "wap.json",
        case: "modify_insert_past_end",
        expect: r#"{ "after": { "a": "l1\nl2\nl3\nl4\nl5\nx\n" } }"#,
        reason: "an insertion past the end appends (docs/wap.md, modifyFile)",
    },
    Ruling {
        file: "cocode.json",
        case: "run_env_allowlist",
        expect: r#"{
        "kept": [
            "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_TIME", "TERM", "TERMINFO", "USER", "USERNAME",
            "TZ", "TMPDIR", "COCODE_*", "CLAUDE_*", "ANTHROPIC_*", "CODEX_*", "OPENAI_*"
        ],
        "dropped": ["GITHUB_TOKEN", "SSH_AUTH_SOCK", "any other"],
        "PATH": "the user's"
    }"#,
        reason: "an agent gets the user's PATH (docs/agent-access.md, What it can read and change)",
    },
    Ruling {
        file: "cocode.json",
        case: "run_ready_detached_head",
        expect: r#"{ "ready": false, "failed": ["changes"], "warn": "HEAD is not on the agent's branch" }"#,
        reason: "a commit without changes is not ready (docs/cocode.md, The verdict)",
    },
    Ruling {
        file: "cocode.json",
        case: "run_ready_substring",
        expect: r#"{ "ready": false, "failed": ["changes"] }"#,
        reason: "a commit without changes is not ready (docs/cocode.md, The verdict)",
    },
    // The other ones hold what another implementation does, and a sentence about what is better.
    Ruling {
        file: "codali.json",
        case: "exec/list-ignored-files",
        expect: r#"{ "files": [["ok.txt"], ["ok.txt"], ["ok.txt"]] }"#,
        reason: "what git ignores is left out, whatever the pattern (docs/codali.md, file.list)",
    },
    Ruling {
        file: "codali.json",
        case: "extract/blockquoted",
        expect: r##"{ "peer": { "treated_as": "request", "response": { "request_id": "q1", "results": [{ "type": "file.read", "path": "README.md", "content": "# R\n" }] } } }"##,
        reason: "quote marks in front of a request are taken off (docs/codali.md, finding a request)",
    },
    Ruling {
        file: "codali.json",
        case: "extract/bold-header",
        expect: r##"{ "peer": { "treated_as": "request", "response": { "request_id": "q1", "results": [{ "type": "file.read", "path": "README.md", "content": "# R\n" }] } } }"##,
        reason: "a header may be bold (docs/codali.md, finding a request)",
    },
    Ruling {
        file: "codali.json",
        case: "extract/fence-inside-value",
        expect: r##"{ "peer": { "treated_as": "request", "response": { "request_id": "q1", "results": [{ "type": "file.read", "path": "what ``` is", "error": "file_not_found" }, { "type": "file.read", "path": "README.md", "content": "# R\n" }] } } }"##,
        reason: "a fence counts at the start of a line only (docs/codali.md, finding a request)",
    },
    Ruling {
        file: "codali.json",
        case: "extract/header-quoted-in-prose",
        expect: r#"{ "peer": { "treated_as": "final answer" } }"#,
        reason: "a header without a request after it is none (docs/codali.md, finding a request)",
    },
    Ruling {
        file: "codali.json",
        case: "history/summarizer-fails",
        expect: r#"{ "peer": { "summarizer_batches": [10], "history": ["m11", "m12", "m13", "m14", "m15", "m16", "m17", "m18", "m19"] } }"#,
        reason: "without a summary the oldest messages are left out (docs/codali.md, history)",
    },
    Ruling {
        file: "codali.json",
        case: "history/summary-too-long",
        expect: r#"{ "peer": { "summarizer_batches": [10, 5], "history": ["SUMMARY", "m14", "m15", "m16", "m17", "m18", "m19"] } }"#,
        reason: "a summary is cut, and so makes a history shorter (docs/codali.md, history)",
    },
];

impl Ruling {
    /// Returns the ruling about a case, if there is one.
    pub(super) fn about(file: &str, case: &str) -> Option<&'static Ruling> {
        RULINGS.iter().find(|ruling| ruling.file == file && ruling.case == case)
    }

    /// Returns the case as it was ruled.
    pub(super) fn apply(&self, case: &Value) -> Value {
        let mut case = case.clone();
        case["expect"] = serde_json::from_str(self.expect).expect("the table holds JSON");
        case
    }
}
