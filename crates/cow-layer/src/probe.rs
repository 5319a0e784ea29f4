//! A probe for exchanging names between the layers' folder and the workspace.
//!
//! Device numbers cannot decide this: two mounts of one file system have the same number and refuse renames
//! between them.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use sandbox_fs::ContentHash;

use crate::handle::{FOLDER, Kind, create_at, exchange, names, open_at, rename_new, stat_at, unlink_at};

/// The prefix of the files with which the layers' folder is probed.
const PREFIX: &[u8] = b"probe-";

/// Exchanges an empty file of the layers' folder with one in the workspace, for a moment, and removes both.
///
/// The name in the workspace is one of a temporary file: walks leave it out, and a sweep recognises it after a crash.
pub(crate) fn exchanges(layers: BorrowedFd<'_>, workspace: BorrowedFd<'_>, salt: &str) -> Result<(), Errno> {
    let random = ContentHash::of(salt.as_bytes()).to_string();
    let name = temp_name(&random[..32]);
    let other = [PREFIX, &random.as_bytes()[..32]].concat();
    let result = try_out(layers, workspace, &name, &other);
    // Leftovers are removed by the next probe.
    remove_probe(layers, workspace, &name, &other).ok();
    result
}

/// Removes the leftovers of earlier probes that a crash interrupted.
pub(crate) fn sweep(layers: BorrowedFd<'_>, workspace: BorrowedFd<'_>) -> Result<(), Errno> {
    for probe in names(open_at(layers, b".", FOLDER)?)? {
        let Some(random) = probe.strip_prefix(PREFIX) else { continue };
        match std::str::from_utf8(random) {
            Ok(random) => remove_probe(layers, workspace, &temp_name(random), &probe)?,
            Err(_) => remove_empty_file(layers, &probe)?,
        }
    }
    Ok(())
}

/// Removes the files of a probe.
///
/// The file in `layers` whose name leads to the other two, `other`, is made first and removed last: neither a crash nor a failure
/// leaves a file that no later probe finds.
fn remove_probe(
    layers: BorrowedFd<'_>,
    workspace: BorrowedFd<'_>,
    name: &[u8],
    other: &[u8],
) -> Result<(), Errno> {
    remove_empty_file(workspace, name)?;
    remove_empty_file(layers, name)?;
    remove_empty_file(layers, other)
}

/// Removes a file with this name if it exists and is empty: any other file is not from a probe.
fn remove_empty_file(folder: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
    match stat_at(folder, name)? {
        Some(entry) if entry.kind == Kind::File && entry.size_bytes == 0 => unlink_at(folder, name),
        _ => Ok(()),
    }
}

fn temp_name(random: &str) -> Vec<u8> {
    format!(".agentd-tmp-{random}").into_bytes()
}

fn try_out(layers: impl AsFd, workspace: impl AsFd, name: &[u8], other: &[u8]) -> Result<(), Errno> {
    create_at(&layers, other, 0o600)?;
    create_at(&layers, name, 0o600)?;
    rename_new((&layers, name), (&workspace, name))?;
    exchange((&layers, other), (&workspace, name))
}
