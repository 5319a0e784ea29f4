//! Trying out whether names can be exchanged between the layers' folder and the workspace.
//!
//! Numbers of devices do not tell: two mounts of one file system have the same number and refuse renames.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use sandbox_fs::ContentHash;

use crate::handle::{create_at, exchange, rename_new, stat_at, unlink_at};

/// Exchanges an empty file of the layers' folder with one in the workspace, for a moment, and removes both.
///
/// The name in the workspace is one of a temporary file: walks leave it out, and a sweep recognises it after a crash.
pub(crate) fn exchanges(layers: BorrowedFd<'_>, workspace: BorrowedFd<'_>, salt: &str) -> Result<(), Errno> {
    let random = ContentHash::of(salt.as_bytes()).to_string();
    let name = format!(".agentd-tmp-{}", &random[..32]).into_bytes();
    let other = format!("probe-{}", &random[..32]).into_bytes();
    let result = try_out(layers, workspace, &name, &other);
    for (folder, name) in [(layers, &name), (layers, &other), (workspace, &name)] {
        if matches!(stat_at(folder, name), Ok(Some(found)) if found.size_bytes == 0) {
            // What cannot be removed has the name of a leftover.
            let _ = unlink_at(folder, name);
        }
    }
    result
}

fn try_out(layers: impl AsFd, workspace: impl AsFd, name: &[u8], other: &[u8]) -> Result<(), Errno> {
    create_at(&layers, name, 0o600)?;
    create_at(&layers, other, 0o600)?;
    rename_new((&layers, name), (&workspace, name))?;
    exchange((&layers, other), (&workspace, name))
}
