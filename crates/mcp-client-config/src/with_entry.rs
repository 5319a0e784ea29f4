//! Puts an entry into a text.

use serde_json::{Map, Value};

use crate::client::McpClient;
use crate::error::ConfigError;
use crate::merge::merge_fields;

/// The keys that mark a server that clients reach over a network instead of starting it.
const REMOTE_KEYS: [&str; 4] = ["url", "serverUrl", "httpUrl", "uri"];

/// Returns the text of a client's file with an entry under `name` in its table of servers; `None` if it is already there.
///
/// The entry is an object of texts, numbers, booleans, lists and objects of them, and null if the format has it. It is merged by
/// key into a present entry of that name: other keys stay, at every depth, with their comments. Every other byte of the text
/// stays unchanged, except that a missing ending of the last line is added.
///
/// # Errors
///
/// [`ConfigError::Unreadable`]: the text is not in the format of the client, the table of servers or the entry occurs twice or is
/// of another kind, the entry of that name is for a remote server, or the layout has no safe position for the new one.
/// [`ConfigError::InvalidEntry`]: the entry is not an object, or holds a value that the format lacks.
pub fn with_entry(
    client: McpClient,
    text: &str,
    name: &str,
    entry: &Value,
) -> Result<Option<String>, ConfigError> {
    let Value::Object(fields) = entry else {
        return Err(ConfigError::invalid_entry("it is not an object"));
    };
    let format = client.format();
    let servers = Map::from_iter([(name.to_owned(), entry.clone())]);
    let wanted = Map::from_iter([(client.table().to_owned(), Value::Object(servers))]);
    let before = format.parse(text, &wanted)?;
    if let Some(servers) = object(client, &before, client.table())?
        && let Some(current) = object(client, servers, name)?
        && let Some(key) =
            REMOTE_KEYS.into_iter().find(|&key| current.contains_key(key) && !fields.contains_key(key))
    {
        return Err(ConfigError::unreadable(format!(
            "{name} is a remote server there, because it has the key {key}"
        )));
    }
    let mut expected = before.clone();
    merge_fields(&mut expected, &wanted);
    if expected == before {
        return Ok(None);
    }
    let changed = format.merge(text, &before, &wanted)?;
    match format.parse(&changed, &wanted) {
        Ok(after) if after == expected => Ok(Some(changed)),
        _ => Err(ConfigError::unreadable("its layout has no safe position for the entry")),
    }
}

/// Renders a client's file with only this entry.
///
/// # Errors
///
/// Those of [`with_entry`] for an empty text: the entry or its name is invalid in the format.
pub fn alone(client: McpClient, name: &str, entry: &Value) -> Result<String, ConfigError> {
    Ok(with_entry(client, "", name, entry)?.expect("an empty text has no entry"))
}

/// Returns the entry of this name in the text of a client's file; null if there is none.
pub(crate) fn current_entry(client: McpClient, text: &str, name: &str) -> Result<Value, ConfigError> {
    let wanted = Map::from_iter([(client.table().to_owned(), Value::Object(Map::new()))]);
    let settings = client.format().parse(text, &wanted)?;
    let servers = object(client, &settings, client.table())?;
    Ok(servers.and_then(|servers| servers.get(name)).cloned().unwrap_or_default())
}

/// Returns the object at a key; `None` if there is none, or null in its stead.
pub(crate) fn object<'a>(
    client: McpClient,
    fields: &'a Map<String, Value>,
    key: &str,
) -> Result<Option<&'a Map<String, Value>>, ConfigError> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(fields)) => Ok(Some(fields)),
        Some(_) => Err(ConfigError::unreadable(format!("{key} is not {}", client.format().object_noun()))),
    }
}
