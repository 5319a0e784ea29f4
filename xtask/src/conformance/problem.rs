//! The reason why a case fails.

use std::error::Error;
use std::fmt;

use super::Outcome;

/// The reason why a case fails, or could not be set up: a text for the reader of the report.
#[derive(Debug)]
pub(crate) struct Problem(String);

impl Problem {
    pub(crate) fn new(text: impl Into<String>) -> Problem {
        Problem(text.into())
    }

    /// Returns the problem with a case that expects something which its runner cannot check.
    pub(super) fn unknown_key(key: &str) -> Problem {
        Problem(format!("the case expects {key}, which its runner does not know"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Converts an error with all its causes. `Problem` itself does not implement `Error`, so that every error converts.
impl<E: Error> From<E> for Problem {
    fn from(error: E) -> Problem {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text.push_str(&format!(": {cause}"));
            source = cause.source();
        }
        Problem(text)
    }
}

impl From<Result<(), Problem>> for Outcome {
    fn from(checked: Result<(), Problem>) -> Outcome {
        match checked {
            Ok(()) => Outcome::Passed,
            Err(Problem(text)) => Outcome::Failed(text),
        }
    }
}

/// Refuses what does not hold.
pub(super) fn ensure(holds: bool, text: impl FnOnce() -> String) -> Result<(), Problem> {
    if holds { Ok(()) } else { Err(Problem::new(text())) }
}
