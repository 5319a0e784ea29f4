//! The result of a need that failed.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::WarningCode;

/// A failed need, with its identifying fields.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedResult {
    /// The type of the need; empty if it had none.
    pub need_type: String,
    /// The identifying fields of the need.
    pub fields: Map<String, Value>,
    /// The name of a [`WarningCode`], or the error of another implementation.
    pub error: String,
    /// A message for the agent.
    pub message: Option<String>,
}

impl FailedResult {
    /// Returns the code of the failure; `None` for an error of another implementation.
    #[must_use]
    pub fn code(&self) -> Option<WarningCode> {
        WarningCode::from_name(&self.error)
    }

    /// Reads a failed result; returns the fields if they are not one.
    pub(super) fn from_fields(
        need_type: &str,
        mut fields: Map<String, Value>,
    ) -> Result<FailedResult, Map<String, Value>> {
        let has_failed = fields.get("status").is_some_and(|status| status == "error")
            && fields.get("error").is_some_and(Value::is_string)
            && fields.get("message").is_none_or(Value::is_string);
        if !has_failed {
            return Err(fields);
        }
        fields.remove("status");
        let mut text = |name: &str| match fields.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let (error, message) = (text("error").unwrap_or_default(), text("message"));
        Ok(FailedResult { need_type: need_type.to_owned(), fields, error, message })
    }
}

impl Serialize for FailedResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &self.need_type)?;
        for (key, value) in &self.fields {
            map.serialize_entry(key, value)?;
        }
        map.serialize_entry("status", "error")?;
        map.serialize_entry("error", &self.error)?;
        if let Some(message) = &self.message {
            map.serialize_entry("message", message)?;
        }
        map.end()
    }
}
