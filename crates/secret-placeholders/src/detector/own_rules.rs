//! Rules beside those of the library: tokens that it does not have, and fields of JSON and of other data.

use nosecrets_rules::{Rule, RuleAllow, Severity};

use super::check::Check;

/// A rule as a table has it.
struct Own {
    id: &'static str,
    pattern: &'static str,
    keywords: &'static [&'static str],
    /// Values that are examples.
    allowed: &'static [&'static str],
    check: Check,
}

/// The own rules. A rule with the name of one of the library finds the same values behind a name in quotes.
const RULES: [Own; 12] = [
    Own {
        id: "password-assignment",
        pattern: r#"(?i)(?:password|passwd|pwd)\\?['"]\s*[=:]>?\s*\\?['"]([^'"\\]{8,})\\?['"]"#,
        keywords: &["password", "passwd", "pwd"],
        allowed: &["changeme", "(?i)password", "^test", "^xxx", r"^\*+$"],
        check: Check::NotText,
    },
    Own {
        id: "generic-secret",
        pattern: r#"(?i)secret\\?['"]\s*[=:]>?\s*\\?['"]([A-Za-z0-9_-]{16,})\\?['"]"#,
        keywords: &["secret"],
        allowed: &["^[A-Z_]+$", "(?i)example", "changeme", "xxx"],
        check: Check::NotText,
    },
    Own {
        id: "generic-api-key",
        pattern: r#"(?i)api[_-]?key\\?['"]\s*[=:]>?\s*\\?['"]([A-Za-z0-9_-]{20,})\\?['"]"#,
        keywords: &["api_key", "apikey", "api-key"],
        allowed: &["^[A-Z_]+$", "(?i)example", "(?i)your.*here"],
        check: Check::NotText,
    },
    Own {
        id: "basic-auth",
        pattern: r#"(?i)authorization\\?['"]\s*[=:,]>?\s*\\?['"]basic\s+([A-Za-z0-9+/]{8,}=*)"#,
        keywords: &["authorization"],
        allowed: &[],
        check: Check::Login,
    },
    Own {
        id: "npm-auth-token",
        pattern: r#"\b_(?:authToken|auth|password)\s*=\s*['"]?([A-Za-z0-9+/=_.-]{16,})"#,
        keywords: &["_auth", "_password"],
        allowed: &[],
        check: Check::Random,
    },
    Own {
        id: "hugging-face-token",
        pattern: r"\b(hf_[A-Za-z0-9]{30,})\b",
        keywords: &["hf_"],
        allowed: &[],
        check: Check::Random,
    },
    Own {
        id: "openai-key",
        pattern: r"\b(sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,})",
        keywords: &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        allowed: &[],
        check: Check::Random,
    },
    Own {
        id: "anthropic-key",
        pattern: r"\b(sk-ant-[A-Za-z0-9_-]{20,})",
        keywords: &["sk-ant-"],
        allowed: &[],
        check: Check::Random,
    },
    Own {
        id: "github-refresh-token",
        pattern: r"\b(ghr_[A-Za-z0-9]{36,})\b",
        keywords: &["ghr_"],
        allowed: &[],
        check: Check::None,
    },
    Own {
        id: "gitlab-token",
        pattern: r"\b(gl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{7,9})?)",
        keywords: &["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"],
        allowed: &[],
        check: Check::None,
    },
    Own {
        id: "bearer-token",
        pattern: r"(?i)\bbearer\s+([A-Za-z0-9._~+/-]{20,}=*)",
        keywords: &["bearer"],
        allowed: &[],
        check: Check::Random,
    },
    Own {
        id: "docker-login",
        pattern: r#""auth\\?"\s*:\s*\\?"([A-Za-z0-9+/]{8,}={0,2})\\?""#,
        keywords: &["\"auth"],
        allowed: &[],
        check: Check::Login,
    },
];

/// Returns the own rules, each with the check of its values.
pub(super) fn own_rules() -> Vec<(Rule, Check)> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let rule = |own: Own| Rule {
        id: own.id.to_owned(),
        name: own.id.to_owned(),
        severity: Severity::High,
        pattern: own.pattern.to_owned(),
        keywords: texts(own.keywords),
        capture: 1,
        validate: None,
        paths: None,
        allow: Some(RuleAllow { patterns: texts(own.allowed), values: Vec::new() }),
    };
    RULES
        .into_iter()
        .map(|own| {
            let check = own.check;
            (rule(own), check)
        })
        .collect()
}
