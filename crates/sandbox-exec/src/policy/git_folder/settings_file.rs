//! Reading a file that git reads.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Returns at most the first `most` bytes of a file; empty if it is not a regular file or, like for git, unreadable.
pub(super) fn read(file: &Path, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A pipe, which may replace the file at any moment, would block: open without blocking, then check the open file.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    if let Ok(opened) = OpenOptions::new().read(true).custom_flags(flags).open(file)
        && opened.metadata().is_ok_and(|metadata| metadata.is_file())
    {
        let _ = opened.take(most).read_to_end(&mut bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::read;

    #[test]
    fn a_pipe_is_not_waited_for_and_a_file_is_read_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, file) = (folder.path().join("pipe"), folder.path().join("file"));
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        std::fs::write(&file, "[core]\n").unwrap();
        assert_eq!((read(&pipe, 9), read(folder.path(), 9)), (Vec::new(), Vec::new()));
        assert_eq!((read(&file, 9), read(&file, 3)), (b"[core]\n".to_vec(), b"[co".to_vec()));
    }
}
