//! Requests to the owner of the state folder: this process, or another one over its socket.

use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wap_core::{Call, CommandObserver, Reason, WapError};

use super::{Access, PAUSE, SharedWorkspace};
use crate::failure::{Exit, Failure};
use crate::owner::owner_connection::{CallLimit, Unanswered, watched};
use crate::state::Opened;

/// The time after which an owner that did not answer is tried again.
const SILENT: Duration = Duration::from_secs(2);

/// A request on its way to the owner.
pub(super) struct OwnerRequest<'a, R> {
    pub(super) method: &'a str,
    pub(super) request: R,
    pub(super) limit: CallLimit,
}

/// The observer of a command.
struct Observed<'a>(&'a mut dyn CommandObserver);

/// The reason why a call has no response.
pub(super) enum NotAnswered {
    /// The workspace cannot be opened or reached.
    Unavailable(Failure),
    /// Its owner does not answer.
    Silent(Failure),
    /// The tool has failed.
    Failed(WapError),
}

impl SharedWorkspace {
    /// Asks the owner of the state folder, and explains to the model why it could not answer.
    pub(super) fn ask<T: DeserializeOwned, R: Serialize>(
        &self,
        call: &Call<'_>,
        owner_request: &OwnerRequest<'_, R>,
        observer: &mut dyn CommandObserver,
        here: impl Fn(&Opened, &mut dyn CommandObserver) -> Result<T, WapError>,
    ) -> Result<T, WapError> {
        let mut observed = Observed(observer);
        let notify = |observed: &mut Observed<'_>, method: &str, params| watched(method, params, observed.0);
        let here = |opened: &Opened, observed: &mut Observed<'_>| here(opened, observed.0);
        self.ask_owner(call, owner_request, &mut observed, notify, here)
            .map_err(|not_answered| self.for_client(not_answered))
    }

    /// Returns the error for the model, and reports the details to the person at the terminal: they may name paths outside of the
    /// workspace.
    pub(super) fn for_client(&self, not_answered: NotAnswered) -> WapError {
        match not_answered {
            NotAnswered::Unavailable(failure) => self.unavailable(&failure),
            NotAnswered::Silent(failure) => self.reported(
                &failure,
                "the process that owns the state folder does not answer; its user has to resume or end it. \
                 A call that was on its way may have been carried out: check before you repeat it",
            ),
            NotAnswered::Failed(error) => error,
        }
    }

    /// Returns the error for a client whose request needs something that cannot be opened or read, and reports the
    /// details to the person at the terminal: they may name paths outside of the workspace.
    pub fn unavailable(&self, failure: &Failure) -> WapError {
        let text = match failure.exit {
            Exit::Held => {
                "another process uses the state folder and cannot be reached; its user has to stop it"
            }
            _ => "the workspace or its history cannot be opened; the server's standard error says why",
        };
        self.reported(failure, text)
    }

    pub(super) fn ask_owner<T: DeserializeOwned, R: Serialize, O: ?Sized>(
        &self,
        call: &Call<'_>,
        owner_request: &OwnerRequest<'_, R>,
        observer: &mut O,
        notify: impl Fn(&mut O, &str, Value),
        here: impl Fn(&Opened, &mut O) -> Result<T, WapError>,
    ) -> Result<T, NotAnswered> {
        loop {
            let connection = match self.access()? {
                Access::Owner(opened) => return here(&opened, observer).map_err(NotAnswered::Failed),
                Access::Client(connection) => connection,
                Access::None | Access::Silent { .. } => continue,
            };
            let notified = &mut |method: &str, params| notify(observer, method, params);
            match connection.call(
                owner_request.method,
                &owner_request.request,
                call,
                owner_request.limit,
                notified,
            ) {
                Ok(answer) => return answer.map_err(NotAnswered::Failed),
                Err(Unanswered::Gone) => self.forget(&connection, Access::None),
                // The owner closes the connection when it ends; until then the call is repeated on it.
                Err(Unanswered::Leaving) => thread::sleep(PAUSE),
                Err(Unanswered::Silent) => {
                    let owner = format!("process {} is using the state folder", connection.owner.process_id);
                    self.forget(&connection, silence(owner.clone()));
                    let Failure { exit, message, advice } = silent(&owner);
                    let message = format!("{message}: it may have carried out the call");
                    return Err(NotAnswered::Silent(Failure { exit, message, advice }));
                }
            }
            // A cancelled call is not repeated: it would start again at the next owner.
            if call.cancel.is_cancelled() {
                let text = "cancelled while its process was changing";
                return Err(NotAnswered::Failed(WapError::new(Reason::Cancelled, text)));
            }
        }
    }

    fn reported(&self, failure: &Failure, text: &str) -> WapError {
        self.notices.notice(&format!("agentd: {}", failure.message));
        if let Some(advice) = &failure.advice {
            self.notices.notice(&format!("  {advice}"));
        }
        WapError::new(Reason::Busy, text)
    }
}

/// Returns the failure of a call without a response.
pub(super) fn failure(not_answered: NotAnswered) -> Failure {
    match not_answered {
        NotAnswered::Unavailable(failure) | NotAnswered::Silent(failure) => failure,
        NotAnswered::Failed(error) if error.reason() == Reason::Cancelled => {
            Failure::new(Exit::Interrupted, error.message())
        }
        NotAnswered::Failed(error) => Failure::new(Exit::Failed, error.message()),
    }
}

/// Returns the state in which calls fail at once, for a while.
pub(super) fn silence(owner: String) -> Access {
    Access::Silent { until: Instant::now() + SILENT, owner }
}

/// Returns the failure of a call to an owner that does not answer; `owner` names the process.
pub(super) fn silent(owner: &str) -> Failure {
    Failure::new(Exit::Held, format!("{owner}, and does not answer"))
        .advise("if it was suspended, resume it (kill -CONT); if it hangs, end it: then another process becomes the owner")
}
