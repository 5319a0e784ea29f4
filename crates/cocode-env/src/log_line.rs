//! One line of an agent's output.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

/// How serious a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// For following every step.
    Trace,
    /// For finding mistakes.
    Debug,
    /// The usual.
    Info,
    /// Something is odd.
    Warn,
    /// Something went wrong.
    Error,
}

impl LogLevel {
    /// Returns the level with this name in whatever case; `warning`, `fatal` and `critical` are known, too.
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
    /// The level, if the line says one that is known.
    pub level: Option<LogLevel>,
    /// The message; the whole line if nothing else could be read.
    pub message: String,
    /// The time as the agent wrote it; it is not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// What else a structured line holds.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
}

impl LogLine {
    /// Reads a line without its end: structured, `[LEVEL] text`, or anything else as it is.
    pub fn parse(line: &str) -> LogLine {
        let line = line.strip_suffix('\r').unwrap_or(line);
        structured(line).or_else(|| plain(line)).unwrap_or_else(|| LogLine {
            level: None,
            message: line.to_owned(),
            timestamp: None,
            fields: Map::new(),
        })
    }

    /// Whether the agent wants a person to see the line, whole: a structured one says `"attention": true`.
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
        // A level that is not known is still something that the agent said.
        fields.insert("level".to_owned(), Value::String(named));
    }
    Some(LogLine { level, message, timestamp, fields })
}

fn plain(line: &str) -> Option<LogLine> {
    let (name, text) = line.strip_prefix('[')?.split_once(']')?;
    let level = LogLevel::from_name(name)?;
    let message = text.strip_prefix(' ').unwrap_or(text).to_owned();
    Some(LogLine { level: Some(level), message, timestamp: None, fields: Map::new() })
}
