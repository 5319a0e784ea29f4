//! What a check finds.

use std::fmt;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name of the check.
    pub check: &'static str,
    /// The file or crate.
    pub place: String,
    /// The line, 1-based, where there is one.
    pub line_number: Option<usize>,
    /// What is wrong.
    pub text: String,
}

/// What tidy has to say about a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TidyReport {
    /// Broken rules.
    pub findings: Vec<Finding>,
    /// What is allowed and worth knowing.
    pub notes: Vec<String>,
}

impl Finding {
    /// A finding about a whole file or crate.
    pub(super) fn new(check: &'static str, place: impl Into<String>, text: impl Into<String>) -> Finding {
        Finding { check, place: place.into(), line_number: None, text: text.into() }
    }

    /// A finding about the line at an index.
    pub(super) fn at(
        check: &'static str,
        place: &str,
        line_index: usize,
        text: impl Into<String>,
    ) -> Finding {
        Finding { line_number: Some(line_index + 1), ..Finding::new(check, place, text) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.place)?;
        if let Some(line) = self.line_number {
            write!(formatter, ":{line}")?;
        }
        write!(formatter, ": {} ({})", self.text, self.check)
    }
}
