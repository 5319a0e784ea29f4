//! Answers a request with a response.

use std::time::Duration;

use serde_json::Map;
use wap_core::{Call, CodeIndex, Origin, Workspace};

use super::budget::{Budget, FIELDS_BYTES, Ledger, fit_warnings, written_bytes};
use super::failure::{Failure, excerpt, identity};
use super::need_call::{Answer, NeedCall};
use super::{CommandOutput, command_output, diff, files, index, listing, tree};
use crate::{
    FailedResult, Meta, Need, NeedKind, NeedResult, ReadError, ReadErrorKind, Reading, RejectedNeed,
    RequestId, Response, Warning, WarningCode, WebSearch,
};

/// The sources of answers.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// Files, folders and commands.
    pub workspace: &'a dyn Workspace,
    /// The code index; without one, the needs that use it fail.
    pub index: Option<&'a dyn CodeIndex>,
    /// The web search; without one it is disabled.
    pub web: Option<&'a dyn WebSearch>,
    /// The output of the executed command; without one, the need for it fails.
    pub command: Option<&'a CommandOutput>,
    /// Returns true for paths of files whose content is left out of command output; `None` leaves out nothing.
    pub withholds: Option<&'a dyn Fn(&str) -> bool>,
}

/// The options of answering a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerOptions {
    /// The limits of the response.
    pub budget: Budget,
    /// The form in which the response names the workspace.
    pub root: RootForm,
    /// Leaves out the elapsed time, so that the same request over the same files has the same response.
    pub deterministic: bool,
}

/// The form in which a response names the workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RootForm {
    /// By the name of its folder.
    #[default]
    Name,
    /// By its absolute path.
    AbsolutePath,
}

/// Measures the time of answering. The caller implements it, because a codec reads no clock.
pub trait Stopwatch {
    /// Returns the time since answering began.
    fn elapsed(&self) -> Duration;
}

/// The id in a response to a request whose own id is unreadable.
const UNKNOWN_ID: &str = "invalid";

/// Answers a request with one result for each need, including rejected ones, in order.
///
/// The needs are steps of the run, numbered from `call.origin.step` on. If the run has no sequence, and so covers a single call,
/// each need has its own run. A failed need does not affect the others. Once the budget is used up or `call.cancel` is raised,
/// the remaining needs are answered with `budget_exhausted`.
///
/// Source: Codali protocol, response rules; ruling in docs/codali.md.
pub fn answer(
    reading: &Reading,
    sources: &Sources<'_>,
    options: &AnswerOptions,
    call: &Call<'_>,
    stopwatch: &dyn Stopwatch,
) -> Response {
    let root = sources.workspace.workspace_info(call).map(|info| info.root).unwrap_or_default();
    let mut warnings = reading.warnings.clone();
    let mut ledger = Ledger::new(&options.budget);
    let (mut answered, mut unanswered) = (0, 0);
    let mut results = Vec::new();
    let needs = reading.request.needs.len() + reading.rejected.len();
    let mut rejected = reading.rejected.iter().peekable();
    let mut good = reading.request.needs.iter();
    for index in 0..needs {
        if let Some(bad) = rejected.next_if(|bad| bad.index == index) {
            results.push(rejection(bad));
            continue;
        }
        let Some(need) = good.next() else { break };
        let begun = stopwatch.elapsed();
        let time_left = options.budget.time.saturating_sub(begun);
        let field_bytes = written_bytes(&identity(&need.kind));
        let room = ledger.room(field_bytes).filter(|_| {
            answered < options.budget.needs && !time_left.is_zero() && !call.cancel.is_cancelled()
        });
        let Some(room) = room else {
            unanswered += 1;
            let failure = Failure::new(WarningCode::BudgetExhausted);
            // The need is so long that repeating its fields would fill the response.
            let is_long = field_bytes > FIELDS_BYTES;
            results.push(if is_long { failure.bare_result(need) } else { failure.result(need) });
            continue;
        };
        let origin = origin_of(index, call.origin);
        let allowed = time_left.min(options.budget.need_time);
        let allowed = call.time_left.map_or(allowed, |left| left.min(allowed));
        let (time_left, deadline) = (Some(allowed), begun.saturating_add(allowed));
        let call = Call { origin: &origin, cancel: call.cancel, time_left };
        let (call, root, warnings) = (&call, root.as_str(), &mut warnings);
        let mut frame = NeedCall { sources, call, root, room, stopwatch, deadline, warnings };
        let result = answer_need(need, &mut frame).unwrap_or_else(|failure| {
            warnings.push(failure.warning());
            failure.result(need)
        });
        answered += 1;
        ledger.book(&result);
        results.push(result);
    }
    fit_warnings(&mut warnings, &options.budget);
    if unanswered > 0 {
        let detail = format!("{unanswered} of {needs} needs were not answered");
        warnings.push(Warning::with(WarningCode::BudgetExhausted, detail));
    }
    let elapsed = u64::try_from(stopwatch.elapsed().as_millis()).unwrap_or(u64::MAX);
    Response {
        request_id: reading.request.request_id.clone(),
        results,
        meta: Meta {
            repo_root: root_name(&root, options.root),
            warnings,
            elapsed_ms: (!options.deterministic).then_some(elapsed),
            extra: Map::new(),
        },
        extra: Map::new(),
    }
}

/// Returns the origin of the need at `index`.
fn origin_of(index: usize, origin: &Origin) -> Origin {
    let step = origin.step.saturating_add(u32::try_from(index).unwrap_or(u32::MAX));
    let mut origin = origin.at_step(step);
    if origin.run.sequence == 0 {
        origin.run.digest = format!("{}-{step}", origin.run.digest);
    }
    origin
}

/// Returns the response to an unreadable request; `None` if the text contains no request at all.
#[must_use]
pub fn refuse(error: &ReadError) -> Option<Response> {
    let unknown = || UNKNOWN_ID.parse::<RequestId>().expect("it is short and printable");
    let position = || {
        format!("line {}, column {}: {}", error.line_number, error.column, excerpt(&error.kind.to_string()))
    };
    let (request_id, results, mut warnings) = match &error.kind {
        ReadErrorKind::NoRequest => return None,
        ReadErrorKind::NoValidNeed { reading } => {
            let results = reading.rejected.iter().map(rejection).collect();
            (reading.request.request_id.clone(), results, reading.warnings.clone())
        }
        _ => (unknown(), Vec::new(), Vec::new()),
    };
    fit_warnings(&mut warnings, &Budget::default());
    warnings.push(Warning::with(error.code(), position()));
    let meta = Meta { warnings, ..Meta::default() };
    Some(Response { request_id, results, meta, extra: Map::new() })
}

fn rejection(rejected: &RejectedNeed) -> NeedResult {
    NeedResult::Failed(FailedResult {
        need_type: excerpt(&rejected.need_type),
        fields: Map::new(),
        error: rejected.code.name().to_owned(),
        message: None,
    })
}

fn answer_need(need: &Need, frame: &mut NeedCall<'_>) -> Answer {
    match &need.kind {
        NeedKind::Search { query, limit } => index::search(query, *limit, frame),
        NeedKind::Snippet { doc_id, window } => index::snippet(doc_id, *window, frame),
        NeedKind::Open(open) => files::open(open, frame),
        NeedKind::Symbols { file } => index::symbols(file, frame),
        NeedKind::Ast { file, max_nodes } => index::ast(file, *max_nodes, frame),
        NeedKind::Impact { file, max_depth } => index::impact(file, *max_depth, frame),
        NeedKind::ImpactDiagnostics { file, limit, offset } => {
            index::impact_diagnostics(file.as_deref(), *limit, *offset, frame)
        }
        NeedKind::Tree(need) => tree::tree(need, frame),
        NeedKind::Web { query, force_web } => index::web(query, *force_web, frame),
        NeedKind::FileRead { path } => files::read(path, frame),
        NeedKind::FileList { root, pattern } => listing::list(root, pattern.as_deref(), frame),
        NeedKind::FileDiff { paths } => diff::diff(paths, frame),
        NeedKind::CommandOutput {} => command_output::output(frame),
        NeedKind::DagExport { .. } | NeedKind::Delegate(_) => {
            Err(Failure::about(WarningCode::UnsupportedNeed, need.kind.type_name()))
        }
    }
}

fn root_name(root: &str, form: RootForm) -> Option<String> {
    let name = match form {
        RootForm::AbsolutePath => root,
        RootForm::Name => root.trim_end_matches('/').rsplit('/').next().unwrap_or_default(),
    };
    (!name.is_empty()).then(|| name.to_owned())
}
