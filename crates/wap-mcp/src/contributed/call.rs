//! One step of a request, from the view of a contribution.

use rmcp::model::{ClientCapabilities, InputRequest, InputResponses};
use serde_json::Value;
use tokio::sync::mpsc::Sender;
use wap_core::CancelFlag;

use super::LogLevel;
use super::capability::lacks;
use super::log::Log;

/// A progress report on its way to the client.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Report {
    pub(super) progress: f64,
    pub(super) total: Option<f64>,
    pub(super) message: Option<String>,
}

/// One step of a request: the client's answers, and the means to report progress and to log.
#[derive(Debug)]
pub struct ContributionCall {
    pub(super) answers: InputResponses,
    pub(super) state: Option<String>,
    pub(super) capabilities: ClientCapabilities,
    pub(super) cancel: CancelFlag,
    /// The sender of reports; `None` if the client does not request any.
    pub(super) reports: Option<Sender<Report>>,
    /// The log; `None` if the client does not request messages.
    pub(super) log: Option<Log>,
}

impl ContributionCall {
    /// Returns the client's answer to a question by its name, in the form of the protocol; `None` if it has not answered.
    #[must_use]
    pub fn answer(&self, name: &str) -> Option<&Value> {
        self.answers.get(name)
    }

    /// Returns a field of a form that the person at the client accepted; `None` without the form, the field, or the consent.
    #[must_use]
    pub fn accepted_field(&self, name: &str, field: &str) -> Option<&Value> {
        let form = self.answer(name)?;
        if form.get("action")? != "accept" {
            return None;
        }
        form.get("content")?.get(field)
    }

    /// Returns the state that the contribution passed along with its questions; `None` in the first step.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Checks whether the client can be asked something. Otherwise the server refuses the question with an error that names the
    /// missing capability.
    #[must_use]
    pub fn can_ask(&self, request: &InputRequest) -> bool {
        lacks(&self.capabilities, request).is_none()
    }

    /// Returns the flag that is raised when the client cancels its request.
    #[must_use]
    pub fn cancel(&self) -> &CancelFlag {
        &self.cancel
    }

    /// Reports progress to a client that requests it; `progress` has to increase. Waits while the client is slow to read.
    pub fn report(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(reports) = &self.reports {
            let report = Report { progress, total, message: message.map(str::to_owned) };
            // A failure means that the request was cancelled.
            let _ = reports.blocking_send(report);
        }
    }

    /// Writes a message into the log that the client receives, if it wants messages of this level and the contribution
    /// [logs](super::Contribution::logs). Never waits: at most 64 messages are queued for a client that is slow to read, each
    /// with at most 16 KiB as JSON including the name of its logger. A last message has the number of dropped ones.
    ///
    /// Messages and progress reports may arrive in a different order than they were sent. All arrive before the answer.
    pub fn log(&self, level: LogLevel, logger: Option<&str>, data: Value) {
        if let Some(log) = &self.log {
            log.write(level, logger, data);
        }
    }
}
