//! Tokens with a unique prefix.

use super::check::Check;
use super::own_rules::Own;

/// The rules. Where the rest is short or may be words, it has to look random.
pub(super) const TOKENS: [Own; 28] = [
    token("stripe-test-key", r"\b([sr]k_test_[A-Za-z0-9]{16,})\b", &["k_test_"], Check::Random),
    token("google-client-secret", r"\b(GOCSPX-[A-Za-z0-9_-]{28})", &["gocspx-"], Check::Random),
    token("google-refresh-token", r"\b(1//0[A-Za-z0-9_-]{40,})", &["1//0"], Check::Random),
    token("vault-token", r"\b(hv[sbr]\.[A-Za-z0-9_-]{24,})", &["hvs.", "hvb.", "hvr."], Check::Random),
    token("openrouter-key", r"\b(sk-or-v1-[0-9a-f]{64})\b", &["sk-or-v1-"], Check::None),
    token("xai-key", r"\b(xai-[A-Za-z0-9]{60,})\b", &["xai-"], Check::Random),
    token("openai-key", r"\b(sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})\b", &["t3blbkfj"], Check::None),
    token("databricks-token", r"\b(dapi[0-9a-f]{32}(?:-[0-9])?)\b", &["dapi"], Check::None),
    token("atlassian-token", r"\b(AT[AC]TT3[A-Za-z0-9_=-]{50,})", &["atatt3", "atctt3"], Check::None),
    token("linear-key", r"\b(lin_api_[A-Za-z0-9]{32,})\b", &["lin_api_"], Check::Random),
    token("postman-key", r"\b(PMAK-[0-9a-f]{24}-[0-9a-f]{34})\b", &["pmak-"], Check::None),
    token("new-relic-key", r"\b(NRAK-[A-Z0-9]{27})\b", &["nrak-"], Check::None),
    token("sentry-token", r"\b(sntry[su]_[A-Za-z0-9+/=_-]{40,})", &["sntrys_", "sntryu_"], Check::None),
    token("rubygems-key", r"\b(rubygems_[0-9a-f]{48})\b", &["rubygems_"], Check::None),
    token(
        "terraform-token",
        r"\b([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,})",
        &[".atlasv1."],
        Check::None,
    ),
    token("telegram-token", r"\b(?:bot)?([0-9]{8,10}:AA[A-Za-z0-9_-]{33})\b", &[":aa"], Check::Random),
    token(
        "docker-config",
        r#"(?i)dockerconfigjson(?:\\*['"])?\s*:\s*(?:\\*['"])?([A-Za-z0-9+/]{24,}={0,2})"#,
        &["dockerconfig"],
        Check::None,
    ),
    token("docker-config", r"\b(eyJhdXRocyI6[A-Za-z0-9+/]{16,}={0,2})", &["eyjhdxrocyi6"], Check::None),
    // Services whose tokens have nothing else in common.
    token(
        "service-token",
        r"\b(gsk_[A-Za-z0-9]{50,}|r8_[A-Za-z0-9]{37}|pplx-[A-Za-z0-9]{40,}|pcsk_[A-Za-z0-9_]{50,}|figd_[A-Za-z0-9_-]{38,}|ntn_[A-Za-z0-9]{40,}|ATBB[A-Za-z0-9]{32})\b",
        &["gsk_", "r8_", "pplx-", "pcsk_", "figd_", "ntn_", "atbb"],
        Check::Random,
    ),
    token(
        "service-token",
        r"\b(sbp_[a-f0-9]{40}|pul-[a-f0-9]{40}|sq[pu]_[a-f0-9]{40}|dp\.[ps]t\.[A-Za-z0-9._-]{40,}|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}|pat-[a-z]{2}1-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12})\b",
        &["sbp_", "pul-", "sqp_", "squ_", "dp.pt.", "dp.st.", "pscale_", "pat-na1-"],
        Check::None,
    ),
    token("mapbox-token", r"\b(sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,})", &["sk.eyj"], Check::None),
    token("notion-token", r"\b(secret_[A-Za-z0-9]{43})\b", &["secret_"], Check::Random),
    token("azure-signature", r"[?&;]sig=([A-Za-z0-9%+/]{40,}(?:%3[Dd]|=))", &["sig="], Check::None),
    token(
        "aws-secret-key",
        r#"\bA[KS]IA[A-Z2-7]{16}(?:\\*['"])?\s*[:,]\s*(?:\\*['"])?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9+/=]|$)"#,
        &["akia", "asia"],
        Check::Random,
    ),
    token(
        "login",
        r#"(?i)(?:(?:HTTP|Http)?(?:Basic_?|Digest)auth|NetworkCredential|\.login|\bauth ?= ?)\(\s*\\*['"][^'"]{1,64}['"]\s*,\s*(?:Some\()?\\*['"]([^'"\s]{8,128})\\*['"]"#,
        &[
            "basicauth",
            "basic_auth",
            "digestauth",
            "networkcredential",
            ".login(",
            "auth=(",
            "auth = (",
            "auth =(",
            "auth= (",
        ],
        Check::Surely,
    ),
    token("command-password", r#"\bsshpass\s+-p\s*['"]?([^\s'"]{8,})"#, &["sshpass"], Check::Surely),
    token(
        "command-password",
        r#"\bcurl\s(?:[^|;&]{0,200}\s)?(?:-u|--user)[ =]?['"]?[^\s:'"]{1,64}:([^\s'"]{8,})"#,
        &["curl"],
        Check::Surely,
    ),
    token(
        "command-password",
        r#"[A-Za-z0-9_.-]:([^\s'"|]{8,})['"]?\s*\|\s*(?:sudo\s+)?chpasswd"#,
        &["chpasswd"],
        Check::Surely,
    ),
];

const fn token(
    id: &'static str,
    pattern: &'static str,
    keywords: &'static [&'static str],
    check: Check,
) -> Own {
    Own { id, pattern, keywords, allowed: &[], check }
}
