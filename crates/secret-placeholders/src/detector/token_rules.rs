//! Tokens with a beginning that nothing else has.

use super::check::Check;
use super::own_rules::Own;

/// The rules. Where the rest is short or may be words, it has to look random.
pub(super) const TOKENS: [Own; 16] = [
    token("stripe-test-key", r"\b([sr]k_test_[A-Za-z0-9]{16,})\b", &["k_test_"], Check::Random),
    token("google-client-secret", r"\b(GOCSPX-[A-Za-z0-9_-]{28})", &["gocspx-"], Check::Random),
    token("google-refresh-token", r"(?:^|[^A-Za-z0-9])(1//0[A-Za-z0-9_-]{40,})", &["1//0"], Check::Random),
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
    token("telegram-token", r"\b([0-9]{8,10}:AA[A-Za-z0-9_-]{33})\b", &[":aa"], Check::Random),
];

const fn token(
    id: &'static str,
    pattern: &'static str,
    keywords: &'static [&'static str],
    check: Check,
) -> Own {
    Own { id, pattern, keywords, allowed: &[], check }
}
