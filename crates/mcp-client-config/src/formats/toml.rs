//! TOML, into which tables are merged.

use serde_json::{Map, Value, json};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use crate::error::ConfigError;

/// The number of table levels with headers: the table of servers, and an entry.
const HEADERS: usize = 2;

/// Returns the settings in a text. Values that JSON lacks become objects, which equal no text and no number.
pub(super) fn parse(text: &str) -> Result<Map<String, Value>, ConfigError> {
    Ok(fields(document(text)?.as_table()))
}

/// Returns the text with `wanted` merged into its settings. Everything else stays unchanged, including comments.
pub(super) fn merge(text: &str, wanted: &Map<String, Value>) -> Result<String, ConfigError> {
    let mut document = document(text)?;
    merge_table(document.as_table_mut(), wanted, HEADERS)?;
    // The editor drops the byte-order mark with which some programs begin a file.
    let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    Ok(format!("{mark}{document}"))
}

fn document(text: &str) -> Result<DocumentMut, ConfigError> {
    text.parse().map_err(|error: toml_edit::TomlError| ConfigError::unreadable(error.message()))
}

/// Merges into a table. New tables on the first `headers` levels have a header, and those below are inline.
fn merge_table(
    table: &mut dyn TableLike,
    wanted: &Map<String, Value>,
    headers: usize,
) -> Result<(), ConfigError> {
    for (key, wanted) in wanted {
        match (table.get_mut(key), wanted) {
            (None, Value::Object(wanted)) if headers > 0 => {
                let mut new = Table::new();
                // `[mcp_servers]` alone is redundant.
                new.set_implicit(headers == HEADERS);
                merge_table(&mut new, wanted, headers - 1)?;
                table.insert(key, Item::Table(new));
            }
            (None, wanted) => {
                table.insert(key, Item::Value(value(wanted)?));
            }
            (Some(current), Value::Object(wanted)) if current.is_table_like() => {
                if let Some(current) = current.as_table_like_mut() {
                    // An inline table accepts a new one without its header.
                    merge_table(current, wanted, headers.saturating_sub(1))?;
                }
            }
            (Some(current), wanted) if json_of(current) == *wanted => {}
            (Some(current), wanted) => {
                let mut new = value(wanted)?;
                if let Some(current) = current.as_value() {
                    // It holds the comment after the value.
                    *new.decor_mut() = current.decor().clone();
                }
                *current = Item::Value(new);
            }
        }
    }
    Ok(())
}

fn value(wanted: &Value) -> Result<toml_edit::Value, ConfigError> {
    Ok(match wanted {
        Value::Null => return Err(ConfigError::invalid_entry("TOML has no null")),
        Value::Bool(value) => (*value).into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64().filter(|_| number.is_f64())) {
            (Some(integer), _) => integer.into(),
            (None, Some(float)) => float.into(),
            (None, None) => {
                return Err(ConfigError::invalid_entry("TOML has no integer above 9223372036854775807"));
            }
        },
        Value::String(text) => text.into(),
        Value::Array(items) => items.iter().map(value).collect::<Result<Array, _>>()?.into(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, wanted)| Ok((key, value(wanted)?)));
            fields.collect::<Result<InlineTable, ConfigError>>()?.into()
        }
    })
}

fn fields(table: &dyn TableLike) -> Map<String, Value> {
    table.iter().map(|(key, item)| (key.to_owned(), json_of(item))).collect()
}

fn json_of(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_of_value(value),
        Item::Table(table) => Value::Object(fields(table)),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| Value::Object(fields(table))).collect(),
    }
}

fn json_of_value(value: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    match value {
        Toml::String(text) => text.value().as_str().into(),
        Toml::Integer(integer) => (*integer.value()).into(),
        Toml::Boolean(value) => (*value.value()).into(),
        Toml::Float(float) if float.value().is_finite() => (*float.value()).into(),
        // Use an object, so that no text and no number equals it.
        Toml::Float(float) => json!({ "": float.value().to_string() }),
        Toml::Datetime(time) => json!({ "": time.value().to_string() }),
        Toml::Array(items) => items.iter().map(json_of_value).collect(),
        Toml::InlineTable(table) => Value::Object(fields(table)),
    }
}
