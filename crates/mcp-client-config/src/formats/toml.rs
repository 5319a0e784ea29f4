//! TOML, in which one entry is put.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::error::ConfigError;

/// Returns the text with `[table.name]` being `entry`; everything else stays as it is, comments included. `None` if it
/// is so already. An entry has texts and lists of texts only; other keys of an entry that is there stay.
pub(super) fn with_entry(
    text: &str,
    table: &str,
    name: &str,
    entry: &Value,
) -> Result<Option<String>, ConfigError> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| ConfigError::unreadable(error.message()))?;
    let not_a_table = |what: &str| ConfigError::unreadable(format!("{what} is not a table"));
    let servers = document.entry(table).or_insert_with(|| {
        let mut servers = Table::new();
        // `[mcp_servers]` alone says nothing.
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let servers = servers.as_table_like_mut().ok_or_else(|| not_a_table(table))?;
    let server = servers.entry(name).or_insert_with(|| Item::Table(Table::new()));
    let server = server.as_table_like_mut().ok_or_else(|| not_a_table(name))?;
    let mut is_changed = false;
    for (key, wanted) in entry.as_object().into_iter().flatten() {
        let wanted = item(wanted);
        let is_same = server.get(key).is_some_and(|current| texts(current) == texts(&wanted));
        if !is_same {
            server.insert(key, wanted);
            is_changed = true;
        }
    }
    Ok(is_changed.then(|| document.to_string()))
}

fn item(wanted: &Value) -> Item {
    match wanted {
        Value::Array(items) => value(items.iter().filter_map(Value::as_str).collect::<Array>()),
        other => value(other.as_str().unwrap_or_default()),
    }
}

/// The text or texts of an item, without how they are written; `None` if it is something else.
fn texts(item: &Item) -> Option<(bool, Vec<&str>)> {
    if let Some(text) = item.as_str() {
        return Some((false, vec![text]));
    }
    let items: Option<Vec<_>> = item.as_array()?.iter().map(toml_edit::Value::as_str).collect();
    Some((true, items?))
}
