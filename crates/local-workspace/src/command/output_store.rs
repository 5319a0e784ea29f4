//! Whole outputs of commands, kept for a while and read as `@output/…`.

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::SystemTime;

use change_journal::RunNumber;
use rel_path::RelPath;
use rustix::fs::{AtFlags, Mode, OFlags};
use sandbox_fs::{FileKind, FileRoot, FsPolicy, OpenFile, WalkEntry};
use wap_core::{OUTPUT_PREFIX, Reason, WapError};

use crate::errors::fs_read_error;

/// The maximum number of bytes kept of one output.
pub(crate) const OUTPUT_LIMIT_BYTES: u64 = 64 << 20;

/// The limit on the bytes of all outputs; the oldest are removed first.
const STORE_LIMIT_BYTES: u64 = 512 << 20;

/// The folder of whole outputs.
#[derive(Debug)]
pub(crate) struct OutputStore {
    folder: FileRoot,
    limit_bytes: u64,
}

impl OutputStore {
    /// Opens the folder, creating it if its parent exists. A symlink to it is not followed: it might come
    /// with the workspace and point anywhere.
    pub(crate) fn open(folder: &Path) -> io::Result<OutputStore> {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::open(folder, flags, Mode::empty())?;
        let root = FileRoot::from_handle(handle, FsPolicy::private()).map_err(io::Error::other)?;
        Ok(OutputStore { folder: root, limit_bytes: STORE_LIMIT_BYTES })
    }

    /// Makes the file of a new output, replacing one of the same name from a run that was never recorded.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file: OwnedFd =
            rustix::fs::openat(self.folder.handle(), name, flags, Mode::from_raw_mode(0o600))?;
        Ok(File::from(file))
    }

    /// Moves an output of this name here from another store, if it exists.
    pub(crate) fn take(&self, from: &OutputStore, name: &str) -> io::Result<()> {
        let Ok((file, size, _)) = from.read(name) else { return Ok(()) };
        let bytes = file.read_to_end(size).map_err(io::Error::other)?;
        self.create(name)?.write_all(&bytes)
    }

    /// Removes an output that is not needed.
    pub(crate) fn discard(&self, name: &str) {
        let remove = || rustix::fs::unlinkat(self.folder.handle(), name, AtFlags::empty());
        // Retried once on failure; a file that still stays only costs space, until that is needed.
        let _ = remove().or_else(|_| remove());
    }

    /// Removes the oldest outputs until the others fit, `newest` never.
    pub(crate) fn make_room(&self, newest: &str) {
        // What cannot be looked at or removed now can be the next time.
        let Ok(mut outputs) = self.folder.list(&RelPath::root()) else { return };
        let size = |entry: &WalkEntry| entry.metadata.map_or(0, |metadata| metadata.size_bytes);
        let mut total: u64 = outputs.iter().map(size).sum();
        outputs.retain(|entry| {
            let name = entry.path.as_bytes();
            entry.kind == FileKind::File && is_output_name(name) && name != newest.as_bytes()
        });
        outputs.sort_by_key(|entry| entry.metadata.map_or(0, |metadata| metadata.modified_nanoseconds));
        for output in outputs {
            if total <= self.limit_bytes {
                break;
            }
            total -= size(&output);
            let _ = self.folder.remove_file(&output.path, None);
        }
    }

    /// Removes the outputs of runs that are not needed. Returns their number and bytes.
    pub(crate) fn discard_unneeded(&self, is_needed: &dyn Fn(RunNumber) -> bool) -> (u64, u64) {
        // What cannot be looked at or removed now can be the next time.
        let outputs = self.folder.list(&RelPath::root()).unwrap_or_default();
        let (mut count, mut bytes) = (0, 0);
        for output in outputs.iter().filter(|output| output.kind == FileKind::File) {
            let is_old = run_of(output.path.as_bytes()).is_some_and(|run| !is_needed(run));
            if is_old && self.folder.remove_file(&output.path, None).is_ok() {
                count += 1;
                bytes += output.metadata.map_or(0, |metadata| metadata.size_bytes);
            }
        }
        (count, bytes)
    }

    /// Opens an output by the name after the prefix. Also returns its size in bytes and its time.
    pub(crate) fn read(&self, name: &str) -> Result<(OpenFile, u64, SystemTime), WapError> {
        let unknown = || {
            let text = format!("there is no output '{OUTPUT_PREFIX}{name}'; old outputs are removed");
            WapError::new(Reason::FileNotFound, text)
        };
        if !is_output_name(name.as_bytes()) {
            return Err(unknown());
        }
        let path = RelPath::parse(name).map_err(|_| unknown())?;
        match self.folder.open_file(&path) {
            Ok(file) => {
                let (size, modified) = (file.metadata().size_bytes, file.metadata().modified());
                Ok((file, size, modified))
            }
            Err(sandbox_fs::FsError::NotFound { .. }) => Err(unknown()),
            Err(other) => Err(fs_read_error(&other, name)),
        }
    }
}

/// The name of the output of step `step` of run `run`.
pub(crate) fn output_name(run: RunNumber, step: u32) -> String {
    format!("{run}-{step}.txt")
}

/// The run of an output, from its name.
fn run_of(name: &[u8]) -> Option<RunNumber> {
    let run = name.split(|byte| *byte == b'-').next().filter(|_| is_output_name(name))?;
    std::str::from_utf8(run).ok()?.parse().ok().map(RunNumber)
}

/// Checks whether [`output_name`] makes this name. Other files in the folder are neither read nor removed.
fn is_output_name(name: &[u8]) -> bool {
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let Some(name) = name.strip_suffix(b".txt") else { return false };
    let mut numbers = name.split(|byte| *byte == b'-');
    numbers.next().is_some_and(is_number) && numbers.next().is_some_and(is_number) && numbers.next().is_none()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_oldest_outputs_make_room_for_the_newest() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = OutputStore::open(folder.path()).unwrap();
        store.limit_bytes = 25;
        for (second, name) in ["1-0.txt", "2-0.txt", "3-0.txt"].into_iter().enumerate() {
            let mut file = store.create(name).unwrap();
            file.write_all(&[b'x'; 10]).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(second as u64))
                .unwrap();
        }
        store.make_room("1-0.txt");
        assert!(store.read("1-0.txt").is_ok());
        assert_eq!(store.read("2-0.txt").unwrap_err().reason(), Reason::FileNotFound);
        assert!(store.read("3-0.txt").is_ok());
        assert_eq!(store.discard_unneeded(&|run| run == RunNumber(3)), (1, 10));
        assert!(store.read("1-0.txt").is_err() && store.read("3-0.txt").is_ok());
    }

    #[test]
    fn only_outputs_are_read_and_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("1-1.txt"), "x").unwrap();
        let inner = folder.path().join("outputs");
        let store = OutputStore::open(&inner).unwrap();
        for name in ["id_rsa", "1-1", "-1.txt", "1-.txt", "1-1-1.txt", "1-1.txt.txt", "../1-1.txt", ""] {
            std::fs::write(inner.join(name.replace('/', "_")), "x").ok();
            assert_eq!(store.read(name).unwrap_err().reason(), Reason::FileNotFound, "{name}");
        }
        std::os::unix::fs::symlink("../1-1.txt", inner.join("2-2.txt")).unwrap();
        assert!(store.read("2-2.txt").is_err());
        assert!(store.create("2-2.txt").is_err());
        std::os::unix::fs::symlink("outputs", folder.path().join("link")).unwrap();
        assert!(OutputStore::open(&folder.path().join("link")).is_err());
    }
}
