//! Agents in worktrees: the board, logs, differences, cancelling and picking.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use cocode_env::{AgentState, Verdict};
use cocode_runner::{
    AgentRecord, ContinuedWork, Runner, RunnerError, diff, log_files, read_records, request_cancel,
};
use serde::{Deserialize, Serialize};
use serde_json::json as value;
use wap_core::CancelFlag;

use super::read;
use crate::answer::{Refused, json};
use crate::bounded_text::{TextBounds, bounded};
use crate::continued_work::take_in;
use crate::page::Page;

/// The most agents of a page of the board.
const MOST_AGENTS: usize = 100;

/// The most bytes of a log that are read from its end.
const LOG_BYTES: u64 = 256 * 1024;

#[derive(Deserialize)]
pub(crate) struct Part {
    #[serde(default)]
    skip: usize,
}

#[derive(Serialize)]
struct Board {
    agents: Vec<AgentView>,
    total: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentView {
    key: String,
    agent: String,
    issue: String,
    run: String,
    state: String,
    is_final: bool,
    /// 0 for ready and checked, 1 for ready by its own claim, 2 for all others.
    rank: u8,
    branch: String,
    commits: u64,
    files: Option<u64>,
    lines_added: Option<u64>,
    lines_removed: Option<u64>,
    check: Option<String>,
    check_passed: Option<bool>,
    seconds: Option<f64>,
    /// The reason that it is not ready, or remarks.
    why: Vec<String>,
}

fn records(page: &Page) -> Result<Vec<AgentRecord>, Refused> {
    let folder = page.base().join("cocode");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    read_records(&folder).map_err(|error| explain(&error))
}

fn find(page: &Page, key: &str) -> Result<AgentRecord, Refused> {
    let record = records(page)?.into_iter().find(|record| record.key() == key);
    record.ok_or_else(|| Refused::missing(format!("there is no agent '{key}'")))
}

fn explain(error: &RunnerError) -> Refused {
    Refused::new(StatusCode::UNPROCESSABLE_ENTITY, cocode_runner::error_chain(error))
}

/// Lists the agents, those of the newest run first, with figures to compare.
pub(crate) async fn list(State(page): State<Arc<Page>>, Query(part): Query<Part>) -> Response {
    page.answer(move |page| {
        let records = records(page)?;
        let total = records.len();
        let agents = records.iter().skip(part.skip).take(MOST_AGENTS).map(|record| view(page, record));
        Ok(json(&Board { agents: agents.collect(), total }))
    })
    .await
}

fn view(page: &Page, record: &AgentRecord) -> AgentView {
    let size = (record.commits > 0).then(|| numbers(page, record)).flatten();
    let verdict = record.verdict.as_ref();
    let failure = verdict.and_then(Verdict::first_failure).map(|part| part.why.clone());
    let milliseconds = || Some(record.ended_at_ms?.saturating_sub(record.launched_at_ms?));
    AgentView {
        key: record.key(),
        agent: record.agent.to_string(),
        issue: record.issue.to_string(),
        run: record.run.clone(),
        state: record.state.to_string(),
        is_final: record.state.is_final(),
        rank: match (record.state, verdict.is_some_and(Verdict::is_checked)) {
            (AgentState::Ready, true) => 0,
            (AgentState::Ready, false) => 1,
            _ => 2,
        },
        branch: record.branch.clone(),
        commits: record.commits,
        files: size.map(|(files, ..)| files),
        lines_added: size.map(|(_, added, _)| added),
        lines_removed: size.map(|(.., removed)| removed),
        check: record.check.clone(),
        check_passed: verdict.and_then(Verdict::check_passed),
        seconds: milliseconds().map(|time| std::time::Duration::from_millis(time).as_secs_f64()),
        why: failure
            .into_iter()
            .chain(record.detail.clone())
            .chain(record.warnings.iter().cloned())
            .collect(),
    }
}

/// Returns files, added and removed lines of an agent's commits, from the difference's summary.
fn numbers(page: &Page, record: &AgentRecord) -> Option<(u64, u64, u64)> {
    let config = page.config.host.runner().ok()?;
    let summary = diff(&config, record, true).ok()?;
    let last = summary.lines().rev().find(|line| !line.trim().is_empty())?.to_owned();
    let number = |word: &str| {
        let part = last.split(',').find(|part| part.contains(word))?;
        part.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some((number("file")?, number("insertion").unwrap_or(0), number("deletion").unwrap_or(0)))
}

/// Returns the end of an agent's log.
pub(crate) async fn log(State(page): State<Arc<Page>>, Path(key): Path<String>) -> Response {
    page.answer(move |page| {
        let record = find(page, &key)?;
        let files = log_files(&page.base().join("cocode"), &record);
        let (mut text, mut left_out) = (String::new(), 0);
        if let Some(newest) = files.last() {
            let failed = |error: std::io::Error| {
                Refused::new(StatusCode::UNPROCESSABLE_ENTITY, format!("the log cannot be read: {error}"))
            };
            let mut file = File::open(newest).map_err(failed)?;
            left_out = file.metadata().map_err(failed)?.len().saturating_sub(LOG_BYTES);
            file.seek(SeekFrom::Start(left_out)).map_err(failed)?;
            let mut bytes = Vec::new();
            file.take(LOG_BYTES).read_to_end(&mut bytes).map_err(failed)?;
            text = String::from_utf8_lossy(&bytes).into_owned();
        }
        let excerpt = bounded(&text, TextBounds { lines: usize::MAX, ..TextBounds::DIFFERENCE });
        Ok(json(
            &value!({ "text": excerpt, "leftOutBytes": left_out, "olderFiles": files.len().saturating_sub(1) }),
        ))
    })
    .await
}

/// Returns the difference that an agent's commits make.
pub(crate) async fn difference(State(page): State<Arc<Page>>, Path(key): Path<String>) -> Response {
    page.answer(move |page| {
        let record = find(page, &key)?;
        let text = diff(&page.config.host.runner()?, &record, false).map_err(|error| explain(&error))?;
        Ok(json(&bounded(&text, TextBounds { lines: 10_000, ..TextBounds::DIFFERENCE })))
    })
    .await
}

/// Requests the end of an agent.
pub(crate) async fn cancel(State(page): State<Arc<Page>>, Path(key): Path<String>) -> Response {
    page.answer(move |page| {
        let record = find(page, &key)?;
        may_change(page)?;
        if !record.state.is_final() {
            request_cancel(&page.base().join("cocode"), &record).map_err(|error| explain(&error))?;
        }
        Ok(json(&value!({})))
    })
    .await
}

/// The adopted work of an agent that continued a conversation; the counterpart of [`cocode_runner::Picked`].
#[derive(Serialize)]
struct ContinuedPick {
    way: &'static str,
    #[serde(flatten)]
    work: ContinuedWork,
    /// Remarks of the command that has adopted it, such as changes that are not kept.
    warnings: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Picking {
    dry_run: bool,
}

/// Merges an agent's work into the current branch, or describes how that would be done.
pub(crate) async fn pick(State(page): State<Arc<Page>>, Path(key): Path<String>, body: Bytes) -> Response {
    page.answer_long(move |page| {
        let Picking { dry_run } = read(&body)?;
        may_change(page)?;
        let record = find(page, &key)?;
        let runner = Runner::open(page.config.host.runner()?).map_err(|error| explain(&error))?;
        if let Some(conversation) = &record.continues {
            let work = runner.continued_work(&record, conversation).map_err(|error| explain(&error))?;
            let mut warnings = Vec::new();
            if !work.is_there && !dry_run {
                let sessions = page.sessions()?;
                warnings = take_in(sessions.workspace(), &work, &CancelFlag::new())
                    .map_err(|error| Refused::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()))?;
            }
            return Ok(json(&ContinuedPick {
                way: if work.is_there { "already_there" } else { "files" },
                work,
                warnings,
            }));
        }
        let picked = runner.pick(&record, dry_run).map_err(|error| explain(&error))?;
        Ok(json(&picked))
    })
    .await
}

fn may_change(page: &Page) -> Result<(), Refused> {
    if page.config.options.read_only {
        return Err(Refused::new(StatusCode::CONFLICT, "the page was started with --read-only"));
    }
    Ok(())
}
