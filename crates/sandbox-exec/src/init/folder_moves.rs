//! Renaming and removing folders on a layer, where the kernel refuses what works on an ordinary file system.
//!
//! An overlay without redirects answers EXDEV to the rename of a folder of the workspace: the folder is recreated here,
//! and its entries are moved. A build folder that is bound through the layer is a mount point, which can be neither
//! renamed nor removed: it is unmounted first, which uncovers the layer's own folder.
//!
//! The supervisor does this for the caller, as the same user and in the same file tree. All other calls are left to the
//! kernel.

use std::ffi::CString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Stat, StatxAttributes, StatxFlags,
    Timestamps, XattrFlags, fchmod, fgetxattr, flistxattr, fsetxattr, fstat, fstatfs, futimens, mkdirat,
    open, openat, openat2, renameat_with, statx, unlinkat,
};
use rustix::io::{Errno, Result};

use crate::init::unmounter::Unmounter;
use crate::sys::Notification;

/// The deepest tree that is moved; for a deeper one the kernel answers EXDEV to the caller.
const DEPTH_LIMIT: u32 = 200;

const PATH_LIMIT: usize = 4096;
const PAGE: u64 = 4096;
const OVERLAY_MAGIC: u64 = 0x794c_7630;

/// The answer to a call.
pub(crate) enum Answer {
    /// The kernel carries the call out.
    LeaveToKernel,
    /// The call is done, or failed.
    Done(Result<()>),
    /// The folder has to be moved, which may take a while.
    Move(FolderMove),
}

/// A call that renames or removes something.
enum FileCall {
    Rename { old: [u64; 2], new: [u64; 2], flags: RenameFlags },
    Remove([u64; 2]),
}

/// Checks whether a call is about renaming or removing.
pub(crate) fn is_file_call(call: &Notification) -> bool {
    FileCall::of(call).is_some()
}

impl FileCall {
    fn of(call: &Notification) -> Option<FileCall> {
        let [a, b, c, d, e, _] = call.arguments;
        #[cfg(target_arch = "x86_64")]
        let here = libc::AT_FDCWD as u64;
        Some(match call.call {
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename => {
                FileCall::Rename { old: [here, a], new: [here, b], flags: RenameFlags::empty() }
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rmdir => FileCall::Remove([here, a]),
            #[cfg(not(target_arch = "riscv64"))]
            libc::SYS_renameat => FileCall::Rename { old: [a, b], new: [c, d], flags: RenameFlags::empty() },
            libc::SYS_renameat2 => {
                FileCall::Rename { old: [a, b], new: [c, d], flags: RenameFlags::from_bits_retain(e as u32) }
            }
            libc::SYS_unlinkat => FileCall::Remove([a, b]),
            _ => return None,
        })
    }
}

/// Answers a call, unless that takes long. Whatever is unclear is left to the kernel, which judges it as the caller's
/// own call.
///
/// `is_waiting` reports whether the caller still waits for the answer.
pub(crate) fn answer(
    call: &Notification,
    is_waiting: impl Fn() -> bool,
    unmounter: Option<&Unmounter>,
) -> Answer {
    // Numbers of ended threads are reused: the result is the caller's only if it still waits.
    let find = |at| {
        let entry = Entry::of_caller(call.thread, at)?;
        if is_waiting() { Ok(entry) } else { Err(Errno::INTR) }
    };
    let answered = match FileCall::of(call) {
        Some(FileCall::Rename { old, new, flags }) => rename(&find, [old, new], flags, unmounter),
        Some(FileCall::Remove(at)) => remove(&find, at, unmounter),
        None => Ok(Answer::LeaveToKernel),
    };
    answered.unwrap_or(Answer::LeaveToKernel)
}

type Find<'a> = &'a dyn Fn([u64; 2]) -> Result<Entry>;

fn remove(find: Find<'_>, at: [u64; 2], unmounter: Option<&Unmounter>) -> Result<Answer> {
    let Some(unmounter) = unmounter else { return Ok(Answer::LeaveToKernel) };
    unmount_if_empty(&find(at)?, unmounter)?;
    Ok(Answer::LeaveToKernel)
}

fn rename(
    find: Find<'_>,
    [old, new]: [[u64; 2]; 2],
    flags: RenameFlags,
    unmounter: Option<&Unmounter>,
) -> Result<Answer> {
    if !RenameFlags::NOREPLACE.contains(flags) {
        return Ok(Answer::LeaveToKernel);
    }
    let old = find(old)?;
    let status = old.status()?;
    if !status.is_folder || fstatfs(&old.parent)?.f_type as u64 != OVERLAY_MAGIC {
        return Ok(Answer::LeaveToKernel);
    }
    let new = find(new)?;
    if mount_of(&old.parent)? != mount_of(&new.parent)? {
        return Ok(Answer::LeaveToKernel);
    }
    if let Some(unmounter) = unmounter {
        if status.is_mount_root {
            unmounter.unmount(status.mount)?;
        }
        if new.status().is_ok() {
            unmount_if_empty(&new, unmounter)?;
        }
    }
    Ok(match renameat_with(&old.parent, &old.name, &new.parent, &new.name, flags) {
        Err(Errno::XDEV) => Answer::Move(FolderMove { old, new, flags }),
        done => Answer::Done(done),
    })
}

/// Unmounts an empty build folder; the layer's own folder is under the mount.
fn unmount_if_empty(entry: &Entry, unmounter: &Unmounter) -> Result<()> {
    let status = entry.status()?;
    if !status.is_mount_root {
        return Ok(());
    }
    if is_empty(&entry.open()?)? { unmounter.unmount(status.mount) } else { Ok(()) }
}

/// One name in a folder.
pub(crate) struct Entry {
    parent: OwnedFd,
    name: CString,
}

struct Status {
    is_folder: bool,
    is_mount_root: bool,
    mount: u64,
}

impl Entry {
    /// Resolves a descriptor and a path in the caller's memory as the caller would.
    fn of_caller(thread: u32, [descriptor, at]: [u64; 2]) -> Result<Entry> {
        let path = read_path(thread, at)?;
        let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last + 1);
        let path = &path[..end];
        let split = path.iter().rposition(|byte| *byte == b'/');
        let (parent, name) = match split {
            Some(0) => (&path[..1], &path[1..]),
            Some(at) => (&path[..at], &path[at + 1..]),
            None => (&b"."[..], path),
        };
        if name.is_empty() || name == b"." || name == b".." {
            return Err(Errno::INVAL);
        }
        // The kernel reads the lower half of numbers.
        let base = match descriptor as u32 as i32 {
            libc::AT_FDCWD => format!("/proc/{thread}/cwd"),
            number => format!("/proc/{thread}/fd/{number}"),
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let base = open(base, flags, Mode::empty())?;
        // Magic links of `/proc` would lead to this process's own files.
        let parent = openat2(base, parent, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS)?;
        Ok(Entry { parent, name: CString::new(name).map_err(|_| Errno::INVAL)? })
    }

    fn status(&self) -> Result<Status> {
        let wanted = StatxFlags::TYPE | StatxFlags::MNT_ID;
        let status = statx(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW, wanted)?;
        Ok(Status {
            is_folder: FileType::from_raw_mode(status.stx_mode.into()) == FileType::Directory,
            is_mount_root: status.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
            mount: status.stx_mnt_id,
        })
    }

    /// Opens a folder to read it.
    fn open(&self) -> Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.parent, &self.name, flags, Mode::empty())
    }
}

/// A folder on a layer that is renamed by recreating it.
pub(crate) struct FolderMove {
    old: Entry,
    new: Entry,
    flags: RenameFlags,
}

impl FolderMove {
    /// Moves the folder, or leaves everything as it was.
    pub(crate) fn run(&self, unmounter: Option<&Unmounter>) -> Result<()> {
        if !self.flags.contains(RenameFlags::NOREPLACE) && self.new.status().is_ok() {
            // A folder can only replace an empty folder.
            unlinkat(&self.new.parent, &self.new.name, AtFlags::REMOVEDIR)?;
        }
        move_folder(&self.old, &self.new, unmounter, 0)
    }
}

fn move_folder(old: &Entry, new: &Entry, unmounter: Option<&Unmounter>, depth: u32) -> Result<()> {
    if depth > DEPTH_LIMIT {
        return Err(Errno::XDEV);
    }
    let source = old.open()?;
    // Moving the folder's entries changes its times.
    let status = fstat(&source)?;
    mkdirat(&new.parent, &new.name, Mode::RWXU)?;
    let target = new.open()?;
    let mut moved = Vec::new();
    let done = names(&source)?.into_iter().try_for_each(|name| {
        move_entry(&source, &target, &name, unmounter, depth)?;
        moved.push(name);
        Ok(())
    });
    let done = done.and_then(|()| copy_attributes(&source, &status, &target));
    let done = done.and_then(|()| unlinkat(&old.parent, &old.name, AtFlags::REMOVEDIR));
    if done.is_err() {
        // Best effort: what cannot be moved back stays under the new name, and nothing is lost.
        for name in moved.iter().rev() {
            let _ = move_entry(&target, &source, name, unmounter, depth);
        }
        let _ = unlinkat(&new.parent, &new.name, AtFlags::REMOVEDIR);
    }
    done
}

fn move_entry(
    source: &OwnedFd,
    target: &OwnedFd,
    name: &CString,
    unmounter: Option<&Unmounter>,
    depth: u32,
) -> Result<()> {
    let entry = |folder: &OwnedFd| -> Result<Entry> {
        let parent = rustix::io::fcntl_dupfd_cloexec(folder, 3)?;
        Ok(Entry { parent, name: name.clone() })
    };
    let done = renameat_with(source, name, target, name, RenameFlags::NOREPLACE);
    match (done, unmounter) {
        (Err(Errno::XDEV), _) => move_folder(&entry(source)?, &entry(target)?, unmounter, depth + 1),
        (Err(Errno::BUSY), Some(unmounter)) => {
            // A build folder within the moved one.
            let (old, new) = (entry(source)?, entry(target)?);
            unmounter.unmount(old.status()?.mount)?;
            move_folder(&old, &new, Some(unmounter), depth + 1)
        }
        (done, _) => done,
    }
}

/// Copies permissions, times and attributes from one folder to another.
fn copy_attributes(from: &OwnedFd, status: &Stat, to: &OwnedFd) -> Result<()> {
    let mut list = vec![0_u8; 1 << 16];
    let length = flistxattr(from, list.as_mut_slice()).unwrap_or(0);
    for name in list[..length].split(|byte| *byte == 0).filter(|name| name.starts_with(b"user.")) {
        let mut value = vec![0_u8; 1 << 16];
        let length = fgetxattr(from, name, value.as_mut_slice())?;
        fsetxattr(to, name, &value[..length], XattrFlags::empty())?;
    }
    let inherited = fstat(to)?.st_mode & 0o2000;
    fchmod(to, Mode::from_raw_mode(status.st_mode & 0o1777 | inherited))?;
    let time = |seconds, nanoseconds: u64| rustix::time::Timespec {
        tv_sec: seconds,
        tv_nsec: nanoseconds.try_into().unwrap_or_default(),
    };
    let times = Timestamps {
        last_access: time(status.st_atime, status.st_atime_nsec),
        last_modification: time(status.st_mtime, status.st_mtime_nsec),
    };
    futimens(to, &times)
}

fn is_empty(folder: &OwnedFd) -> Result<bool> {
    let mut others = Dir::read_from(folder)?.filter(|entry| {
        !entry.as_ref().is_ok_and(|entry| matches!(entry.file_name().to_bytes(), b"." | b".."))
    });
    others.next().transpose().map(|other| other.is_none())
}

fn names(folder: &OwnedFd) -> Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

fn mount_of(folder: &OwnedFd) -> Result<u64> {
    Ok(statx(folder, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?.stx_mnt_id)
}

/// Reads a path from the caller's memory, page by page: the next one may not be there.
fn read_path(thread: u32, at: u64) -> Result<Vec<u8>> {
    let memory = File::open(format!("/proc/{thread}/mem")).map_err(|_| Errno::PERM)?;
    let (mut path, mut at) = (Vec::new(), at);
    while path.len() < PATH_LIMIT {
        let mut part = vec![0; usize::try_from(PAGE - at % PAGE).map_err(|_| Errno::INVAL)?];
        memory.read_exact_at(&mut part, at).map_err(|_| Errno::FAULT)?;
        if let Some(end) = part.iter().position(|byte| *byte == 0) {
            path.extend_from_slice(&part[..end]);
            return Ok(path);
        }
        at += part.len() as u64;
        path.append(&mut part);
    }
    Err(Errno::NAMETOOLONG)
}
