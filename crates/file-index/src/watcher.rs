//! The kernel's notices about changes in folders.
//!
//! A watch is set on an open folder, not on a name. The kernel queues a notice before the system call that
//! caused it returns, so reading the queue to its end yields every change made before.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use sandbox_fs::{FileRoot, OpenFolder};

use crate::tree::FolderNumber;

/// The most notices that one call takes.
const MOST_NOTICES: usize = 100_000;

/// A possible change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// An entry appeared, disappeared or was replaced.
    Entry(FolderNumber, Box<[u8]>),
    /// The content or the permissions of a file changed.
    Content(FolderNumber, Box<[u8]>),
    /// The permissions of a subfolder changed.
    Rights(FolderNumber, Box<[u8]>),
    /// The folder is not watched any more.
    Unwatched(FolderNumber),
    /// Notices were lost: anything may have changed.
    Lost,
}

/// The watches on folders, and the queue of their notices.
#[derive(Debug)]
pub(crate) struct Watcher {
    queue: OwnedFd,
    folders: HashMap<i32, FolderNumber>,
    mounts: Mounts,
}

impl Watcher {
    pub(crate) fn new(root: &FileRoot) -> io::Result<Watcher> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Watcher { queue, folders: HashMap::new(), mounts: Mounts::new(root)? })
    }

    /// Returns the queue, for polling.
    pub(crate) fn queue(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }

    /// Watches a folder from now on. Returns the number of the watch, and the folder that had it before.
    pub(crate) fn watch(
        &mut self,
        open: &OpenFolder,
        number: FolderNumber,
    ) -> io::Result<(i32, Option<FolderNumber>)> {
        // The path goes through the handle, so that the watch is on this folder whatever its name means now.
        let path = format!("/proc/self/fd/{}", open.as_fd().as_raw_fd());
        let wanted = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB
            | WatchFlags::DELETE_SELF
            | WatchFlags::ONLYDIR;
        let watch = inotify::add_watch(&self.queue, path.as_str(), wanted)?;
        let before = self.folders.insert(watch, number).filter(|before| *before != number);
        Ok((watch, before))
    }

    /// Stops watching the folder `number`, if the watch is still its own.
    pub(crate) fn forget(&mut self, watch: i32, number: FolderNumber) {
        if self.folders.get(&watch) == Some(&number) {
            self.folders.remove(&watch);
            // This fails if the folder is gone, and the watch with it.
            let _ = inotify::remove_watch(&self.queue, watch);
        }
    }

    /// Takes all notices queued so far.
    pub(crate) fn take(&mut self) -> Vec<Notice> {
        let mut notices = Vec::new();
        if self.mounts.have_changed() {
            notices.push(Notice::Lost);
        }
        let mut buffer = [MaybeUninit::<u8>::uninit(); 16 << 10];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    notices.push(Notice::Lost);
                    break;
                }
            };
            let what = event.events();
            if what.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
                notices.push(Notice::Lost);
                continue;
            }
            // Notices of a removed watch may still be queued.
            let Some(folder) = self.folders.get(&event.wd()).copied() else { continue };
            if what.contains(ReadFlags::IGNORED) {
                self.folders.remove(&event.wd());
                notices.push(Notice::Unwatched(folder));
                continue;
            }
            let Some(name) = event.file_name().map(|name| Box::from(name.to_bytes())) else {
                // Changes to a folder itself are reported by its parent. The root has none.
                if folder == crate::tree::ROOT && what.contains(ReadFlags::ATTRIB) {
                    notices.push(Notice::Lost);
                }
                continue;
            };
            let comes_or_goes =
                ReadFlags::CREATE | ReadFlags::DELETE | ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO;
            let notice = if what.intersects(comes_or_goes) {
                Notice::Entry(folder, name)
            } else if what.contains(ReadFlags::ISDIR) {
                Notice::Rights(folder, name)
            } else {
                Notice::Content(folder, name)
            };
            // A program that writes in small pieces causes the same notice many times.
            if notices.last() != Some(&notice) {
                notices.push(notice);
            }
            if notices.len() >= MOST_NOTICES {
                notices.push(Notice::Lost);
                break;
            }
        }
        notices
    }
}

/// The mounts below the root, which the watches do not cover.
#[derive(Debug)]
struct Mounts {
    table: File,
    root: OwnedFd,
    last_digest: u64,
}

impl Mounts {
    fn new(root: &FileRoot) -> io::Result<Mounts> {
        let mut mounts = Mounts {
            table: File::open("/proc/self/mountinfo")?,
            root: root.handle().try_clone_to_owned()?,
            last_digest: 0,
        };
        mounts.last_digest = mounts.digest()?;
        Ok(mounts)
    }

    fn have_changed(&mut self) -> bool {
        let mut polled = [PollFd::new(&self.table, PollFlags::PRI | PollFlags::ERR)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        // The kernel marks the open table after a change of mounts; reading it is only needed then.
        match rustix::event::poll(&mut polled, Some(&now)) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(_) => return true,
        }
        let before = self.last_digest;
        match self.digest() {
            Ok(digest) => self.last_digest = digest,
            Err(_) => return true,
        }
        self.last_digest != before
    }

    /// Condenses all mounts below the root into one number.
    fn digest(&self) -> io::Result<u64> {
        let root = std::fs::read_link(format!("/proc/self/fd/{}", self.root.as_raw_fd()))?;
        let mut prefix = Vec::new();
        for byte in root.as_os_str().as_bytes() {
            match byte {
                // The kernel escapes these bytes in the table, so the root's path has to be escaped alike.
                b' ' | b'\t' | b'\n' | b'\\' => prefix.extend(format!("\\{byte:03o}").bytes()),
                other => prefix.push(*other),
            }
        }
        prefix.push(b'/');
        let table = std::fs::read("/proc/self/mountinfo")?;
        let mut digest = DefaultHasher::new();
        for line in table.split(|byte| *byte == b'\n') {
            let mount_point = line.split(|byte| *byte == b' ').nth(4).unwrap_or_default();
            if mount_point.starts_with(&prefix) {
                line.hash(&mut digest);
            }
        }
        Ok(digest.finish())
    }
}

/// Returns whether the kernel reports every change on the root's file system. On one that other machines can
/// change, it does not.
pub(crate) fn reports_all_changes(root: &FileRoot) -> bool {
    // ext2 to ext4, XFS, Btrfs, tmpfs, F2FS, overlays, bcachefs, ZFS, ramfs, JFS.
    const LOCAL: [u64; 10] = [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0x0102_1994,
        0xf2f5_2010,
        0x794c_7630,
        0xca45_1a4e,
        0x2fc1_2fc1,
        0x8584_58f6,
        0x3153_464a,
    ];
    rustix::fs::fstatfs(root).is_ok_and(|stat| LOCAL.contains(&(stat.f_type as u64 & 0xffff_ffff)))
}
