//! The findings of a check.

use std::fmt;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name of the check.
    pub check: &'static str,
    /// The file or crate.
    pub subject: String,
    /// The line, 1-based; `None` for a finding about the whole subject.
    pub line_number: Option<usize>,
    /// The broken rule and the way out.
    pub text: String,
}

/// The findings and notes about a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TidyReport {
    /// Broken rules.
    pub findings: Vec<Finding>,
    /// Notes about things that are allowed.
    pub notes: Vec<String>,
}

impl Finding {
    /// Returns a finding about a whole file or crate.
    pub(super) fn new(check: &'static str, subject: impl Into<String>, text: impl Into<String>) -> Finding {
        Finding { check, subject: subject.into(), line_number: None, text: text.into() }
    }

    /// Returns a finding about the line at an index.
    pub(super) fn at(
        check: &'static str,
        subject: &str,
        line_index: usize,
        text: impl Into<String>,
    ) -> Finding {
        Finding { line_number: Some(line_index + 1), ..Finding::new(check, subject, text) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.subject)?;
        if let Some(line) = self.line_number {
            write!(formatter, ":{line}")?;
        }
        write!(formatter, ": {} ({})", self.text, self.check)
    }
}
