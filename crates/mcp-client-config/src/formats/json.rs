//! JSON with comments, into which objects are merged.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

use crate::error::ConfigError;

/// Returns the settings in a text; none if it has no value.
///
/// A key on the path to `wanted` may occur only once: of equal keys, some readers use the first and others the last.
pub(super) fn parse(text: &str, wanted: &Map<String, Value>) -> Result<Map<String, Value>, ConfigError> {
    let Some(settings) = tree(text)?.value() else { return Ok(Map::new()) };
    let settings = object(&settings)?;
    check_single(&settings, wanted)?;
    match settings.to_serde_value() {
        Some(Value::Object(settings)) => Ok(settings),
        _ => Err(not_an_object()),
    }
}

/// Returns the text with `wanted` merged into its settings. Everything else stays unchanged, including comments.
pub(super) fn merge(text: &str, wanted: &Map<String, Value>) -> Result<String, ConfigError> {
    let root = tree(text)?;
    if root.value().is_none() {
        root.set_value(CstInputValue::Object(Vec::new()));
    }
    let settings = root.value().ok_or_else(not_an_object)?;
    merge_object(&object(&settings)?, wanted);
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push_str(if text.contains("\r\n") { "\r\n" } else { "\n" });
    }
    Ok(text)
}

fn tree(text: &str) -> Result<CstRootNode, ConfigError> {
    // Clients allow comments and trailing commas; their handling of other extensions is unknown.
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &options).map_err(|error| ConfigError::unreadable(error.to_string()))
}

fn object(settings: &CstNode) -> Result<CstObject, ConfigError> {
    settings.as_object().ok_or_else(not_an_object)
}

fn not_an_object() -> ConfigError {
    ConfigError::unreadable("its content is not an object")
}

fn check_single(object: &CstObject, wanted: &Map<String, Value>) -> Result<(), ConfigError> {
    let properties = object.properties();
    for (key, value) in wanted {
        let mut named = properties.iter().filter(|property| property.decoded_name().as_ref() == Some(key));
        let first = named.next();
        if named.next().is_some() {
            return Err(ConfigError::unreadable(format!("the key {key} is there twice")));
        }
        if let (Some(inner), Value::Object(wanted)) = (first.and_then(CstObjectProp::object_value), value) {
            check_single(&inner, wanted)?;
        }
    }
    Ok(())
}

fn merge_object(object: &CstObject, wanted: &Map<String, Value>) {
    for (key, value) in wanted {
        let Some(property) = object.get(key) else {
            object.append(key, input(value));
            continue;
        };
        match (property.object_value(), value) {
            (Some(inner), Value::Object(wanted)) => merge_object(&inner, wanted),
            _ if property.to_serde_value().as_ref() == Some(value) => {}
            _ => property.set_value(input(value)),
        }
    }
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
