//! The command's own file tree: built in a memory file system from the launcher's list, then entered for good.
//!
//! Everything is opened relative to descriptors: sources to the old root, targets to the new root. No link is ever
//! followed inside either, so the contents of a workspace cannot redirect a mount.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatVfsMountFlags, StatxAttributes, StatxFlags,
    fchmod, fstat, fstatvfs, mkdirat, openat, openat2, statx, symlinkat, unlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount, open_tree,
    unmount,
};

use crate::init::mount_entry::{Access, MountEntry};
use crate::init::own_ids::OwnIds;
use crate::init::step::{AtStep, Step, StepError};
use crate::init::{home_mount, layer_mount, proc_mount};
use crate::sys::{MountAttributes, make_mount_writable, set_mount_attributes};

/// The root itself holds only folders and a few small files.
const ROOT_SIZE_BYTES: u64 = 4 << 20;

/// The empty folder and the empty file that cover hidden ones.
const EMPTY_FOLDER: &str = ".hidden/folder";

/// The only file of that folder, which makes git skip it: without an ignored file, `git stash --include-untracked`
/// and `git clean -d` would try to remove the folder, and fail.
const EMPTY_FOLDER_IGNORE: &str = ".hidden/folder/.gitignore";
const EMPTY_FILE: &str = ".hidden/file";

/// The temporary path of a file while it is mounted over another one.
const MASK: &str = ".hidden/mask";

/// The path of a layer's own folders, if the command does not see them.
const LAYER: &str = ".hidden/layer";

/// The root under construction.
pub(crate) struct NewRoot {
    root: OwnedFd,
    has_own_users: bool,
    own_ids: Option<OwnIds>,
    /// Folders that show through a layer, each with its mount.
    uncovered: RefCell<Vec<(PathBuf, OwnedFd)>>,
}

impl NewRoot {
    /// Begins the new root with these entries. The old one is still this process's root until [`NewRoot::enter`].
    ///
    /// `has_own_users` says that this process is in a user namespace made for the command, `own_ids` that the command will
    /// be a user of its own.
    pub(crate) fn begin(
        entries: &[MountEntry],
        has_own_users: bool,
        own_ids: Option<OwnIds>,
    ) -> Result<NewRoot, StepError> {
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
            .at(Step::PrivateMounts)?;
        let new_root = NewRoot::create(has_own_users, own_ids).at(Step::Root)?;
        entries.iter().try_for_each(|entry| new_root.make(entry))?;
        Ok(new_root)
    }

    /// Makes the remaining entries. Once the root was entered, they must not need the old one.
    ///
    /// Returns the mounts of folders that show through a layer and may be unmounted while the command runs. `begun` are
    /// the entries that were passed to [`begin`](Self::begin).
    pub(crate) fn finish(
        &self,
        begun: &[MountEntry],
        entries: &[MountEntry],
    ) -> Result<Vec<OwnedFd>, StepError> {
        entries.iter().try_for_each(|entry| self.make(entry))?;
        // A hidden or protected path in a folder is a mount within its mount, and would be unmounted with it.
        let holds_a_mount = |folder: &Path| {
            let is_within = |target: &Path| target != folder && target.starts_with(folder);
            begun.iter().chain(entries).any(|entry| entry.mount_points().any(is_within))
        };
        let removable = self.uncovered.take().into_iter().filter(|(folder, _)| !holds_a_mount(folder));
        Ok(removable.map(|(_, mount)| mount).collect())
    }

    fn create(has_own_users: bool, own_ids: Option<OwnIds>) -> rustix::io::Result<NewRoot> {
        let root = memory_file_system(ROOT_SIZE_BYTES, 0o755)?;
        // Mounted over the old root it is out of the way: absolute paths still resolve in the old tree.
        attach(&root, CWD.as_fd(), Path::new("/"))?;
        let new_root = NewRoot { root, has_own_users, own_ids, uncovered: RefCell::default() };
        // Readable, so that `grep -r`, `find`, `tar` and `cp -r` do not fail on it; it shows nothing of the covered folder
        // and is read-only.
        new_root.make_folder(Path::new(EMPTY_FOLDER), 0o755)?;
        new_root.make_file(Path::new(EMPTY_FOLDER_IGNORE), b"*\n", 0o444)?;
        new_root.make_file(Path::new(EMPTY_FILE), b"", 0o000)?;
        Ok(new_root)
    }

    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.root
    }

    pub(crate) fn has_own_users(&self) -> bool {
        self.has_own_users
    }

    fn make(&self, entry: &MountEntry) -> Result<(), StepError> {
        match entry {
            MountEntry::Directory { target, mode } => self.make_folder(inside(target), *mode).at(Step::Root),
            MountEntry::Symlink { target, to } => self.make_link(inside(target), to).at(Step::Root),
            MountEntry::File { target, contents, mode } => {
                self.make_file(inside(target), contents, *mode).at(Step::Root)
            }
            MountEntry::Bind { source, target, access } => self.bind(source, inside(target), *access),
            MountEntry::Layer { target, upper, work, uncovered, mounts } => {
                self.mount_layer(target, [upper, work], [uncovered, mounts]).at(Step::Layer)
            }
            MountEntry::Tmpfs { target, size_bytes, mode } => {
                self.make_folder(inside(target), 0o755).at(Step::Tmpfs)?;
                let mount = memory_file_system(*size_bytes, *mode).at(Step::Tmpfs)?;
                self.attach(&mount, inside(target)).at(Step::Tmpfs)
            }
            MountEntry::Proc { process_limit } => proc_mount::mount(self, *process_limit),
            MountEntry::Terminals => self.mount_terminals().at(Step::Devices),
            MountEntry::Pin { target } => self.rebind(inside(target), false).at(Step::Protect),
            MountEntry::Protect { target } => self.rebind(inside(target), true).at(Step::Protect),
            MountEntry::Cover { target } => self.cover(inside(target)).at(Step::Protect),
            MountEntry::Mask { target, contents } => self.mask(inside(target), contents).at(Step::Protect),
            MountEntry::Show { target, from, read_only } => {
                home_mount::show(self, inside(from), inside(target), *read_only).at(Step::Home)
            }
            MountEntry::Overlay { target, lowers, upper, work } => {
                home_mount::overlay(self, inside(target), lowers, [upper, work]).at(Step::Home)
            }
            MountEntry::Detach { target } => home_mount::detach(self, inside(target)).at(Step::Home),
            MountEntry::Seal { target } => {
                let mount = self.open(inside(target)).at(Step::Protect)?;
                set_mount_attributes(mount, MountAttributes::READ_ONLY, false).at(Step::Protect)
            }
            MountEntry::SealInner { target, except } => self.seal_inner(target, except).at(Step::Protect),
        }
    }

    /// Shows a tree of the old root.
    fn bind(&self, source: &Path, target: &Path, access: Access) -> Result<(), StepError> {
        // A command can do without its kept home, so its failure must cost nothing else.
        let [bind, own_ids] = if is_of_home(target) { [Step::Home; 2] } else { [Step::Bind, Step::OwnIds] };
        let source = open_outside(source).at(bind)?;
        let tree = copy_tree(&source).at(bind)?;
        self.map_owners(&tree, access).at(own_ids)?;
        self.attach_bound(&source, &tree, target, access).at(bind)
    }

    /// Maps files of root in a tree to the command's own user.
    fn map_owners(&self, tree: &OwnedFd, access: Access) -> rustix::io::Result<()> {
        let Some(own_ids) = &self.own_ids else { return Ok(()) };
        if matches!(access, Access::System | Access::Device) {
            return Ok(());
        }
        match (own_ids.map_owners(tree), access) {
            // The command can then read less of the tree, never more.
            (Err(Errno::INVAL | Errno::PERM), Access::ReadOnly) => Ok(()),
            (mapped, _) => mapped,
        }
    }

    fn attach_bound(
        &self,
        source: &OwnedFd,
        tree: &OwnedFd,
        target: &Path,
        access: Access,
    ) -> rustix::io::Result<()> {
        if FileType::from_raw_mode(fstat(source)?.st_mode) == FileType::Directory {
            self.make_folder(target, 0o755)?;
        } else {
            self.make_file(target, b"", 0o644)?;
        }
        let attributes = match access {
            Access::ReadOnly | Access::System => {
                MountAttributes::READ_ONLY.and(MountAttributes::NO_SETUID).and(MountAttributes::NO_DEVICES)
            }
            Access::Writable => MountAttributes::NO_SETUID.and(MountAttributes::NO_DEVICES),
            Access::Device => MountAttributes::NO_SETUID,
        };
        set_mount_attributes(tree, attributes, true)?;
        self.attach(tree, target)
    }

    /// Makes the mounts inside the one at the target read-only, except those at `except`.
    ///
    /// The kernel does it for all of them at once, so that none is missed by a stale list or because this process cannot
    /// reach it by its path.
    fn seal_inner(&self, target: &Path, except: &[PathBuf]) -> rustix::io::Result<()> {
        let outer = self.open(inside(target))?;
        // An unreachable mount stays read-only.
        let excepted = except.iter().filter_map(|path| self.open(inside(path)).ok());
        let is_writable = |mount: &OwnedFd| {
            !fstatvfs(mount).is_ok_and(|status| status.f_flag.contains(StatVfsMountFlags::RDONLY))
        };
        let excepted: Vec<OwnedFd> = excepted.filter(is_writable).collect();
        let is_outer_writable = is_writable(&outer);
        set_mount_attributes(&outer, MountAttributes::READ_ONLY, true)?;
        if is_outer_writable {
            make_mount_writable(&outer)?;
        }
        for mount in excepted {
            match make_mount_writable(mount) {
                // Hidden by another mount, which is itself on the list.
                Err(Errno::INVAL) => {}
                made => made?,
            }
        }
        Ok(())
    }

    /// Mounts a layer over the tree that is bound at the target, and shows the uncovered folders of that tree in it.
    ///
    /// Folders are opened in the bound tree, so that nothing of the old root is needed. This comes before any of it is
    /// hidden.
    fn mount_layer(
        &self,
        target: &Path,
        folders: [&PathBuf; 2],
        [uncovered, mounts]: [&[PathBuf]; 2],
    ) -> rustix::io::Result<()> {
        let lower = self.open(inside(target))?;
        let are_outside = folders.iter().any(|folder| !folder.starts_with(target));
        let [upper, work] = self.open_layer(target, folders)?;
        let mut trees = Vec::new();
        for folder in uncovered.iter().chain(mounts) {
            let opened = match self.open(inside(folder)) {
                Err(Errno::NOENT) => continue,
                opened => opened?,
            };
            // A mount that the host has removed since the list was read is an ordinary folder, which belongs to the layer.
            if uncovered.contains(folder) || is_mount(&opened)? {
                trees.push((folder, copy_tree(&opened)?));
            }
        }
        attach(&layer_mount::mount(&lower, &upper, &work)?, lower.as_fd(), Path::new(""))?;
        if are_outside && self.own_ids.is_some() {
            // The layer holds them now, and no other process may.
            rustix::process::fchdir(&self.root)?;
            unmount(LAYER, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)?;
        }
        trees.iter().try_for_each(|(folder, tree)| self.attach(tree, inside(folder)))?;
        let bound = trees.into_iter().filter(|(folder, _)| uncovered.contains(folder));
        self.uncovered.borrow_mut().extend(bound.map(|(folder, tree)| (folder.clone(), tree)));
        Ok(())
    }

    /// Opens a layer's own folders: in the new root, if they are visible there.
    fn open_layer(&self, target: &Path, folders: [&PathBuf; 2]) -> rustix::io::Result<[OwnedFd; 2]> {
        let [upper, work] = folders;
        if folders.iter().all(|folder| folder.starts_with(target)) {
            return Ok([self.open(inside(upper))?, self.open(inside(work))?]);
        }
        let Some(own_ids) = &self.own_ids else { return Ok([open_outside(upper)?, open_outside(work)?]) };
        // Files made in the layer belong to root. Both folders must be on one mount.
        let common = |folder: &&Path| work.starts_with(folder);
        let parent = upper.ancestors().find(common).ok_or(Errno::XDEV)?;
        let tree = copy_tree(&open_outside(parent)?)?;
        own_ids.map_owners(&tree)?;
        self.make_folder(Path::new(LAYER), 0o700)?;
        self.attach(&tree, Path::new(LAYER))?;
        let open = |folder: &Path| {
            self.open(&Path::new(LAYER).join(folder.strip_prefix(parent).unwrap_or(Path::new(""))))
        };
        let opened = [open(upper)?, open(work)?];
        Ok(opened)
    }

    /// Binds something onto itself: a mount point can be neither renamed nor removed.
    pub(crate) fn rebind(&self, target: &Path, read_only: bool) -> rustix::io::Result<()> {
        let mount_point = self.open(target)?;
        let tree = copy_tree(&mount_point)?;
        if read_only {
            set_mount_attributes(&tree, MountAttributes::READ_ONLY, true)?;
        }
        attach(&tree, mount_point.as_fd(), Path::new(""))
    }

    /// Covers a folder by a read-only one that is empty except for a `.gitignore`, and a file by one that cannot be read.
    pub(crate) fn cover(&self, target: &Path) -> rustix::io::Result<()> {
        let mount_point = match self.open(target) {
            Err(Errno::NOENT) => return Ok(()),
            other => other?,
        };
        let is_folder = FileType::from_raw_mode(fstat(&mount_point)?.st_mode) == FileType::Directory;
        let tree = copy_tree(&self.open(Path::new(if is_folder { EMPTY_FOLDER } else { EMPTY_FILE }))?)?;
        set_mount_attributes(&tree, MountAttributes::READ_ONLY, true)?;
        attach(&tree, mount_point.as_fd(), Path::new(""))
    }

    /// Mounts a file of the sandbox's own over an existing one, which becomes unreachable.
    fn mask(&self, target: &Path, contents: &[u8]) -> rustix::io::Result<()> {
        let mount_point = match self.open(target) {
            Err(Errno::NOENT) => return self.make_file(target, contents, 0o444),
            other => other?,
        };
        self.make_file(Path::new(MASK), contents, 0o444)?;
        let tree = copy_tree(&self.open(Path::new(MASK))?)?;
        set_mount_attributes(&tree, MountAttributes::READ_ONLY, true)?;
        attach(&tree, mount_point.as_fd(), Path::new(""))?;
        // The file lives on in its mount.
        unlinkat(&self.root, MASK, AtFlags::empty())
    }

    fn mount_terminals(&self) -> rustix::io::Result<()> {
        let context = fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(&context, "mode", "600")?;
        fsconfig_set_string(&context, "ptmxmode", "666")?;
        fsconfig_create(&context)?;
        let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, no_programs())?;
        self.make_folder(Path::new("dev/pts"), 0o755)?;
        self.attach(&mount, Path::new("dev/pts"))
    }

    /// Attaches a mount at a path in the new root.
    pub(crate) fn attach(&self, mount: &OwnedFd, target: &Path) -> rustix::io::Result<()> {
        attach(mount, self.open(target)?.as_fd(), Path::new(""))
    }

    /// Opens a path in the new root as `O_PATH`, without following links.
    pub(crate) fn open(&self, target: &Path) -> rustix::io::Result<OwnedFd> {
        let target = if target.as_os_str().is_empty() { Path::new(".") } else { target };
        openat2(
            &self.root,
            target,
            OFlags::PATH | OFlags::CLOEXEC,
            Mode::empty(),
            NO_LINKS | ResolveFlags::BENEATH,
        )
    }

    /// Makes a folder and its parents; an existing folder stays unchanged.
    pub(crate) fn make_folder(&self, target: &Path, mode: u32) -> rustix::io::Result<()> {
        match self.in_parent(target, |parent, name| mkdirat(parent, name, Mode::from_raw_mode(mode))) {
            Err(Errno::EXIST) => Ok(()),
            other => other,
        }
    }

    /// Makes an entry in its parent folder, and the parent first if it is missing, which is rare.
    ///
    /// Commands may write to the folder, so no link on the way is followed.
    fn in_parent<T>(
        &self,
        target: &Path,
        make: impl Fn(BorrowedFd<'_>, &OsStr) -> rustix::io::Result<T>,
    ) -> rustix::io::Result<T> {
        let name = target.file_name().ok_or(Errno::EXIST)?;
        let parent = match target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            None => return make(self.root.as_fd(), name),
            Some(parent) => parent,
        };
        let opened = match self.open(parent) {
            Err(Errno::NOENT) => {
                self.make_folder(parent, 0o755)?;
                self.open(parent)?
            }
            opened => opened?,
        };
        make(opened.as_fd(), name)
    }

    fn make_link(&self, target: &Path, to: &Path) -> rustix::io::Result<()> {
        self.in_parent(target, |parent, name| symlinkat(to, parent, name))
    }

    /// Makes a file with its parents; an existing file stays unchanged.
    pub(crate) fn make_file(&self, target: &Path, contents: &[u8], mode: u32) -> rustix::io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let make =
            |parent: BorrowedFd<'_>, name: &OsStr| openat(parent, name, flags, Mode::from_raw_mode(0o600));
        let file = match self.in_parent(target, make) {
            Err(Errno::EXIST) => return Ok(()),
            other => other?,
        };
        if rustix::io::write(&file, contents)? != contents.len() {
            return Err(Errno::NOSPC);
        }
        fchmod(&file, Mode::from_raw_mode(mode))
    }

    /// Makes this the root of the process and lets go of the old one, which is not reachable afterwards.
    pub(crate) fn enter(&self) -> rustix::io::Result<()> {
        set_mount_attributes(&self.root, MountAttributes::READ_ONLY, false)?;
        rustix::process::fchdir(&self.root)?;
        // The old root is stacked on the new one, at the same path, and is unmounted from there.
        rustix::process::pivot_root(".", ".")?;
        unmount(".", UnmountFlags::DETACH)?;
        rustix::process::chdir("/")
    }
}

/// Checks whether the opened path is a mount point; true on kernels that cannot report it (before Linux 5.8).
pub(crate) fn is_mount(opened: &OwnedFd) -> rustix::io::Result<bool> {
    let status = statx(opened, "", AtFlags::EMPTY_PATH, StatxFlags::empty())?;
    let is_known = status.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT);
    Ok(!is_known || status.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Opens a path of the current root, to be shown elsewhere. No link on the way is followed.
pub(crate) fn open_outside(path: &Path) -> rustix::io::Result<OwnedFd> {
    openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), NO_LINKS)
}

const NO_LINKS: ResolveFlags = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);

/// Checks whether a path in the new root belongs to the kept home's own folders.
fn is_of_home(target: &Path) -> bool {
    target.starts_with(inside(Path::new(home_mount::OWN)))
}

/// Strips the root from an absolute path.
pub(crate) fn inside(target: &Path) -> &Path {
    target.strip_prefix("/").unwrap_or(target)
}

pub(crate) fn no_programs() -> MountAttrFlags {
    MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC
}

fn memory_file_system(size_bytes: u64, mode: u32) -> rustix::io::Result<OwnedFd> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, "size", size_bytes.to_string())?;
    fsconfig_set_string(&context, "mode", format!("{mode:o}"))?;
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

pub(crate) fn copy_tree(folder: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(folder, "", flags)
}

pub(crate) fn attach(mount: &OwnedFd, parent: impl AsFd, path: &Path) -> rustix::io::Result<()> {
    let mut flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    if path.as_os_str().is_empty() {
        flags |= MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    }
    move_mount(mount, "", parent, path, flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_differs_from_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        assert!(!is_mount(&open_outside(&path).unwrap()).unwrap());
        assert!(is_mount(&open_outside(Path::new("/proc")).unwrap()).unwrap());
    }
}
