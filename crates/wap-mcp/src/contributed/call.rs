//! One step of a request, as a contribution sees it.

use rmcp::model::{ClientCapabilities, InputRequest, InputResponses};
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use wap_core::CancelFlag;

use super::LogLevel;
use super::capability::lacks;
use super::log::Log;

/// A report of progress on its way to the client.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Report {
    pub(super) progress: f64,
    pub(super) total: Option<f64>,
    pub(super) message: Option<String>,
}

/// One step of a request: what the client has answered, and the ways to report progress and to log.
#[derive(Debug)]
pub struct ContributionCall {
    pub(super) answers: InputResponses,
    pub(super) state: Option<String>,
    pub(super) capabilities: ClientCapabilities,
    pub(super) cancel: CancelFlag,
    /// The way of reports; `None` if the client asks for none.
    pub(super) reports: Option<Sender<Report>>,
    /// The log; `None` if the client asks for no messages.
    pub(super) log: Option<Log>,
}

impl ContributionCall {
    /// Returns the client's answer to a question by its name, as the protocol writes it; `None` if it has not answered.
    #[must_use]
    pub fn answer(&self, name: &str) -> Option<&Value> {
        self.answers.get(name)
    }

    /// Returns the field of a form that the person at the client has accepted; `None` without the form, the field, or the
    /// consent.
    #[must_use]
    pub fn accepted_field(&self, name: &str, field: &str) -> Option<&Value> {
        let form = self.answer(name)?;
        if form.get("action")? != "accept" {
            return None;
        }
        form.get("content")?.get(field)
    }

    /// Returns the state that the contribution gave along with its questions; `None` in the first step.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Reports whether the client can be asked something. What it cannot be asked is refused by the server, with an error
    /// that names the missing capability.
    #[must_use]
    pub fn can_ask(&self, request: &InputRequest) -> bool {
        lacks(&self.capabilities, request).is_none()
    }

    /// Returns the flag that is raised when the client gives up its request.
    #[must_use]
    pub fn cancel(&self) -> &CancelFlag {
        &self.cancel
    }

    /// Reports progress to a client that wants to know; `progress` has to rise. Waits while the client is slow to read.
    pub fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(reports) = &self.reports {
            let report = Report { progress, total, message: message.map(str::to_owned) };
            // A failure means that the request was given up.
            let _ = reports.blocking_send(report);
        }
    }

    /// Writes a message into the log that the client receives, if it wants messages of this level and the contribution
    /// [logs](super::Contribution::logs). Never waits: at most 64 messages wait for a client that is slow to read, and one has at
    /// most 16 KiB as JSON, with the name of its logger. A last message says how many were left out.
    ///
    /// Messages and reports of progress may arrive in another order than they were sent in. All arrive before the answer.
    pub fn log(&self, level: LogLevel, logger: Option<&str>, data: Value) {
        if let Some(log) = &self.log {
            log.write(level, logger, data);
        }
    }
}
