//! Writes responses into the folder.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Mode, OFlags, Timespec, Timestamps};

use super::{DroppedRequest, RequestFolder};

/// The name under which a response is written before it is renamed.
const UNFINISHED: &str = ".agentd-response.tmp";

impl RequestFolder {
    /// Writes the response to a file and replaces an older one: a temporary file is synced, then renamed. The response has the
    /// read permissions and the modification time of the request.
    ///
    /// # Errors
    ///
    /// Those of the system, and [`io::ErrorKind::InvalidFilename`] if the response cannot have a name.
    pub fn respond(&self, dropped: &DroppedRequest, text: &str) -> io::Result<()> {
        let file = &dropped.file;
        let response = dropped.response.as_ref().ok_or(io::ErrorKind::InvalidFilename)?;
        self.remove_unfinished()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode((file.mode & 0o666) | 0o600);
        let handle = self.root.handle();
        // The name only appears with the rename, so readers of the folder never see a partial response.
        let written = (|| {
            let mut open = File::from(rustix::fs::openat(handle, UNFINISHED, flags, mode)?);
            open.write_all(text.as_bytes())?;
            open.sync_data()?;
            let time = timespec(file.stamp.modified_nanoseconds);
            let times = Timestamps { last_access: time, last_modification: time };
            rustix::fs::futimens(&open, &times)?;
            rustix::fs::renameat(handle, UNFINISHED, handle, OsStr::from_bytes(response.as_bytes()))?;
            Ok(())
        })();
        if written.is_err() {
            let _ = self.remove_unfinished();
        }
        written
    }

    /// Removes the temporary file of a killed process.
    pub(super) fn remove_unfinished(&self) -> io::Result<()> {
        match rustix::fs::unlinkat(self.root.handle(), UNFINISHED, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn timespec(nanoseconds: i128) -> Timespec {
    let seconds = nanoseconds.div_euclid(1_000_000_000);
    Timespec {
        tv_sec: i64::try_from(seconds).unwrap_or(0),
        tv_nsec: i64::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap_or(0),
    }
}
