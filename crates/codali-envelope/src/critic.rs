//! The critic: a quality gate for a builder's changes, and its result.

use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::request::path_rule::{is_below_any, normalized};
use crate::{
    Context, Meta, Need, NeedKind, NeedResult, Request, RequestId, Response, Role, Warning, WarningCode,
};

/// The target in a plan that names no file.
const UNKNOWN_TARGET: &str = "unknown";

/// The result of a critic.
///
/// Source: Codali protocol, critic result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CriticResult {
    /// The verdict.
    pub status: CriticStatus,
    /// The reasons for a failure.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// Suggested fixes.
    #[serde(default)]
    pub suggested_fixes: Vec<String>,
    /// The files that the builder touched.
    #[serde(default)]
    pub touched_files: Vec<String>,
    /// The files that the plan targets.
    #[serde(default)]
    pub plan_targets: Vec<String>,
    /// The kind of failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guardrail: Option<Guardrail>,
}

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CriticStatus {
    /// The changes are accepted.
    Pass,
    /// The changes are rejected.
    Fail,
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guardrail {
    /// The effect of a retry.
    pub disposition: Disposition,
    /// The reason.
    pub reason_code: ReasonCode,
}

/// The effect of a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// A retry can succeed.
    Retryable,
    /// A retry cannot succeed.
    NonRetryable,
}

/// The reason for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// The builder produced no output, or changed no file.
    MissingEvidence,
    /// The builder touched files outside of the plan.
    ScopeViolation,
    /// The builder touched read-only files.
    DocEditGuard,
}

impl CriticResult {
    /// Returns true if a builder should retry.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.guardrail.is_some_and(|guardrail| guardrail.disposition == Disposition::Retryable)
    }

    /// Wraps the result in a response to the architect.
    #[must_use]
    pub fn into_response(self, request_id: RequestId) -> Response {
        let failed = self.status == CriticStatus::Fail;
        let warnings = failed.then(|| Warning::new(WarningCode::CriticFailed)).into_iter().collect();
        Response {
            request_id,
            results: vec![NeedResult::Critic(self)],
            meta: Meta { warnings, ..Meta::default() },
            extra: Map::new(),
        }
    }
}

/// Judges a builder's changes by the files that it touched.
///
/// `allowed` and `read_only` are files and folders; an empty `allowed` permits everything. `output` is the builder's text. The
/// first broken rule decides. Paths are compared after resolving `.` and `..` textually; a path that climbs out of the workspace
/// is not below any folder.
///
/// Source: Codali protocol, critic result; ruling in docs/codali.md.
#[must_use]
pub fn check(
    touched: &[String],
    plan_targets: &[String],
    allowed: &[String],
    read_only: &[String],
    output: &str,
) -> CriticResult {
    let verdict = judge(touched, plan_targets, allowed, read_only, output);
    let (status, reasons, guardrail) = match verdict {
        Ok(()) => (CriticStatus::Pass, Vec::new(), None),
        Err((reasons, disposition, reason_code)) => {
            (CriticStatus::Fail, reasons, Some(Guardrail { disposition, reason_code }))
        }
    };
    CriticResult {
        status,
        suggested_fixes: reasons.iter().map(|reason| format!("Address: {reason}")).collect(),
        reasons,
        touched_files: touched.to_vec(),
        plan_targets: plan_targets.to_vec(),
        guardrail,
    }
}

type Failure = (Vec<String>, Disposition, ReasonCode);

fn judge(
    touched: &[String],
    plan_targets: &[String],
    allowed: &[String],
    read_only: &[String],
    output: &str,
) -> Result<(), Failure> {
    use Disposition::{NonRetryable, Retryable};
    let joined = |paths: &[&String]| paths.iter().map(|path| normalized(path)).collect::<Vec<_>>().join(", ");
    let guarded: Vec<&String> = touched.iter().filter(|path| is_below_any(path, read_only)).collect();
    if !guarded.is_empty() {
        let reason = format!("touched read-only paths: {}", joined(&guarded));
        return Err((vec![reason], NonRetryable, ReasonCode::DocEditGuard));
    }
    let is_allowed = |path: &String| allowed.is_empty() || is_below_any(path, allowed);
    let outside: Vec<&String> = touched.iter().filter(|path| !is_allowed(path)).collect();
    if !outside.is_empty() {
        let reason = format!("touched files outside allowed paths: {}", joined(&outside));
        return Err((vec![reason], NonRetryable, ReasonCode::ScopeViolation));
    }
    let targets = known_targets(plan_targets);
    if targets.is_empty() {
        let reason = "alignment_missing_plan_targets".to_owned();
        return Err((vec![reason], NonRetryable, ReasonCode::ScopeViolation));
    }
    if touched.is_empty() {
        let reasons = vec![
            "alignment_missing_evidence_no_touched_files".to_owned(),
            "no files were touched for planned targets".to_owned(),
        ];
        return Err((reasons, Retryable, ReasonCode::MissingEvidence));
    }
    if !touched.iter().any(|path| targets.iter().any(|target| normalized(target) == normalized(path))) {
        let all: Vec<&String> = touched.iter().collect();
        let reasons = vec![
            "alignment_mismatch_plan_targets".to_owned(),
            format!("touched files do not match plan targets (touched: {})", joined(&all)),
        ];
        return Err((reasons, NonRetryable, ReasonCode::ScopeViolation));
    }
    if output.trim().is_empty() {
        let reason = "the builder's output is empty".to_owned();
        return Err((vec![reason], Retryable, ReasonCode::MissingEvidence));
    }
    Ok(())
}

/// Returns a critic's request for the files that a plan targets; `None` if it targets none.
#[must_use]
pub fn request(plan_targets: &[String], request_id: RequestId) -> Option<Request> {
    let targets = known_targets(plan_targets);
    if targets.is_empty() {
        return None;
    }
    let read = |path: &&String| Need::from(NeedKind::FileRead { path: (*path).clone() });
    let summary = "Need target file contents to validate changes.".to_owned();
    Some(Request {
        role: Role::Critic,
        request_id,
        needs: targets.iter().map(read).collect(),
        context: Some(Context { summary: Some(summary), ..Context::default() }),
        extra: Map::new(),
    })
}

fn known_targets(plan_targets: &[String]) -> Vec<&String> {
    let is_known = |target: &&String| !matches!(target.trim(), "" | UNKNOWN_TARGET);
    plan_targets.iter().filter(is_known).collect()
}
