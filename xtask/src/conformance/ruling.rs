//! Cases that a ruling decides otherwise.

use serde_json::Value;

/// A case that is run with another expectation than its own, because a higher authority says so.
#[derive(Debug)]
pub(super) struct Ruling {
    pub file: &'static str,
    pub case: &'static str,
    /// What is expected instead, as JSON.
    pub expect: &'static str,
    pub reason: &'static str,
}

/// All of them. The case as it stands must fail, else the row is no longer needed.
const RULINGS: [Ruling; 2] = [
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
        reason: "an agent gets the user's PATH (docs/cocode.md, What an agent may do)",
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
