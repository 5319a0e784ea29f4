//! An agent's log on disk: bounded, by rotation.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The most bytes of a file before the next one is begun.
const FILE_LIMIT_BYTES: u64 = 4 << 20;

/// The number of earlier files that are kept.
const KEPT_FILES: u32 = 2;

/// The log of an agent: the newest lines in one file, earlier ones in `.1` and `.2`; still earlier ones are deleted.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    file: Option<File>,
    written_bytes: u64,
    failure: Option<io::ErrorKind>,
}

impl LogFile {
    /// Starts an empty log.
    pub(crate) fn create(path: &Path) -> io::Result<LogFile> {
        // Rotated files of an earlier run would read as the start of this log.
        for number in 1..=KEPT_FILES {
            remove(&older(path, number))?;
        }
        Ok(LogFile { path: path.to_owned(), file: Some(begin(path)?), written_bytes: 0, failure: None })
    }

    /// Adds a line. A failure is kept for [`failure`](Self::failure) instead of returned: a full disk must not end an agent.
    pub(crate) fn add(&mut self, line: &str) {
        if let Err(error) = self.try_add(line) {
            self.failure = Some(error.kind());
        }
    }

    /// Returns the last error by which lines are missing, if any.
    pub(crate) fn failure(&self) -> Option<io::ErrorKind> {
        self.failure
    }

    fn try_add(&mut self, line: &str) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        if self.written_bytes + bytes.len() as u64 > FILE_LIMIT_BYTES {
            // The handle is about to be the rotated file's. `None` makes the next line open a new file, also after a failure.
            self.file = None;
            // From the oldest, so that no rename replaces a file that is still to be moved.
            for number in (1..KEPT_FILES).rev() {
                rename(&older(&self.path, number), &older(&self.path, number + 1))?;
            }
            rename(&self.path, &older(&self.path, 1))?;
            self.written_bytes = 0;
        }
        if self.file.is_none() {
            self.file = Some(begin(&self.path)?);
        }
        let file = self.file.as_mut().expect("it was opened just now");
        file.write_all(&bytes)?;
        self.written_bytes += bytes.len() as u64;
        Ok(())
    }
}

/// Returns the files of a log that exist, oldest first.
pub(crate) fn files(path: &Path) -> Vec<PathBuf> {
    let older = (1..=KEPT_FILES).rev().map(|number| older(path, number));
    older.chain([path.to_owned()]).filter(|path| path.is_file()).collect()
}

fn begin(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

fn older(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
