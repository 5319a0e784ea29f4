//! Calls for resources, prompts and completions, made off the thread that serves all clients.

use std::sync::Arc;

use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use tokio::sync::oneshot;
use wap_core::{Call, CancelFlag, ReadFile, Reason, Request, Response, Unobserved, WapError};

use super::reading::failure;
use super::{SubscriptionDesk, WorkspaceResources};
use crate::giving_up::CancelOnDrop;
use crate::{McpServer, PageLimit};

/// Waits for an answer until its request is cancelled, which also cancels its calls.
pub(crate) async fn unless_cancelled<T>(
    context: &RequestContext<RoleServer>,
    answering: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    tokio::select! {
        answer = answering => answer,
        () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
    }
}

impl McpServer {
    /// Returns the limit on answers.
    pub(crate) fn page_limit(&self) -> PageLimit {
        self.config.page
    }

    /// Returns the desk with the source of resources.
    ///
    /// # Errors
    ///
    /// Method not found if there is none.
    pub(crate) fn desk(&self, method: &'static str) -> Result<&Arc<SubscriptionDesk>, ErrorData> {
        let unknown = || ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, method, None);
        self.config.resources.as_ref().ok_or_else(unknown)
    }

    /// Checks that the workspace or a contribution supports a method.
    ///
    /// # Errors
    ///
    /// Method not found if neither does.
    pub(crate) fn offers(&self, method: &'static str) -> Result<(), ErrorData> {
        let contributions = &self.config.contributions;
        let is_contributed = match method.split('/').next() {
            Some("prompts") => contributions.has_prompts(),
            Some("resources") => contributions.has_resources(),
            _ => contributions.has_prompts() || contributions.has_resources(),
        };
        if is_contributed { Ok(()) } else { self.desk(method).map(drop) }
    }

    /// Lets the source answer on a separate thread.
    pub(crate) async fn ask_source<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn WorkspaceResources, &Call<'_>) -> Result<T, WapError> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let source = Arc::clone(self.desk("resources")?.source());
        let cancel = CancelFlag::new();
        let _given_up = CancelOnDrop(cancel.clone());
        let client = Arc::clone(&self.client);
        let answered = tokio::task::spawn_blocking(move || {
            let origin = client.origin();
            question(&*source, &Call { origin: &origin, cancel: &cancel, time_left: None })
        });
        match answered.await {
            Ok(answer) => answer.map_err(|error| failure(&error)),
            Err(_) => Err(ErrorData::internal_error("agentd has a fault and could not answer", None)),
        }
    }

    /// Reads lines of an output, and returns them with the number of all lines.
    pub(crate) async fn read_lines(&self, request: ReadFile) -> Result<(String, u64), WapError> {
        if let Some(part) = self.outputs.read(&request) {
            return part.map(|part| (part.content, part.total_lines));
        }
        match self.request(Request::ReadFile(request)).await? {
            Response::ReadFile(read) => Ok((read.content, read.total_lines)),
            _ => Err(fault()),
        }
    }

    /// Makes a call of the client.
    pub(crate) async fn request(&self, request: Request) -> Result<Response, WapError> {
        let cancel = CancelFlag::new();
        let _given_up = CancelOnDrop(cancel.clone());
        let (sender, answered) = oneshot::channel();
        // Without a receiver, the request was cancelled.
        let done = move |answer| drop(sender.send(answer));
        self.client.begin(request, cancel, Box::new(Unobserved), done);
        answered.await.unwrap_or_else(|_| Err(fault()))
    }
}

fn fault() -> WapError {
    WapError::new(Reason::ReadError, "agentd has a fault and could not answer this call")
}
