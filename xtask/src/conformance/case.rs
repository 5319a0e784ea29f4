//! One case and its outcome.

use serde_json::Value;

/// The outcome of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was as the case says.
    Passed,
    /// Something was not; the text says what.
    Failed(String),
    /// The case cannot run on this machine; the text says why.
    Unable(String),
}

/// Runs one case. A runner that panics has failed the case.
pub type Run = fn(&Value) -> Outcome;

impl Outcome {
    /// Compares what a case says with what there is.
    pub(super) fn compare(what: &str, expected: &Value, actual: &Value) -> Outcome {
        if expected == actual {
            return Outcome::Passed;
        }
        Outcome::Failed(format!("{what} is {actual}, but should be {expected}"))
    }

    /// Runs another check if this one passed.
    pub(super) fn and(self, next: impl FnOnce() -> Outcome) -> Outcome {
        if self == Outcome::Passed { next() } else { self }
    }
}
