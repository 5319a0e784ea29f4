//! The open questions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::giving_up::CancelOnDrop;
use content_hash::ContentHash;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use wap_calls::Client;
use wap_core::{Call, CancelFlag, ConversationId, Reason, Request, Tool, WapError};

use super::doing::Doings;
use super::source::{Question, ReviewQuestions, ShownReview, Verdict, Wanted};

/// The most questions of the newer era that wait for answers; beyond that, the oldest is forgotten.
const MOST_OPEN: usize = 1_000;

/// The time after which an answer comes too late.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The polling interval for the question about a call.
const PAUSE: Duration = Duration::from_millis(100);

/// The questions of a server, which all its clients share: in the stateless era each request is a separate client.
pub struct Questions {
    source: Arc<dyn ReviewQuestions>,
    open: Mutex<VecDeque<Open>>,
    doing: Doings,
}

/// A question whose answer comes with another request.
struct Open {
    /// A random name that the client returns.
    handle: String,
    /// The digest of the call in question, or that of all apps: an answer only counts for the same subject. A digest, since a
    /// call may have megabytes.
    subject: ContentHash,
    question: Question,
    until: Instant,
}

impl std::fmt::Debug for Questions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Questions").finish_non_exhaustive()
    }
}

impl Questions {
    /// Returns the questions about a review.
    #[must_use]
    pub fn new(source: Arc<dyn ReviewQuestions>) -> Questions {
        Questions { source, open: Mutex::default(), doing: Doings::default() }
    }

    /// Returns the tools whose calls a person reviews.
    pub(crate) fn reviewed_tools(&self) -> &'static [Tool] {
        self.source.reviewed_tools()
    }

    /// Checks whether a person reviews the calls of a tool.
    fn reviews(&self, tool: Tool) -> bool {
        self.reviewed_tools().contains(&tool)
    }

    /// Returns a proposal as an app draws it.
    pub(crate) async fn review(
        &self,
        client: &Arc<Client>,
        wanted: Wanted,
    ) -> Result<Option<ShownReview>, WapError> {
        let source = Arc::clone(&self.source);
        ask(client, move |call| source.review(call, &wanted)).await
    }

    /// Checks whether the person at a client can be asked about a request.
    pub(super) fn may_ask(&self, request: &Request, context: &RequestContext<RoleServer>) -> bool {
        let elicitation = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        // Without either mode, forms are meant.
        let shows_forms =
            elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none());
        shows_forms && self.reviews(request.tool())
    }

    /// Waits until a call waits for a review, and returns the question. Without one, it only ends when it is dropped.
    pub(super) async fn find(&self, client: &Arc<Client>, request: &Request) -> Question {
        loop {
            let (source, request) = (Arc::clone(&self.source), request.clone());
            let answer = ask(client, move |call| source.question(call, &request)).await;
            if let Ok(Some(question)) = answer {
                return question;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Decides according to an answer in a separate request. A client that cancels that request ends the operation.
    pub(crate) async fn decide_until_given_up(
        &self,
        client: &Arc<Client>,
        question: Question,
        verdict: Verdict,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), WapError> {
        let source = Arc::clone(&self.source);
        let cancel = CancelFlag::new();
        // A disconnected client drops its request.
        let _given_up = CancelOnDrop(cancel.clone());
        let deciding =
            ask_until(client, cancel.clone(), move |call| source.decide(call, &question, &verdict));
        tokio::pin!(deciding);
        tokio::select! {
            biased;
            decided = &mut deciding => return decided,
            () = context.ct.cancelled() => cancel.cancel(),
        }
        // Still await its end: a command that is being killed holds its files until it has ended.
        deciding.await
    }

    /// Decides according to an answer while the call about a request waits. Cancelling that call, or a repetition of it, ends the
    /// operation.
    pub(super) async fn decide_for(
        &self,
        client: &Arc<Client>,
        request: &Request,
        question: Question,
        verdict: Verdict,
    ) -> Result<(), WapError> {
        let source = Arc::clone(&self.source);
        let doing = self.doing.begin((question.conversation.clone(), digest(request)));
        ask_until(client, doing.cancel().clone(), move |call| {
            // It counts as running until it has ended, even if its call has already ended.
            let _doing = doing;
            source.decide(call, &question, &verdict)
        })
        .await
    }

    /// Ends the operation that the person at the client allowed in an answer about this request.
    pub(super) fn give_up(&self, conversation: &ConversationId, request: &Request) {
        self.doing.give_up(&(conversation.clone(), digest(request)));
    }

    /// Keeps a question and returns the handle for its answer. An equal open question keeps its handle: an app polls.
    pub(crate) fn keep(&self, subject: ContentHash, question: Question) -> String {
        let until = Instant::now() + PATIENCE;
        let mut open = self.open();
        open.retain(|open| open.until > Instant::now());
        if let Some(same) = open.iter_mut().find(|open| open.subject == subject && open.question == question)
        {
            same.until = until;
            return same.handle.clone();
        }
        let handle = uuid::Uuid::new_v4().simple().to_string();
        open.push_back(Open { handle: handle.clone(), subject, question, until });
        while open.len() > MOST_OPEN {
            open.pop_front();
        }
        handle
    }

    /// Returns a question and restarts its timeout; `None` as for [`take`](Self::take).
    pub(crate) fn peek(&self, handle: &str, subject: ContentHash) -> Option<Question> {
        let mut open = self.open();
        open.retain(|open| open.until > Instant::now());
        let same = open.iter_mut().find(|open| open.handle == handle && open.subject == subject)?;
        same.until = Instant::now() + PATIENCE;
        Some(same.question.clone())
    }

    /// Removes and returns a question; `None` for a handle that was used, has expired, was never issued, or was issued for
    /// another call.
    pub(crate) fn take(&self, handle: &str, subject: ContentHash) -> Option<Question> {
        let mut open = self.open();
        open.retain(|open| open.until > Instant::now());
        let index = open.iter().position(|open| open.handle == handle && open.subject == subject)?;
        open.remove(index).map(|open| open.question)
    }

    fn open(&self) -> MutexGuard<'_, VecDeque<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a hash that is unique to the request.
pub(super) fn digest(request: &Request) -> ContentHash {
    ContentHash::of(format!("{request:?}").as_bytes())
}

/// Makes a call off the thread that serves all clients.
async fn ask<T: Send + 'static>(
    client: &Arc<Client>,
    call: impl FnOnce(&Call<'_>) -> Result<T, WapError> + Send + 'static,
) -> Result<T, WapError> {
    ask_until(client, CancelFlag::new(), call).await
}

/// Makes a call that ends early when the flag is raised.
async fn ask_until<T: Send + 'static>(
    client: &Arc<Client>,
    cancel: CancelFlag,
    call: impl FnOnce(&Call<'_>) -> Result<T, WapError> + Send + 'static,
) -> Result<T, WapError> {
    let client = Arc::clone(client);
    let answer = tokio::task::spawn_blocking(move || {
        let origin = client.origin();
        call(&Call { origin: &origin, cancel: &cancel, time_left: None })
    });
    answer.await.unwrap_or_else(|_| {
        Err(WapError::new(Reason::ReadError, "agentd has a fault and could not answer this call"))
    })
}
