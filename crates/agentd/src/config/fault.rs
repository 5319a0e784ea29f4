//! Faults in a configuration file.

use std::fmt;

/// A fault with the line that it is in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// 1-based.
    pub(super) line_number: usize,
    pub(super) kind: FaultKind,
}

/// The fault of a line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum FaultKind {
    /// It is not TOML.
    #[error("{0}")]
    Syntax(String),
    /// No command has such options.
    #[error("there is no table [{name}]{}", did_you_mean(.nearest.as_deref()))]
    UnknownTable { name: String, nearest: Option<String> },
    /// The table has no such key.
    #[error("there is no option '{key}'{}{}", of(.table), did_you_mean(.nearest.as_deref()))]
    UnknownKey { key: String, table: String, nearest: Option<String> },
    /// The key belongs to another table.
    #[error("'{key}' belongs {}", location(.table))]
    ElsewhereKey { key: String, table: &'static str },
    /// The option is one of a single call.
    #[error("'{0}' is for the command line only")]
    CommandLineOnly(String),
    /// The value is of the wrong kind, or the option refuses it.
    #[error("{key}: {why}")]
    Value { key: String, why: String },
    /// Two keys that exclude each other.
    #[error("'{key}' cannot be combined with '{other}'")]
    Conflict { key: &'static str, other: &'static str },
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line_number, self.kind)
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean '{nearest}'?")).unwrap_or_default()
}

fn of(table: &str) -> String {
    if table.is_empty() { String::new() } else { format!(" in [{table}]") }
}

fn location(table: &str) -> String {
    if table.is_empty() { "in front of the first table".to_owned() } else { format!("in [{table}]") }
}
