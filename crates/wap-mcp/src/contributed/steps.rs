//! The steps of a request, in both eras.

use std::sync::Arc;

use content_hash::ContentHash;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, InputRequiredResult, InputResponses, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc::{Receiver, channel};
use wap_core::CancelFlag;

use super::call::Report;
use super::capability::lacks;
use super::log::log;
use super::{Contribution, ContributionCall, ContributionClient, Contributions, LogLevel, Need, Outcome};
use crate::giving_up::CancelOnDrop;
use crate::http::is_newer;

/// The most times that a client of the older era is asked about one request.
const MOST_ROUNDS: usize = 10;

/// The most reports that are queued for a client that is slow to read.
const WAITING_REPORTS: usize = 16;

/// A request with the data that came along.
pub(super) struct Given {
    /// The digest of the request without its answers.
    pub(super) request: ContentHash,
    /// The answers of the client.
    pub(super) answers: Option<InputResponses>,
    /// The name of the state.
    pub(super) state: Option<String>,
}

/// The answer to a request.
pub(super) enum Settled<T> {
    Done(T),
    Requires(InputRequiredResult),
}

/// Carries out the steps of a request until it is answered, or until the client has to repeat it with its answers.
pub(super) async fn settle<T: Send + 'static>(
    contributions: &Contributions,
    contribution: &Arc<dyn Contribution>,
    given: Given,
    (context, client): (&RequestContext<RoleServer>, &ContributionClient),
    step: impl Fn(&dyn Contribution, &ContributionCall) -> Result<Outcome<T>, ErrorData> + Send + Sync + 'static,
) -> Result<Settled<T>, ErrorData> {
    let step = Arc::new(step);
    let level = client.log_level(&**contribution, context)?;
    // In the older era, answers do not come with a request.
    let is_newer = is_newer(context);
    let (mut answers, mut state) = (InputResponses::new(), None);
    if is_newer {
        answers = given.answers.unwrap_or_default();
        state = match given.state {
            Some(name) => Some(contributions.take_state(given.request, &name)?),
            None => None,
        };
    }
    for _ in 0..MOST_ROUNDS {
        let need = match one(contribution, (answers, state), level, context, Arc::clone(&step)).await? {
            Outcome::Done(value) => return Ok(Settled::Done(value)),
            Outcome::Asks(need) => need,
        };
        refuse_unanswerable(&need, context)?;
        if is_newer {
            return contributions.required(given.request, need).map(Settled::Requires);
        }
        answers = tokio::select! {
            answers = client.asking.ask(&context.peer, need.requests) => answers?,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        state = need.state;
    }
    Err(ErrorData::internal_error(format!("the request still asks after {MOST_ROUNDS} rounds"), None))
}

/// Carries out one step on a separate thread.
async fn one<T: Send + 'static>(
    contribution: &Arc<dyn Contribution>,
    (answers, state): (InputResponses, Option<String>),
    level: Option<LogLevel>,
    context: &RequestContext<RoleServer>,
    step: Arc<
        impl Fn(&dyn Contribution, &ContributionCall) -> Result<Outcome<T>, ErrorData> + Send + Sync + 'static,
    >,
) -> Result<Outcome<T>, ErrorData> {
    let (sender, reports) = channel(WAITING_REPORTS);
    let (log, messages) = level.map(log).unzip();
    let cancel = CancelFlag::new();
    let _given_up = CancelOnDrop(cancel.clone());
    let token = context.meta.get_progress_token();
    let call = ContributionCall {
        answers,
        state,
        capabilities: context.client_capabilities().unwrap_or_default(),
        cancel,
        reports: token.is_some().then_some(sender),
        log,
    };
    let contribution = Arc::clone(contribution);
    // The step drops the call, which ends the reports and the log.
    let running = tokio::task::spawn_blocking(move || {
        let call = call;
        step(&*contribution, &call)
    });
    let all = async {
        let reporting = async {
            if let Some(token) = token {
                forward(&context.peer, token, reports).await;
            }
        };
        let logging = async {
            if let Some(messages) = messages {
                messages.forward(context).await;
            }
        };
        tokio::join!(reporting, logging);
        running.await
    };
    tokio::select! {
        ended = all => ended.unwrap_or_else(|_| {
            Err(ErrorData::internal_error("a part of the server has a fault and could not answer", None))
        }),
        () = context.ct.cancelled() => Err(cancelled()),
    }
}

/// Sends reports until their step has ended, so that none comes after the answer.
async fn forward(peer: &Peer<RoleServer>, token: ProgressToken, mut reports: Receiver<Report>) {
    while let Some(Report { progress, total, message }) = reports.recv().await {
        let mut params = ProgressNotificationParam::new(token.clone(), progress);
        params.total = total;
        params.message = message;
        if peer.notify_progress(params).await.is_err() {
            return;
        }
    }
}

/// Refuses questions that the client has not declared to support.
fn refuse_unanswerable(need: &Need, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    let declared = context.client_capabilities().unwrap_or_default();
    match need.requests.values().find_map(|request| lacks(&declared, request)) {
        Some(missing) => Err(ErrorData::missing_required_client_capability(missing)),
        None => Ok(()),
    }
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("cancelled", None)
}
