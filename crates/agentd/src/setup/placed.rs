//! Putting an entry into a file.

use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;
use tempfile::NamedTempFile;

use crate::setup::mcp_client::{FileFormat, McpClient};
use crate::setup::{json_file, toml_file, yaml_file};

/// The largest configuration file that is read, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// The effect of putting an entry into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// The file is new.
    Created,
    /// The entry is new or another one than before.
    Changed,
    /// It was there already.
    Unchanged,
}

/// The reason why an entry was not put into a file. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    /// It is not in the format of the client.
    #[error("it cannot be understood: {why}")]
    Unreadable {
        /// The fault of the text.
        why: String,
    },
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Renders the file with this entry alone.
pub(crate) fn alone(client: McpClient, name: &str, entry: &Value) -> String {
    let text = with_entry(client, "", name, entry);
    text.ok().flatten().expect("an empty file takes an entry")
}

/// Puts an entry into a client's file, as a whole or not at all.
pub(crate) fn put_entry(
    client: McpClient,
    file: &Path,
    name: &str,
    entry: &Value,
) -> Result<Placed, SetupError> {
    // The target of a link is rewritten, not the link.
    let (target, text) = match fs::canonicalize(file) {
        Ok(target) => {
            if fs::metadata(&target)?.len() > MOST_BYTES {
                return Err(SetupError::Unreadable { why: "it is far too long".to_owned() });
            }
            let text = fs::read_to_string(&target)?;
            (target, Some(text))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => (file.to_owned(), None),
        Err(error) => return Err(error.into()),
    };
    let Some(changed) = with_entry(client, text.as_deref().unwrap_or_default(), name, entry)? else {
        return Ok(Placed::Unchanged);
    };
    let folder = target.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).create(folder)?;
    // In the same folder, because a rename cannot cross file systems.
    let mut unfinished = NamedTempFile::new_in(folder)?;
    unfinished.write_all(changed.as_bytes())?;
    // The file may hold secrets of other servers, so it must not become more open.
    let permissions = match text {
        Some(_) => fs::metadata(&target)?.permissions(),
        None => std::os::unix::fs::PermissionsExt::from_mode(0o644),
    };
    unfinished.as_file().set_permissions(permissions)?;
    unfinished.as_file().sync_all()?;
    unfinished.persist(&target).map_err(|error| error.error)?;
    Ok(if text.is_some() { Placed::Changed } else { Placed::Created })
}

fn with_entry(
    client: McpClient,
    text: &str,
    name: &str,
    entry: &Value,
) -> Result<Option<String>, SetupError> {
    match client.format() {
        FileFormat::Json => json_file::with_entry(text, client.table(), name, entry),
        FileFormat::Toml => toml_file::with_entry(text, client.table(), name, entry),
        FileFormat::Yaml => yaml_file::with_entry(text, client.table(), name, entry),
    }
}
