//! A copy-on-write layer over the workspace: what a policy says about it, and the mount itself.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
    fsmount, fsopen,
};

/// A layer that catches what a command changes in its workspace. Every path is absolute and without links.
///
/// The command sees the workspace at its usual path and changes it as usual; the changes go to `upper`, and `lower`
/// stays unchanged. Mounts inside the workspace are shown as they are, read-only except for
/// [`Policy::writable_mounts`](crate::Policy::writable_mounts), in which changes are not caught.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayerMount {
    /// The folder that stays unchanged: the workspace.
    pub lower: PathBuf,
    /// The folder that receives the changes, on the same file system.
    pub upper: PathBuf,
    /// An empty folder next to it for the kernel's own use.
    pub work: PathBuf,
    /// Folders of the workspace that are changed directly, such as caches too big to copy. Missing ones are skipped.
    pub uncovered: Vec<PathBuf>,
}

impl LayerMount {
    /// A layer that covers the whole workspace.
    pub fn new(lower: PathBuf, upper: PathBuf, work: PathBuf) -> LayerMount {
        LayerMount { lower, upper, work, uncovered: Vec::new() }
    }

    /// The same with folders that are changed directly.
    pub fn with_uncovered(self, uncovered: Vec<PathBuf>) -> LayerMount {
        LayerMount { uncovered, ..self }
    }
}

/// Creates a layer's mount, detached.
///
/// - `userxattr` for root too: an ordinary user may write no other attributes, and one family needs only one reader.
/// - Without redirects, partial copies and an index, `upper` alone says what was changed, and nothing in it can
///   make the kernel show another folder's files.
/// - `volatile`: nothing is synced. The code that adopts the changes syncs them.
///
/// The folders are named by `/proc/self/fd` paths: these are short, need no escaping, reveal nothing to a command that
/// reads its list of mounts, and refer to exactly the folder that was opened.
pub(crate) fn mount(lower: &OwnedFd, upper: &OwnedFd, work: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    mount_over(std::slice::from_ref(lower), upper, work)
}

/// The same over several folders, the topmost first.
pub(crate) fn mount_over(lowers: &[OwnedFd], upper: &OwnedFd, work: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    let path = |folder: &OwnedFd| format!("/proc/self/fd/{}", folder.as_raw_fd());
    let lower = lowers.iter().map(path).collect::<Vec<_>>().join(":");
    for (key, value) in [("lowerdir", lower), ("upperdir", path(upper)), ("workdir", path(work))] {
        fsconfig_set_string(&context, key, value)?;
    }
    for (key, value) in [("redirect_dir", "nofollow"), ("metacopy", "off"), ("index", "off")] {
        match fsconfig_set_string(&context, key, value) {
            // A kernel that does not know an option lacks the feature that it switches off.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(errno) => return Err(errno),
        }
    }
    fsconfig_set_flag(&context, "userxattr")?;
    fsconfig_set_flag(&context, "volatile")?;
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Returns the mount points inside a folder, as this process sees them, sorted.
///
/// A layer does not show mounts inside its lower folder.
pub(crate) fn mounts_inside(folder: &Path) -> Vec<PathBuf> {
    // Without a list of mounts the command sees the empty folders under them.
    let list = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let paths = list.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    let mut inside: Vec<PathBuf> =
        paths.map(unescaped).filter(|path| path != folder && path.starts_with(folder)).collect();
    inside.sort();
    inside.dedup();
    inside
}

/// Decodes a field of the list: whitespace and the like is written as a backslash and three octal digits.
fn unescaped(field: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = (*first == b'\\').then(|| after.get(..3)).flatten();
        let value = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        (rest, _) = match value {
            Some(value) => (&after[3..], bytes.push(value)),
            None => (after, bytes.push(*first)),
        };
    }
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_mounts_are_read_back_as_they_are() {
        for (field, path) in
            [("/a\\040b", "/a b"), ("/a\\134b", "/a\\b"), ("/plain", "/plain"), ("/end\\04", "/end\\04")]
        {
            assert_eq!(unescaped(field.as_bytes()), Path::new(path));
        }
    }

    #[test]
    fn nothing_is_mounted_in_a_new_folder_and_proc_is_mounted_in_the_root() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(mounts_inside(folder.path()), Vec::<PathBuf>::new());
        assert!(mounts_inside(Path::new("/")).contains(&PathBuf::from("/proc")));
    }
}
