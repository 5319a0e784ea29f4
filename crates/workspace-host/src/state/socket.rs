//! The socket in the state folder, at a path of any length, and the check of the user at the other end.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The socket's name in the state folder.
const NAME: &str = "agentd.sock";

/// A path to the folder that is short enough for the address of a socket, which holds about a hundred bytes.
struct ShortPath {
    /// The open folder, which keeps the path valid.
    _folder: File,
    path: PathBuf,
}

impl ShortPath {
    fn of(folder: &Path) -> io::Result<ShortPath> {
        // The path through the descriptor is short, however long that of the folder is.
        let folder = File::open(folder)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
        Ok(ShortPath { _folder: folder, path })
    }
}

/// The identity of a socket that this process listens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketFile {
    device: u64,
    inode: u64,
}

impl SocketFile {
    fn at(path: &Path) -> io::Result<SocketFile> {
        let metadata = fs::symlink_metadata(path)?;
        Ok(SocketFile { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// Listens in a state folder, instead of any earlier process. Only the owner of the state folder may.
pub fn listen(state_folder: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let folder = ShortPath::of(state_folder)?;
    // Renamed when it is ready: between bind(2) and chmod(2) it would be open to other users under its name.
    let unfinished = folder.path.join("agentd.sock.new");
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&unfinished)?;
    fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o600))?;
    let socket = SocketFile::at(&unfinished)?;
    fs::rename(&unfinished, folder.path.join(NAME))?;
    Ok((listener, socket))
}

/// Connects to the process that listens in a state folder.
pub fn connect(state_folder: &Path) -> io::Result<UnixStream> {
    let folder = ShortPath::of(state_folder)?;
    let stream = UnixStream::connect(folder.path.join(NAME))?;
    check_peer(&stream)?;
    Ok(stream)
}

/// Removes the name, so that no client finds a socket without a listener. The socket of another process stays: a user may have
/// removed the state folder, and another process may own a new one at its path.
pub fn remove(state_folder: &Path, socket: SocketFile) {
    let name = state_folder.join(NAME);
    if SocketFile::at(&name).is_ok_and(|other| other == socket) {
        let _ = fs::remove_file(name);
    }
}

/// Refuses processes of users other than this one and the superuser, whatever the folder's permissions are.
pub fn check_peer(stream: &UnixStream) -> io::Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(stream.as_fd())?;
    if peer.uid.is_root() || peer.uid == rustix::process::geteuid() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "the other end belongs to another user"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_socket_of_this_process_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (_first, own) = listen(folder.path()).unwrap();
        // The owner of a new state folder at the same path.
        let (_second, other) = listen(folder.path()).unwrap();
        remove(folder.path(), own);
        assert!(connect(folder.path()).is_ok());
        remove(folder.path(), other);
        assert!(connect(folder.path()).is_err(), "the control");
    }
}
