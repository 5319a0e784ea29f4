//! Calls of the extra tools: history, and the code index.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::CallToolResult;
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::sync::oneshot;
use wap_core::{Call, CancelFlag, Reason, WapError};

use crate::extra_tool::{self, ExtraTool, LogArguments, UndoArguments};
use crate::giving_up::{CancelOnDrop, wait};
use crate::{LogPage, McpServer, answer, code_tools};

/// The number of runs that `log` lists by default.
const LOGGED_RUNS: u32 = 20;

/// The most runs that `log` lists in one answer.
const MOST_LOGGED_RUNS: u32 = 1_000;

impl McpServer {
    pub(crate) async fn undo(
        &self,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let change = match extra_tool::read::<UndoArguments>(arguments) {
            Ok(arguments) => arguments.change,
            Err(error) => return self.failure(&error),
        };
        let Some(history) = self.config.history.clone() else { return self.failure(&no_history()) };
        let cancel = CancelFlag::new();
        let _given_up = CancelOnDrop(cancel.clone());
        let (client, flag) = (Arc::clone(&self.client), cancel.clone());
        let characters = self.config.page.characters();
        let (sender, answered) = oneshot::channel();
        // Undoing waits for files and locks, and would block all clients on this thread.
        tokio::task::spawn_blocking(move || {
            let origin = client.origin();
            let call = Call { origin: &origin, cancel: &flag, time_left: None };
            let _ = sender.send(history.undo(&call, change, characters));
        });
        match wait(answered, &cancel, context).await {
            Ok(Ok(text)) => answer::plain(text),
            Ok(Err(refusal)) => CallToolResult::error(vec![rmcp::model::ContentBlock::text(refusal)]),
            Err(error) => self.failure(&error),
        }
    }

    pub(crate) async fn docdex(
        &self,
        tool: ExtraTool,
        arguments: Value,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let cancel = CancelFlag::new();
        let _given_up = CancelOnDrop(cancel.clone());
        let Some(code) = self.config.code.clone() else { return self.failure(&no_index()) };
        let (client, flag) = (Arc::clone(&self.client), cancel.clone());
        let (sender, answered) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            let origin = client.origin();
            let call = Call { origin: &origin, cancel: &flag, time_left: None };
            let _ = sender.send(code_tools::call(&*code, tool, arguments, &call));
        });
        match wait(answered, &cancel, context).await {
            Ok(answered) => answer::plain(answered.page(self.config.page.characters())),
            Err(error) => self.failure(&error),
        }
    }

    pub(crate) async fn log(&self, arguments: Value) -> CallToolResult {
        let page = match extra_tool::read::<LogArguments>(arguments) {
            Ok(LogArguments { limit, before, skip }) => LogPage {
                limit: limit.unwrap_or(LOGGED_RUNS).clamp(1, MOST_LOGGED_RUNS),
                before,
                skip: skip.unwrap_or(0),
                characters: self.config.page.characters(),
            },
            Err(error) => return self.failure(&error),
        };
        let Some(history) = self.config.history.clone() else { return self.failure(&no_history()) };
        let listed = tokio::task::spawn_blocking(move || history.log(&page)).await;
        match listed {
            Ok(Ok(text)) => answer::plain(text),
            Ok(Err(error)) => self.failure(&error),
            Err(_) => self.failure(&WapError::new(Reason::ReadError, "the journal cannot be read")),
        }
    }
}

fn no_history() -> WapError {
    WapError::new(Reason::ReadError, "this workspace has no history")
}

fn no_index() -> WapError {
    WapError::new(Reason::ReadError, "this workspace has no code index")
}
