//! The result of one command, and its comparison with what the workflow expects.

use std::time::Duration;

use regex::Regex;

use super::workflow::{Refusal, WorkflowStep};

/// The result of one command, plain or confined.
#[derive(Clone, Debug, Default)]
pub struct StepResult {
    /// The exit code; `None` if there is none, because of a timeout for instance.
    pub exit_code: Option<i64>,
    /// Standard output and standard error.
    pub output: String,
    /// The receipts of refused calls, as `what · why · allow`.
    pub receipts: Vec<String>,
    /// The time from the start to the answer.
    pub duration: Duration,
}

impl StepResult {
    /// Returns the reason for which a command without confinement is not as expected.
    pub fn plain_fault(&self, step: &WorkflowStep) -> Option<String> {
        match &step.refused {
            Some(refusal) if refusal.plain_may_fail => None,
            _ => self.failure(step.output.as_deref()),
        }
    }

    /// Returns the reason for which a confined command is not as expected. A refusal by design that does not happen is a
    /// fault, too: its explanation is out of date.
    pub fn confined_fault(&self, step: &WorkflowStep) -> Option<String> {
        match &step.refused {
            Some(refusal) => self.refusal_fault(refusal),
            None => self.failure(step.output.as_deref()),
        }
    }

    fn failure(&self, pattern: Option<&str>) -> Option<String> {
        let Some(0) = self.exit_code else {
            let receipts = self.receipts.iter().map(|receipt| format!(" [{receipt}]"));
            let code =
                self.exit_code.map_or_else(|| "no exit code".to_owned(), |code| format!("exit code {code}"));
            return Some(format!("{code}: {}{}", self.last_line(), receipts.collect::<String>()));
        };
        let pattern = pattern.filter(|pattern| !matches(pattern, &self.output))?;
        Some(format!("the output does not match `{pattern}`: {}", self.last_line()))
    }

    fn refusal_fault(&self, refusal: &Refusal) -> Option<String> {
        if self.exit_code == Some(0) {
            return Some("succeeds, although a refusal is expected".to_owned());
        }
        let lacks_receipt = |pattern: &String| !self.receipts.iter().any(|receipt| matches(pattern, receipt));
        if refusal.receipt.as_ref().is_some_and(lacks_receipt) {
            return Some(format!("not the expected receipt: {:?}, {}", self.receipts, self.last_line()));
        }
        let output = refusal.output.as_ref().filter(|pattern| !matches(pattern, &self.output));
        output.map(|pattern| format!("the output does not match `{pattern}`: {}", self.last_line()))
    }

    /// Returns the last line of the output that is not blank, cut to 200 characters.
    fn last_line(&self) -> String {
        let line = self.output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        line.trim().chars().take(200).collect()
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    Regex::new(pattern).is_ok_and(|regex| regex.is_match(text))
}
