//! The name of a server in a client's file.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde_json::{Map, Value};

use crate::client::McpClient;
use crate::error::ConfigError;
use crate::with_entry::object;

/// The number of hexadecimal digits of a path's hash after a name that another folder has.
const HASH_DIGITS: usize = 8;

impl McpClient {
    /// Returns the usual name of the server: `server`, followed by the name of the folder in a file for all projects of a user,
    /// in ASCII letters, digits, `_` and `-`. Two folders can have the same name; [`entry_name_in`] returns distinct ones.
    pub fn entry_name(self, server: &str, workspace: &Path) -> String {
        let folder = workspace.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let folder: String =
            folder.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        let name = if self.is_of_project() || folder.is_empty() {
            server.to_owned()
        } else {
            format!("{server}-{folder}")
        };
        if self.ignores_case() { name.to_ascii_lowercase() } else { name }
    }

    /// Checks whether the client ignores the case of names: Goose, which saves them in lower case.
    fn ignores_case(self) -> bool {
        self == McpClient::Goose
    }

    fn is_same_name(self, name: &str, other: &str) -> bool {
        if self.ignores_case() { name.eq_ignore_ascii_case(other) } else { name == other }
    }
}

/// Returns the name for the server of a folder in the text of a client's file.
///
/// It is the usual name of [`McpClient::entry_name`], unless the entry of that name does not have the path of the folder among
/// its arguments: then that is the server of another folder, and the hash of the path is appended. A name that the folder already
/// has is kept.
///
/// # Errors
///
/// [`ConfigError::Unreadable`], as for [`with_entry`](crate::with_entry), if the file is one for all projects of a user.
///
/// # Example
///
/// ```
/// use std::path::Path;
///
/// use mcp_client_config::{McpClient, entry_name_in};
///
/// let text = "[mcp_servers.agentd-api]\nargs = [\"--workspace\", \"/home/u/a/api\"]\n";
/// let name = |folder| entry_name_in(McpClient::Codex, text, "agentd", Path::new(folder));
/// assert_eq!(name("/home/u/a/api")?, "agentd-api");
/// assert_eq!(name("/home/u/b/api")?, "agentd-api-38dac638");
/// # Ok::<(), mcp_client_config::ConfigError>(())
/// ```
pub fn entry_name_in(
    client: McpClient,
    text: &str,
    server: &str,
    workspace: &Path,
) -> Result<String, ConfigError> {
    let usual = client.entry_name(server, workspace);
    if client.is_of_project() {
        return Ok(usual);
    }
    let wanted = Map::from_iter([(client.table().to_owned(), Value::Object(Map::new()))]);
    let settings = client.format().parse(text, &wanted)?;
    let Some(servers) = object(client, &settings, client.table())? else { return Ok(usual) };
    let named = |name: &str| {
        let same: Vec<_> = servers.iter().filter(|(other, _)| client.is_same_name(other, name)).collect();
        same
    };
    if let Some((name, _)) = named(&usual).into_iter().find(|(_, entry)| names_path(entry, workspace)) {
        return Ok(name.clone());
    }
    let hash = blake3::hash(workspace.as_os_str().as_bytes()).to_hex();
    let with_hash = format!("{usual}-{}", &hash[..HASH_DIGITS]);
    // Only this folder has a name with this hash, even if the user edited the entry.
    if let Some((name, _)) = named(&with_hash).first() {
        return Ok((*name).clone());
    }
    Ok(if named(&usual).is_empty() { usual } else { with_hash })
}

/// Checks whether a text in a value is this path, alone or after an option and `=`.
fn names_path(value: &Value, path: &Path) -> bool {
    match value {
        Value::String(text) => {
            let value = text.split_once('=').map(|(_, value)| value);
            Path::new(text) == path || value.is_some_and(|value| Path::new(value) == path)
        }
        Value::Array(items) => items.iter().any(|item| names_path(item, path)),
        Value::Object(fields) => fields.values().any(|field| names_path(field, path)),
        _ => false,
    }
}
