//! JSON with comments, in which one entry is put.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::Value;

use crate::error::ConfigError;

/// Returns the text with `table.name` being `entry`; everything else stays as it is, comments included. `None` if it is
/// so already.
pub(super) fn with_entry(
    text: &str,
    table: &str,
    name: &str,
    entry: &Value,
) -> Result<Option<String>, ConfigError> {
    // Clients allow comments and trailing commas; how they would read any other extension is not known.
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        ..ParseOptions::default()
    };
    let root =
        CstRootNode::parse(text, &options).map_err(|error| ConfigError::unreadable(error.to_string()))?;
    let not_a_table = |what: &str| ConfigError::unreadable(format!("{what} is not an object"));
    if root.value().is_none() {
        root.set_value(CstInputValue::Object(Vec::new()));
    }
    let settings = root.object_value().ok_or_else(|| not_a_table("its content"))?;
    let servers = match settings.get(table) {
        Some(property) => property.object_value().ok_or_else(|| not_a_table(table))?,
        None => settings.object_value_or_set(table),
    };
    match servers.get(name) {
        Some(property) => {
            let current = property.value().and_then(|value| value.to_serde_value());
            if current.as_ref() == Some(entry) {
                return Ok(None);
            }
            property.set_value(input(entry));
        }
        None => {
            servers.append(name, input(entry));
        }
    }
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(Some(text))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
