//! Puts an entry into a file.

use std::path::Path;

use serde_json::Value;

use crate::client::{McpClient, Server};
use crate::entry_name::entry_name_in;
use crate::error::ConfigError;
use crate::location::Location;
use crate::unfinished::Unfinished;
use crate::with_entry::{current_entry, with_entry};

/// The effect of putting an entry into a file. The list is complete, so a `match` may be exhaustive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// The file is new.
    Created,
    /// The entry is new or changed.
    Changed,
    /// The entry was already there.
    Unchanged,
}

/// A server as it is now in a client's file.
#[derive(Clone, Debug, PartialEq)]
pub struct Registered {
    /// The name of its entry.
    pub name: String,
    /// The wanted entry; the one in the file may have more keys.
    pub entry: Value,
    /// The effect on the file.
    pub placed: Placed,
}

/// Puts the entry of a folder's server into a client's file, as [`rewrite`] does, under the name that [`entry_name_in`] returns
/// for `server_name`. So the entry of another folder is not replaced.
///
/// `kept` are options such as `--review` that users add by hand, without their values.
///
/// # Errors
///
/// Those of [`with_entry`] and [`rewrite`], and [`ConfigError::LosesOption`] if the present entry has one of `kept` and the new
/// one does not.
pub fn put_server(
    client: McpClient,
    workspace: &Path,
    file: &Path,
    server_name: &str,
    server: &Server,
    kept: &[&str],
) -> Result<Registered, ConfigError> {
    let (mut name, mut entry) = (String::new(), Value::Null);
    let placed = rewrite(client, workspace, file, |text| {
        let text = text.unwrap_or_default();
        name = entry_name_in(client, text, server_name, workspace)?;
        entry = client.entry(&name, server);
        let changed = with_entry(client, text, &name, &entry)?;
        let current = current_entry(client, text, &name)?;
        let is_lost = |option: &&&str| has_option(&current, option) && !has_option(&entry, option);
        match kept.iter().find(is_lost) {
            Some(option) if changed.is_some() => {
                Err(ConfigError::LosesOption { option: (*option).to_owned() })
            }
            _ => Ok(changed),
        }
    })?;
    Ok(Registered { name, entry, placed })
}

/// Returns the name that [`put_server`] would use, without changing anything.
///
/// # Errors
///
/// Those of [`entry_name_in`], and those of [`rewrite`] for reading.
pub fn entry_name_in_file(
    client: McpClient,
    workspace: &Path,
    file: &Path,
    server_name: &str,
) -> Result<String, ConfigError> {
    let mut name = String::new();
    rewrite(client, workspace, file, |text| {
        name = entry_name_in(client, text.unwrap_or_default(), server_name, workspace)?;
        Ok(None)
    })?;
    Ok(name)
}

/// Puts an entry under a fixed name into a client's file, as [`rewrite`] does.
///
/// # Errors
///
/// Those of [`with_entry`] and [`rewrite`].
pub fn put_entry(
    client: McpClient,
    workspace: &Path,
    file: &Path,
    name: &str,
    entry: &Value,
) -> Result<Placed, ConfigError> {
    rewrite(client, workspace, file, |text| with_entry(client, text.unwrap_or_default(), name, entry))
}

/// Rewrites a client's file atomically.
///
/// `change` receives the text, `None` if there is no file, and returns the new text, `None` to leave it unchanged. The target of
/// a symbolic link is rewritten, not the link, and keeps its owner, its permissions and its access list. A new file has the
/// permissions that the process gives to new files. Folders above it are created; files and folders that root creates belong to
/// the owner of the containing folder.
///
/// A file of the project has to be in `workspace` after following links: tools that work on the project could have created them.
///
/// # Errors
///
/// Those of `change`. [`ConfigError::Unreadable`]: the file is not a regular one, is longer than 16 MiB or is not UTF-8.
/// [`ConfigError::LeadsOut`] and [`ConfigError::DanglingLink`]: a symbolic link. [`ConfigError::OtherOwner`],
/// [`ConfigError::OtherGroup`] and [`ConfigError::AccessList`]: the new file cannot be as accessible as the old one.
/// [`ConfigError::ChangedMeanwhile`]: another program changed the file, or its folder, after it was read. [`ConfigError::Io`]: it
/// cannot be read or written.
pub fn rewrite(
    client: McpClient,
    workspace: &Path,
    file: &Path,
    change: impl FnOnce(Option<&str>) -> Result<Option<String>, ConfigError>,
) -> Result<Placed, ConfigError> {
    let location = Location::find(client, workspace, file)?;
    let folder = location.open()?;
    let name = &*location.name;
    let current = if location.is_there { Some(folder.read(name)?) } else { None };
    let Some(changed) = change(current.as_ref().map(|current| &*current.text))? else {
        return Ok(Placed::Unchanged);
    };
    let Some(current) = current else {
        let folder = location.make_missing(folder)?;
        Unfinished::new(&folder, name, &changed)?.publish(name)?;
        return Ok(Placed::Created);
    };
    let unfinished = Unfinished::replacing(&folder, name, &changed, &current)?;
    // A client may have replaced the link by a file.
    if !Location::find(client, workspace, file).is_ok_and(|now| now == location) {
        return Err(ConfigError::ChangedMeanwhile);
    }
    unfinished.replace(name, &current)?;
    Ok(Placed::Changed)
}

/// Checks whether a server is started with an option, alone or followed by `=` and its value.
fn has_option(entry: &Value, option: &str) -> bool {
    match entry {
        Value::String(text) => text.split('=').next() == Some(option),
        Value::Array(items) => items.iter().any(|item| has_option(item, option)),
        Value::Object(fields) => fields.values().any(|field| has_option(field, option)),
        _ => false,
    }
}
