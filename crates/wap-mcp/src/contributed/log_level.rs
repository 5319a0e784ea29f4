//! The severities of log messages, and the lowest one that a client wants.
#![expect(deprecated, reason = "clients of both revisions still have log messages")]

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ErrorData, LoggingLevel};
use rmcp::service::RequestContext;

use crate::http::is_newer;

/// The name by which a request of the newer era asks for log messages.
const KEY: &str = "io.modelcontextprotocol/logLevel";

/// The severity of a log message as defined by RFC 5424; the least severe is the smallest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// Details for debugging.
    Debug,
    /// Steps of the work.
    Info,
    /// Events that are normal and matter.
    Notice,
    /// Conditions that may lead to a failure.
    Warning,
    /// Failures of an operation.
    Error,
    /// Failures of a component.
    Critical,
    /// Conditions that require immediate action.
    Alert,
    /// The system is unusable.
    Emergency,
}

impl LogLevel {
    /// All levels, the least severe first, with those of the SDK.
    const ALL: [(LogLevel, LoggingLevel); 8] = [
        (LogLevel::Debug, LoggingLevel::Debug),
        (LogLevel::Info, LoggingLevel::Info),
        (LogLevel::Notice, LoggingLevel::Notice),
        (LogLevel::Warning, LoggingLevel::Warning),
        (LogLevel::Error, LoggingLevel::Error),
        (LogLevel::Critical, LoggingLevel::Critical),
        (LogLevel::Alert, LoggingLevel::Alert),
        (LogLevel::Emergency, LoggingLevel::Emergency),
    ];
}

impl From<LoggingLevel> for LogLevel {
    fn from(level: LoggingLevel) -> LogLevel {
        LogLevel::ALL[level as usize].0
    }
}

impl From<LogLevel> for LoggingLevel {
    fn from(level: LogLevel) -> LoggingLevel {
        LogLevel::ALL[level as usize].1
    }
}

/// The least severe level that a client of the older era wants to receive.
#[derive(Clone, Debug)]
pub(crate) struct ChosenLevel(Arc<Mutex<LogLevel>>);

impl Default for ChosenLevel {
    /// The protocol lets the server choose for clients without a level: everything except details for debugging.
    fn default() -> ChosenLevel {
        ChosenLevel(Arc::new(Mutex::new(LogLevel::Info)))
    }
}

impl ChosenLevel {
    /// Sets the level.
    pub(crate) fn set(&self, level: LogLevel) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = level;
    }

    /// Returns the lowest level of messages about a request that its client wants to receive; `None` if it wants none.
    ///
    /// # Errors
    ///
    /// Invalid parameters if the request asks for an unknown level.
    pub(super) fn of(&self, context: &RequestContext<RoleServer>) -> Result<Option<LogLevel>, ErrorData> {
        if !is_newer(context) {
            return Ok(Some(*self.0.lock().unwrap_or_else(PoisonError::into_inner)));
        }
        let level = context.meta.log_level().map(LogLevel::from);
        // The SDK treats an unknown level as absent.
        if level.is_none() && context.meta.0.0.contains_key(KEY) {
            return Err(unknown_level());
        }
        Ok(level)
    }
}

/// Returns the refusal of a level that the protocol does not have.
pub(crate) fn unknown_level() -> ErrorData {
    let text =
        "the level of log messages is debug, info, notice, warning, error, critical, alert or emergency";
    ErrorData::invalid_params(text, None)
}

#[cfg(test)]
mod tests {
    use rmcp::model::LoggingLevel;

    use super::LogLevel;

    #[test]
    fn levels_are_ordered_as_in_the_sdk_and_converted_both_ways() {
        assert!(LogLevel::ALL.is_sorted_by(|(one, _), (next, _)| one < next));
        for (level, of_sdk) in LogLevel::ALL {
            assert_eq!(LogLevel::from(of_sdk), level);
            assert_eq!(LoggingLevel::from(level), of_sdk);
        }
    }
}
