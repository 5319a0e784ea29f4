//! One line of an agent's output.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

/// The severity of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Every single step.
    Trace,
    /// Details for debugging.
    Debug,
    /// Normal progress.
    Info,
    /// An unexpected condition that the agent can handle.
    Warn,
    /// A failure.
    Error,
}

impl LogLevel {
    /// Parses a level name, ignoring case; also accepts `warning`, `fatal` and `critical`.
    pub fn from_name(name: &str) -> Option<LogLevel> {
        Some(match name.to_ascii_lowercase().as_str() {
            "trace" => LogLevel::Trace,
            "debug" => LogLevel::Debug,
            "info" => LogLevel::Info,
            "warn" | "warning" => LogLevel::Warn,
            "error" | "fatal" | "critical" => LogLevel::Error,
            _ => return None,
        })
    }

    /// Returns the name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            LogLevel::Trace => "trace",
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One line of an agent's output.
///
/// ```
/// use cocode_env::{LogLevel, LogLine};
/// let line = LogLine::parse(r#"{"level": "info", "message": "Starting", "step": 1}"#);
/// assert_eq!((line.level, line.message.as_str()), (Some(LogLevel::Info), "Starting"));
/// assert_eq!(line.fields["step"], 1);
/// assert_eq!(LogLine::parse("[INFO] Starting").level, Some(LogLevel::Info));
/// assert_eq!(LogLine::parse("[NOTE] Starting").message, "[NOTE] Starting");
/// ```
///
/// Source: cocode ADR-003, "Log Streaming".
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogLine {
    /// The level, if the line has a valid one.
    pub level: Option<LogLevel>,
    /// The message; the whole line if it is neither structured nor prefixed with a level.
    pub message: String,
    /// The time as the agent wrote it; not validated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The other fields of a structured line.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
}

impl LogLine {
    /// Parses a line without its line end: a JSON object, `[LEVEL] text`, or any other text verbatim.
    ///
    /// Never fails. serde_json limits the nesting of a JSON object to 128; a deeper one is kept as plain text.
    pub fn parse(line: &str) -> LogLine {
        let line = line.strip_suffix('\r').unwrap_or(line);
        structured(line).or_else(|| plain(line)).unwrap_or_else(|| LogLine {
            level: None,
            message: line.to_owned(),
            timestamp: None,
            fields: Map::new(),
        })
    }

    /// Returns true if the line should be shown to the user in full: a structured line with `"attention": true`.
    ///
    /// ```
    /// use cocode_env::LogLine;
    /// assert!(LogLine::parse(r#"{"message": "answer in inbox/", "attention": true}"#).wants_attention());
    /// assert!(!LogLine::parse(r#"{"message": "attention"}"#).wants_attention());
    /// ```
    pub fn wants_attention(&self) -> bool {
        self.fields.get("attention") == Some(&Value::Bool(true))
    }
}

fn structured(line: &str) -> Option<LogLine> {
    if !line.trim_start().starts_with('{') {
        return None;
    }
    // JSON without a text message is not a log line, so the caller keeps it verbatim.
    let Ok(Value::Object(mut fields)) = serde_json::from_str(line) else { return None };
    let message = fields.get("message")?.as_str()?.to_owned();
    fields.remove("message");
    let mut text = |name: &str| {
        let text = fields.get(name)?.as_str()?.to_owned();
        fields.remove(name);
        Some(text)
    };
    let timestamp = text("timestamp");
    let named = text("level");
    let level = named.as_deref().and_then(LogLevel::from_name);
    if let (None, Some(named)) = (level, named) {
        // Keep an unknown level among the other fields, so that nothing the agent logged is lost.
        fields.insert("level".to_owned(), Value::String(named));
    }
    Some(LogLine { level, message, timestamp, fields })
}

fn plain(line: &str) -> Option<LogLine> {
    // A bracket prefix that is not a level is part of the message: `[1/3] building`.
    let (name, text) = line.strip_prefix('[')?.split_once(']')?;
    let level = LogLevel::from_name(name)?;
    let message = text.strip_prefix(' ').unwrap_or(text).to_owned();
    Some(LogLine { level: Some(level), message, timestamp: None, fields: Map::new() })
}
