//! The mounts of a kept home: made late, from trees that were bound aside before the command was known.
//!
//! Commands write to a home, so mount points in it are opened without following links.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};

use crate::init::layer_mount;
use crate::init::new_root::{NewRoot, copy_tree, inside};
use crate::sys::{MountAttributes, set_mount_attributes};

/// The folder of the new root that holds nothing for commands.
pub(crate) const HIDDEN: &str = "/.hidden";

/// The folder of the new root that holds the trees bound aside, until the home is complete.
pub(crate) const ASIDE: &str = "/.hidden/home";

/// The prefix of the home's own folders there.
pub(crate) const OWN: &str = "/.hidden/home/own";

/// Shows a folder or file of the new root at another path of it.
pub(crate) fn show(root: &NewRoot, from: &Path, target: &Path, read_only: bool) -> rustix::io::Result<()> {
    let source = root.open(from)?;
    let is_folder = FileType::from_raw_mode(fstat(&source)?.st_mode) == FileType::Directory;
    make_mount_point(root, target, is_folder)?;
    let tree = copy_tree(&source)?;
    if read_only {
        set_mount_attributes(&tree, MountAttributes::READ_ONLY, true)?;
    }
    root.attach(&tree, target)
}

/// Mounts a copy-on-write layer over folders of the new root.
pub(crate) fn overlay(
    root: &NewRoot,
    target: &Path,
    lowers: &[PathBuf],
    folders: [&PathBuf; 2],
) -> rustix::io::Result<()> {
    make_mount_point(root, target, true)?;
    let [upper, work] = [root.open(inside(folders[0]))?, root.open(inside(folders[1]))?];
    let lowers: Result<Vec<OwnedFd>, Errno> = lowers.iter().map(|lower| root.open(inside(lower))).collect();
    root.attach(&layer_mount::mount_over(&lowers?, &upper, &work)?, target)
}

/// Unmounts a mount and everything below it. Mounts made from those trees elsewhere stay.
pub(crate) fn detach(root: &NewRoot, target: &Path) -> rustix::io::Result<()> {
    rustix::process::fchdir(root.descriptor())?;
    unmount(target, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW)
}

/// Makes a mount point unless it exists, in which case the tree may be read-only.
fn make_mount_point(root: &NewRoot, target: &Path, is_folder: bool) -> rustix::io::Result<()> {
    match root.open(target) {
        Err(Errno::NOENT) if is_folder => root.make_folder(target, 0o755),
        Err(Errno::NOENT) => root.make_file(target, b"", 0o644),
        opened => opened.map(drop),
    }
}
