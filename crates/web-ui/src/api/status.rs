//! The state of the workspace and of this machine.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::json as value;
use tag_session::session_page;
use wap_core::{CancelFlag, ConversationId};
use workspace_host::session_failure::explain;
use workspace_host::{ListProcesses, StopListedProcess};

use super::read;
use crate::access::CODE_LIFETIME;
use crate::answer::json;
use crate::page::Page;
use crate::page_host::Finding;
use crate::watching::WaitingReply;

/// The number of sessions whose last receipts are listed, and the most receipts.
const RECENT_SESSIONS: usize = 20;
const MOST_RECEIPTS: usize = 100;

/// The figures that every view shows.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Overview {
    workspace: String,
    folder: String,
    version: &'static str,
    read_only: bool,
    /// The command that started this page, without its options.
    command: &'static str,
    inbox: Vec<WaitingReply>,
    /// The number of proposals that wait for a review.
    reviews: usize,
    /// The id of the last event before all that the page reads from here on.
    last_event: String,
}

/// Returns the figures that every view shows.
pub(crate) async fn overview(State(page): State<Arc<Page>>) -> Response {
    page.answer(|page| {
        let folder = &page.config.paths.workspace;
        let name = folder.file_name().unwrap_or(folder.as_os_str());
        // Before anything is read: an event that is published meanwhile is not lost.
        let last_event = page.events.last_id();
        let sessions = page.sessions()?;
        Ok(json(&Overview {
            last_event,
            workspace: name.to_string_lossy().into_owned(),
            folder: folder.display().to_string(),
            version: page.config.version,
            read_only: page.config.options.read_only,
            command: page.config.host.command(),
            inbox: page.waiting_replies(&sessions),
            reviews: page.waiting_reviews(&sessions),
        }))
    })
    .await
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    sandbox: String,
    findings: Vec<Finding>,
    receipts: Vec<Receipt>,
    index: Option<Index>,
    processes: Vec<Process>,
    owner: Option<Owner>,
    refused_codes: u64,
}

/// A refusal of the confinement that a command has met.
#[derive(Serialize)]
struct Receipt {
    session: String,
    command: String,
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Index {
    files: usize,
    unread: usize,
    memory_bytes: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Process {
    conversation: String,
    name: String,
    command: String,
    is_running: bool,
    output_bytes: u64,
}

/// Another process that owns the state folder.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    process_id: u32,
    command: String,
}

/// Returns the state of confinement, index, clients and background processes.
pub(crate) async fn status(State(page): State<Arc<Page>>) -> Response {
    page.answer(|page| {
        let sessions = page.sessions()?;
        let cancel = CancelFlag::new();
        let processes = sessions.call(&ListProcesses, &cancel)?;
        let processes = processes.into_iter().take(MOST_RECEIPTS).map(|process| Process {
            conversation: process.conversation.0,
            name: process.name,
            command: process.command,
            is_running: process.is_running,
            output_bytes: process.output_bytes,
        });
        let index = page.config.workspace.index_report().map(|report| Index {
            files: report.files,
            unread: report.unread,
            memory_bytes: report.memory_bytes,
        });
        let owner = sessions.owned()?.err();
        Ok(json(&Status {
            sandbox: sessions.sandbox(&cancel),
            findings: page.config.host.findings(),
            receipts: receipts(page)?,
            index,
            processes: processes.collect(),
            owner: owner.map(|owner| Owner { process_id: owner.process_id, command: owner.command }),
            refused_codes: page.config.access.refused(),
        }))
    })
    .await
}

/// Returns the refusals in the last results of recent sessions.
fn receipts(page: &Page) -> Result<Vec<Receipt>, crate::answer::Refused> {
    let Some(reader) = page.config.paths.journal_reader()? else { return Ok(Vec::new()) };
    let recent = session_page(&reader, 0, RECENT_SESSIONS).map_err(explain)?;
    let mut receipts = Vec::new();
    for summary in recent.sessions {
        let Ok(id) = summary.session.parse() else { continue };
        let session = tag_session::read_session(&reader, id).map_err(explain)?;
        for result in &session.last_results {
            receipts.extend(result.denied.iter().map(|text| Receipt {
                session: summary.session.clone(),
                command: wap_core::visible_line(&result.summary, 200),
                text: text.clone(),
            }));
        }
    }
    receipts.truncate(MOST_RECEIPTS);
    Ok(receipts)
}

/// Makes a code for another browser.
pub(crate) async fn code(State(page): State<Arc<Page>>) -> Response {
    let url = format!("{}#code={}", page.config.url, page.config.access.code());
    page.answer(move |_| Ok(json(&value!({ "url": url, "seconds": CODE_LIFETIME.as_secs() })))).await
}

#[derive(Deserialize)]
struct NamedProcess {
    conversation: String,
    name: String,
}

/// Ends a background process.
pub(crate) async fn stop_process(State(page): State<Arc<Page>>, body: Bytes) -> Response {
    page.answer(move |page| {
        let NamedProcess { conversation, name } = read(&body)?;
        let request = StopListedProcess { conversation: ConversationId(conversation), name };
        let stopped = page.sessions()?.call(&request, &CancelFlag::new())?;
        Ok(json(&stopped))
    })
    .await
}
