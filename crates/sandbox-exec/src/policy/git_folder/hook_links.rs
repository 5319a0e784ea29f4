//! The links in a folder of hooks.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The most entries of one folder. Ordinary folders have some dozens.
const ENTRY_LIMIT: usize = 100_000;

/// The most links in one folder; they cost more than other entries. The folder of git's own programs has some hundreds.
pub(super) const LINK_LIMIT: usize = 2000;

/// Returns the links in a folder that git may run, sorted, and whether these are all. Other entries do not lead out of
/// the folder, so their number does not count: a command may add examples, which git does not run, to any repository.
pub(super) fn links_in(folder: &Path) -> (Vec<PathBuf>, bool) {
    let Ok(entries) = fs::read_dir(folder) else { return (Vec::new(), true) };
    let (mut links, mut count) = (Vec::new(), 0);
    for entry in entries.flatten() {
        count += 1;
        if count > ENTRY_LIMIT || links.len() > LINK_LIMIT {
            break;
        }
        let is_link = || entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if !entry.file_name().as_bytes().ends_with(b".sample") && is_link() {
            links.push(entry.path());
        }
    }
    let is_complete = count <= ENTRY_LIMIT && links.len() <= LINK_LIMIT;
    links.truncate(LINK_LIMIT);
    links.sort();
    (links, is_complete)
}
