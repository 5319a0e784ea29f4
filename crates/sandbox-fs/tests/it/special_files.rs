//! FIFOs are looked at and never opened: a program that waits at the other end would see the open.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::inotify::WatchFlags;
use rustix::fs::{CWD, FileType, Mode, OFlags};
use sandbox_fs::{ContentHash, Expected, FileKind, FileMode, FsError};

use crate::fixture::{METHODS, Sandbox, path};
use crate::namespace;
use crate::watching::Watch;

fn fifo(path: &Path) -> Watch {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    Watch::of(path, WatchFlags::OPEN)
}

#[test]
fn a_fifo_is_never_opened() {
    for method in METHODS {
        let sandbox = Sandbox::new();
        let opens = fifo(&sandbox.at("p"));
        sandbox.link("l", "p");
        let root = sandbox.root(method);
        let refused = FsError::NotAFile { path: path("p"), kind: FileKind::Fifo };
        for name in ["p", "l"] {
            assert_eq!(root.open_file(&path(name)).unwrap_err(), refused, "{method}");
        }
        assert_eq!(root.sync_file(&path("p")).unwrap_err(), refused);
        let removed = root.remove_file(&path("p"), Some(&ContentHash::of(b"")));
        assert_eq!(removed.unwrap_err(), FsError::Changed { path: path("p") });
        assert_eq!(root.metadata(&path("p")).unwrap().kind, FileKind::Fifo);
        assert_eq!(opens.events(), []);
        // An open for reading that does not wait is seen.
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap();
        OpenOptions::new().read(true).custom_flags(flags).open(sandbox.at("p")).unwrap();
        assert_eq!(opens.events().len(), 1, "an open would have been seen");
    }
}

#[test]
fn a_fifo_that_took_the_name_of_a_file_is_not_opened() {
    let sandbox = Sandbox::new();
    sandbox.file("a", "x");
    let root = sandbox.root(METHODS[0]);
    let staged = root.stage(&path("a"), b"y", FileMode::Keep).unwrap();
    fs::remove_file(sandbox.at("a")).unwrap();
    let opens = fifo(&sandbox.at("a"));
    let error = staged.publish(Expected::Content(ContentHash::of(b"x"))).unwrap_err();
    assert_eq!(error, FsError::Changed { path: path("a") });
    assert_eq!(opens.events(), []);
}

#[test]
fn files_are_opened_without_proc() {
    let sandbox = Sandbox::new();
    namespace::run("special_files::child_without_proc", "mount -t tmpfs none /proc", sandbox.top());
}

#[test]
#[ignore = "runs in a namespace, started by files_are_opened_without_proc"]
fn child_without_proc() {
    let Some(_) = namespace::folder_of_child() else { return };
    assert!(!Path::new("/proc/self").exists());
    for method in METHODS {
        let sandbox = Sandbox::new();
        sandbox.file("d/a", "x");
        sandbox.link("l", "d/a");
        let opens = fifo(&sandbox.at("p"));
        let root = sandbox.root(method);
        assert_eq!(root.open_file(&path("l")).unwrap().read_to_end(9).unwrap(), b"x");
        assert!(matches!(root.open_file(&path("p")), Err(FsError::NotAFile { kind: FileKind::Fifo, .. })));
        assert_eq!(opens.events(), []);
        let staged = root.stage(&path("d/a"), b"y", FileMode::Keep).unwrap();
        staged.publish(Expected::Content(ContentHash::of(b"x"))).unwrap();
        assert_eq!(sandbox.read("d/a"), "y");
    }
}
