//! The files in a server's folder. They may have come with a repository, in which a link could lead to any other file, and a
//! pipe would never open.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Opens a regular file, and nothing else. `flags` says for what, and whether it is made.
///
/// # Errors
///
/// Those of opening it; [`io::ErrorKind::InvalidInput`] if it is not a regular file.
pub(super) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::LOOP) => return Err(not_a_file()),
        Err(errno) => return Err(errno.into()),
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_a_file()) }
}

/// Replaces a file by one that only this user can read.
///
/// # Errors
///
/// Those of writing it.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_extension("new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(text.as_bytes())?;
    // A key that is empty after a loss of power would have to be removed by hand.
    file.sync_all()?;
    fs::rename(&new, path)
}

/// Checks whether a key is known to its owner alone. A key that others can read may have come with a repository, and its writer
/// would have the key.
///
/// # Errors
///
/// Those of opening it; [`io::ErrorKind::PermissionDenied`] if others can read it.
pub(super) fn check_secret(path: &Path) -> io::Result<()> {
    let mode = open(path, OFlags::RDONLY)?.metadata()?.mode();
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let text = "others can read it: if it is yours, close it with `chmod 600`, else remove it";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
}

fn not_a_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file; remove it")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use rustix::fs::{CWD, FileType, mknodat};

    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("precious"), "precious").unwrap();
        symlink("precious", path("link")).unwrap();
        symlink("nothing", path("loose")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        mknodat(CWD, path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for name in ["link", "loose", "folder", "pipe"] {
            for flags in [OFlags::RDONLY, OFlags::RDWR | OFlags::CREATE] {
                assert!(open(&path(name), flags).is_err(), "{name}");
            }
        }
        assert!(!path("nothing").exists());
        open(&path("precious"), OFlags::RDWR | OFlags::CREATE).unwrap();
        open(&path("new"), OFlags::RDWR | OFlags::CREATE).unwrap();
        assert_eq!(fs::read_to_string(path("precious")).unwrap(), "precious");
        let missing = open(&path("missing"), OFlags::RDONLY).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_link_in_the_way_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("precious"), "precious").unwrap();
        symlink("precious", path("server.new")).unwrap();
        symlink("precious", path("server.conf")).unwrap();
        for text in ["one", "two"] {
            replace(&path("server.conf"), text).unwrap();
            assert_eq!(fs::read_to_string(path("server.conf")).unwrap(), text);
        }
        assert_eq!(fs::read_to_string(path("precious")).unwrap(), "precious");
        assert_eq!(fs::metadata(path("server.conf")).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_key_that_others_can_read_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("home.seed");
        fs::write(&key, "seed").unwrap();
        for (mode, is_secret) in
            [(0o600, true), (0o400, true), (0o644, false), (0o640, false), (0o604, false)]
        {
            fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(check_secret(&key).is_ok(), is_secret, "{mode:o}");
        }
    }
}
