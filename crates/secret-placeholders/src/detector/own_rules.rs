//! Rules in addition to the library's: further tokens, and fields of JSON and other data.

use nosecrets_rules::{Rule, RuleAllow, Severity};

use super::check::Check;
use super::token_rules::TOKENS;

/// A row of the rule tables.
pub(super) struct Own {
    pub(super) id: &'static str,
    pub(super) pattern: &'static str,
    pub(super) keywords: &'static [&'static str],
    /// Values that are examples.
    pub(super) allowed: &'static [&'static str],
    pub(super) check: Check,
}

/// The library's rules that own ones replace.
pub(super) const REPLACED: [&str; 5] =
    ["password-assignment", "generic-secret", "generic-api-key", "aws-secret-key", "azure-storage-key"];

/// The words that may follow the keyword of a field in its name: `SECRET_KEY`, `PASSWORD_PROD`, `password2`. Other
/// endings, such as `_hash`, `_file` and `_length`, name an attribute of the value.
const ENDINGS: &str = "(?:s|[._-]?(?:key|token|value|base|prod|production|stage|staging|dev|development|test|live|qa|local|old|new|[0-9]{1,3}))*";

/// Values after a password's name that are not passwords.
const NO_PASSWORDS: &[&str] =
    &[r"(?i)^[a-z_. -]*(?:password|changeme)[a-z_. -]*[0-9]{0,4}[!.?]?$", "^xxxx", r"^\*+$"];

/// The own rules. A rule with the name of one of the library finds the same values in further forms.
const RULES: [Own; 31] = [
    Own {
        id: "npm-auth-token",
        pattern: r#"\b(?:_authToken['"]?\s*[=:]|_(?:auth|password)\s*=|npmAuth(?:Token|Ident)['"]?\s*:)\s*['"]?([A-Za-z0-9+/=_.-]{16,})"#,
        keywords: &["_auth", "_password", "npmauth"],
        allowed: &[],
        check: Check::Random,
    },
    Own {
        id: "password-assignment",
        pattern: r"password|passwd|passphrase|pwd|requirepass|masterauth|bindpw|passcode|storepass|keypass|securestring|identified\s+by|(?:db|database|smtp|e?mail|user|admin|root|ftp|ssh|redis|mysql|postgres|pg|mongo|ldap|wifi|login|sudo|become)[._-]?(?:pass|pw)",
        keywords: &[
            "password",
            "passwd",
            "passphrase",
            "pwd",
            "requirepass",
            "masterauth",
            "bindpw",
            "passcode",
            "storepass",
            "securestring",
            "identified by",
            "pass=",
            "pass:",
            "pass\"",
            "pass'",
            "pass\\",
            "pass =",
            "_pass ",
            "pw=",
            "pw:",
            "pw\"",
            "pw'",
        ],
        allowed: NO_PASSWORDS,
        check: Check::Password,
    },
    Own {
        id: "password-assignment",
        pattern: "pass|pw|psk",
        keywords: &[
            "pass=", "pass:", "pass\"", "pass'", "pass\\", "pass =", "_pass ", "pw=", "pw:", "pw\"", "pw'",
            "psk=",
        ],
        allowed: NO_PASSWORDS,
        check: Check::ShortName,
    },
    Own {
        id: "generic-secret",
        pattern: "secret",
        keywords: &["secret"],
        allowed: &["^[A-Z_]+$", "(?i)example", "changeme", "xxx"],
        check: Check::Secret,
    },
    Own {
        id: "generic-api-key",
        pattern: "api[_-]?key",
        keywords: &["api_key", "apikey", "api-key"],
        allowed: &["^[A-Z_]+$", "(?i)example", "(?i)your.*here"],
        check: Check::ApiKey,
    },
    Own {
        id: "aws-secret-key",
        pattern: r#"(?i)aws.{0,20}secret.{0,20}['"\s=:]([A-Za-z0-9/+=]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        keywords: &["aws", "secret"],
        allowed: &["EXAMPLEKEY$"],
        check: Check::None,
    },
    Own {
        id: "aws-secret-key",
        pattern: r#"(?i)secret_?access_?key(?:\\*['"])?\s*[=:]>?\s*(?:\\*['"])?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        keywords: &["secret"],
        allowed: &["EXAMPLEKEY$"],
        check: Check::None,
    },
    Own {
        id: "aws-session-token",
        pattern: r#"(?i)session_?token(?:\\*['"])?\s*[=:]>?\s*(?:\\*['"])?([A-Za-z0-9/+]{100,}={0,2})"#,
        keywords: &["sessiontoken", "session_token"],
        allowed: &["EXAMPLE"],
        check: Check::None,
    },
    Own {
        id: "azure-storage-key",
        pattern: r#"(?i)(?:account.?key|storage.?key).{0,20}['"\s=:]([A-Za-z0-9/+=]{88})(?:[^A-Za-z0-9/+=]|$)"#,
        keywords: &["key"],
        allowed: &[],
        check: Check::None,
    },
    Own {
        id: "azure-shared-key",
        pattern: r"(?i)shared_?access_?key\s*=\s*([A-Za-z0-9/+]{43}=)",
        keywords: &["sharedaccesskey", "shared_access_key"],
        allowed: &[],
        check: Check::None,
    },
    Own {
        id: "basic-auth",
        pattern: r#"(?i)authorization(?:\\*['"])?\s*[=:,]>?\s*\\*['"]basic\s+([A-Za-z0-9+/]{8,}=*)"#,
        keywords: &["authorization"],
        allowed: &[],
        check: Check::Login,
    },
    Own {
        id: "hugging-face-token",
        pattern: r"\b((?:hf_|api_org_)[A-Za-z0-9]{30,})\b",
        keywords: &["hf_", "api_org_"],
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
        pattern: r"\b(gl(?:pat|dt|rt|ptt|cbt|soat)-[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{7,9})?)",
        keywords: &["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-"],
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
        pattern: r#""auth\\*"\s*:\s*\\*"([A-Za-z0-9+/]{8,}={0,2})\\*""#,
        keywords: &["\"auth"],
        allowed: &[],
        check: Check::Login,
    },
    Own {
        id: "docker-identity-token",
        pattern: r#""(?:identity|registry)token\\*"\s*:\s*\\*"([A-Za-z0-9+/=_.-]{16,})\\*""#,
        keywords: &["identitytoken", "registrytoken"],
        allowed: &[],
        check: Check::Random,
    },
    Own {
        id: "docker-token",
        pattern: r"\b(dckr_[po]at_[A-Za-z0-9_-]{20,})",
        keywords: &["dckr_"],
        allowed: &[],
        check: Check::None,
    },
    Own {
        id: "json-web-token",
        pattern: r"\b(eyJ[A-Za-z0-9_-]{10,}\.(?:eyJ[A-Za-z0-9_-]{10,}|[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]{10,}){2})\.[A-Za-z0-9_-]{20,})",
        keywords: &["eyj"],
        allowed: &[],
        check: Check::None,
    },
    Own {
        id: "google-token",
        pattern: r"\b(ya29\.[A-Za-z0-9_-]{30,})",
        keywords: &["ya29."],
        allowed: &[],
        check: Check::None,
    },
    Own {
        id: "grafana-token",
        pattern: r"\b(glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8})\b",
        keywords: &["glsa_"],
        allowed: &[],
        check: Check::None,
    },
    Own {
        id: "shopify-token",
        pattern: r"\b(shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32,})\b",
        keywords: &["shpat_", "shpca_", "shppa_", "shpss_"],
        allowed: &[],
        check: Check::None,
    },
    Own {
        id: "slack-token",
        pattern: r"\b(xapp-[0-9]-[A-Z0-9]+-[0-9]+-[A-Za-z0-9]{30,}|xoxe(?:\.xox[bp])?-[0-9]-[A-Za-z0-9]{30,})",
        keywords: &["xapp-", "xoxe"],
        allowed: &[],
        check: Check::None,
    },
    Own {
        id: "age-key",
        pattern: r"(?i)\b(AGE-SECRET-KEY-1[0-9A-Z]{58})\b",
        keywords: &["age-secret-key-1"],
        allowed: &[],
        check: Check::None,
    },
    Own {
        id: "wireguard-key",
        pattern: r#"(?i)(?:private|preshared)_?key(?:\\*['"])?\s*[=:]\s*(?:\\*['"])?([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)(?:[^A-Za-z0-9+/=]|$)"#,
        keywords: &["privatekey", "presharedkey", "private_key", "preshared_key"],
        allowed: &[],
        check: Check::None,
    },
    Own {
        id: "authorization-token",
        pattern: r#"(?i)authorization(?:\\*['"])?\]?\s*[=:,]>?\s*(?:\\*['"])?(?:token|api-?key)\s+([A-Za-z0-9._~+/-]{20,}=*)"#,
        keywords: &["authorization"],
        allowed: &[],
        check: Check::Random,
    },
    Own {
        id: "hexadecimal-key",
        pattern: r#"(?i)(?:(?:private|deployer|signer|wallet|owner)[._-]?key(?:\\*['"])?\s*[=:]|\baccounts(?:\\*['"])?\s*[=:]\s*\[)\s*(?:\\*['"])?((?:0x)?[0-9a-f]{64})\b"#,
        keywords: &["private", "deployer", "signer", "wallet", "owner", "accounts"],
        allowed: &[],
        check: Check::None,
    },
    // Last: any other rule that finds the same value is more specific.
    Own { id: "generic-token", pattern: "token", keywords: &["token"], allowed: &[], check: Check::Token },
    Own {
        id: "generic-key",
        pattern: "(?:master|encryption|signing|app|access|fernet|aes|hmac|storage|account|vapid[._-]?private)[._-]?key",
        keywords: &[
            "access_key",
            "accesskey",
            "access-key",
            "fernet",
            "aes",
            "hmac",
            "storage_key",
            "storagekey",
            "account_key",
            "accountkey",
            "vapid",
            "masterkey",
            "master_key",
            "master.key",
            "master-key",
            "encryptionkey",
            "encryption_key",
            "encryption.key",
            "encryption-key",
            "signingkey",
            "signing_key",
            "signing.key",
            "signing-key",
            "appkey",
            "app_key",
            "app.key",
            "app-key",
        ],
        allowed: &[],
        check: Check::Token,
    },
];

/// Returns the own rules, each with the check of its values.
pub(super) fn own_rules() -> Vec<(Rule, Check)> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let rule = |own: Own| Rule {
        id: own.id.to_owned(),
        name: own.id.to_owned(),
        severity: Severity::High,
        pattern: if own.check.reads_field() {
            format!("(?i-u)(?:{}){ENDINGS}", own.pattern)
        } else {
            own.pattern.to_owned()
        },
        keywords: texts(own.keywords),
        capture: 1,
        validate: None,
        paths: None,
        allow: Some(RuleAllow { patterns: texts(own.allowed), values: Vec::new() }),
    };
    TOKENS
        .into_iter()
        .chain(RULES)
        .map(|own| {
            let check = own.check;
            (rule(own), check)
        })
        .collect()
}
