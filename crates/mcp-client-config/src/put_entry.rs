//! Putting an entry into a file.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Gid, OFlags, Uid, fchown};
use rustix::io::Errno;
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::client::McpClient;
use crate::error::ConfigError;
use crate::with_entry::with_entry;

/// The largest configuration file that is read, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// The effect of putting an entry into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// The file is new.
    Created,
    /// The entry is new or another one than before.
    Changed,
    /// It was there already.
    Unchanged,
}

/// Puts an entry into a client's file, as a whole or not at all. The target of a symbolic link is rewritten, not the link, and keeps
/// its permissions and its owner; folders above a new file are made.
///
/// A file of the project has to lie in `workspace` once links are followed: what works on the project could have made them.
///
/// # Errors
///
/// Those of [`with_entry`]; [`ConfigError::LeadsOut`]; [`ConfigError::OtherOwner`]; the file is not a regular one, is longer than 16 MiB, is not UTF-8, or cannot be
/// read or written.
pub fn put_entry(
    client: McpClient,
    workspace: &Path,
    file: &Path,
    name: &str,
    entry: &Value,
) -> Result<Placed, ConfigError> {
    let (target, text) = match fs::canonicalize(file) {
        Ok(target) => {
            check_inside(client, workspace, &target)?;
            let text = read(&target)?;
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
    check_inside(client, workspace, &fs::canonicalize(folder)?)?;
    // In the same folder, because a rename cannot cross file systems.
    let mut unfinished = NamedTempFile::new_in(folder)?;
    unfinished.write_all(changed.as_bytes())?;
    let permissions = match text {
        Some(_) => {
            let before = fs::metadata(&target)?;
            keep_owner(unfinished.as_file(), &before)?;
            // The file may hold secrets of other servers, so it must not become more open.
            before.permissions()
        }
        None => PermissionsExt::from_mode(0o644),
    };
    unfinished.as_file().set_permissions(permissions)?;
    unfinished.as_file().sync_all()?;
    unfinished.persist(&target).map_err(|error| error.error)?;
    Ok(if text.is_some() { Placed::Changed } else { Placed::Created })
}

/// Gives a file the user and the group of the one that it replaces, so that its client can still read and write it.
fn keep_owner(file: &File, before: &Metadata) -> Result<(), ConfigError> {
    let own = file.metadata()?;
    let user = (own.uid() != before.uid()).then(|| Uid::from_raw(before.uid()));
    let group = (own.gid() != before.gid()).then(|| Gid::from_raw(before.gid()));
    if user.is_none() && group.is_none() {
        return Ok(());
    }
    fchown(file, user, group).map_err(|error| match error {
        Errno::PERM => ConfigError::OtherOwner,
        error => ConfigError::Io(error.into()),
    })
}

/// Checks that a path without links, of a file of the project or its folder, lies in the workspace.
fn check_inside(client: McpClient, workspace: &Path, path: &Path) -> Result<(), ConfigError> {
    if client.is_of_project() && !path.starts_with(fs::canonicalize(workspace)?) {
        return Err(ConfigError::LeadsOut);
    }
    Ok(())
}

/// Reads a regular file, and waits for no other.
fn read(path: &Path) -> Result<String, ConfigError> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(ConfigError::unreadable("it is not a regular file"));
    }
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(ConfigError::unreadable("it is far too long"));
    }
    Ok(text)
}
