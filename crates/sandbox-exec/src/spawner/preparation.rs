//! The part of a command's sandbox that is made before the command is known: all but the inside of its workspace.
//!
//! The spawner keeps one init in reserve that has made this part, so that a command need not wait for it. An init is
//! used for one command only, so a command leaves no traces for the next.

use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use crate::init::mount_entry::MountEntry;
use crate::policy::isolation::Isolation;
use crate::spawner::request::{ChildLimits, FileAccess};
use crate::spawner::wire::{Decoder, Encoder};

/// The part of a sandbox that is made first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Preparation {
    pub(crate) isolation: Isolation,
    pub(crate) limits: ChildLimits,
    /// The files that Landlock lets through; used with [`Isolation::LANDLOCK`].
    pub(crate) access: FileAccess,
    /// The first entries of the new root, in this order; used with [`Isolation::ROOT`].
    pub(crate) mounts: Vec<MountEntry>,
    /// True if the remaining entries need nothing of the old root, so that it can be left before they are made.
    pub(crate) is_closed: bool,
}

impl Preparation {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::default();
        out.number(self.isolation.bits());
        out.number(self.limits.memory_bytes);
        out.number(self.limits.processes.into());
        out.number(self.limits.file_size_bytes);
        out.number(self.limits.open_files.into());
        out.list(&self.access.listable, |out, path| out.path(path));
        out.list(&self.access.readable, |out, path| out.path(path));
        out.list(&self.access.writable, |out, path| out.path(path));
        out.list(&self.access.late_writable, |out, path| out.path(path));
        out.list(&self.access.plain, |out, path| out.path(path));
        out.list(&self.mounts, |out, entry| entry.encode(out));
        out.number(self.is_closed.into());
        out.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Preparation> {
        let mut input = Decoder::new(bytes);
        let preparation = Preparation {
            isolation: Isolation::from_bits(input.number()?)?,
            limits: ChildLimits {
                memory_bytes: input.number()?,
                processes: input.number_u32()?,
                file_size_bytes: input.number()?,
                open_files: input.number_u32()?,
            },
            access: FileAccess {
                listable: input.list(Decoder::path)?,
                readable: input.list(Decoder::path)?,
                writable: input.list(Decoder::path)?,
                late_writable: input.list(Decoder::path)?,
                plain: input.list(Decoder::path)?,
            },
            mounts: input.list(MountEntry::decode)?,
            is_closed: input.number()? != 0,
        };
        input.end()?;
        Some(preparation)
    }

    /// Checks whether something is mounted late: the workspace on a layer, or a kept home with its caches.
    pub(crate) fn has_layer(&self) -> bool {
        self.isolation.contains(Isolation::ROOT) && !self.access.late_writable.is_empty()
    }

    /// Records the files that the entries show now, to be compared when the preparation is used.
    pub(crate) fn identities(&self) -> Option<Vec<Identity>> {
        let sources = self.mounts.iter().filter_map(|entry| match entry {
            MountEntry::Bind { source, .. } => Some(source),
            _ => None,
        });
        sources.map(|source| Identity::of(source)).collect()
    }
}

/// The identity of the file at a path. Its creation time distinguishes it from a later file with the same inode number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: (u32, u32),
    inode: u64,
    birth: (i64, u32),
    mount: u64,
}

impl Identity {
    fn of(path: &Path) -> Option<Identity> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::MNT_ID;
        let status = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted).ok()?;
        Some(Identity {
            device: (status.stx_dev_major, status.stx_dev_minor),
            inode: status.stx_ino,
            birth: (status.stx_btime.tv_sec, status.stx_btime.tv_nsec),
            mount: status.stx_mnt_id,
        })
    }
}

/// Splits the entries of a new root into those that can be made before the command is known and the others.
///
/// Each part keeps its order. An entry moves ahead of another only if neither is inside the other.
pub(crate) fn split(entries: Vec<MountEntry>) -> (Vec<MountEntry>, Vec<MountEntry>) {
    let (mut first, mut rest) = (Vec::new(), Vec::<MountEntry>::new());
    for entry in entries {
        let touches = |other: &MountEntry| {
            entry.target().starts_with(other.target()) || other.target().starts_with(entry.target())
        };
        if is_lasting(&entry, &first) && !rest.iter().any(touches) {
            first.push(entry);
        } else {
            rest.push(entry);
        }
    }
    (first, rest)
}

/// Checks whether these entries use only what is already in the new root.
pub(crate) fn is_closed(entries: &[MountEntry]) -> bool {
    let is_inside = |entry: &MountEntry| match entry {
        MountEntry::Pin { .. }
        | MountEntry::Protect { .. }
        | MountEntry::Cover { .. }
        | MountEntry::Show { .. }
        | MountEntry::Overlay { .. }
        | MountEntry::SealInner { .. }
        | MountEntry::Detach { .. } => true,
        // Its lower tree is bound before it, along with the layer's own folders if they are inside.
        MountEntry::Layer { target, upper, work, .. } => {
            upper.starts_with(target) && work.starts_with(target)
        }
        _ => false,
    };
    entries.iter().all(is_inside)
}

/// Checks whether an entry stays valid over time, as long as the file that it shows is the same.
fn is_lasting(entry: &MountEntry, before: &[MountEntry]) -> bool {
    let is_own_file = |path: &PathBuf| {
        before.iter().any(|entry| matches!(entry, MountEntry::File { target, .. } if target == path))
    };
    match entry {
        MountEntry::Directory { .. }
        | MountEntry::Symlink { .. }
        | MountEntry::File { .. }
        | MountEntry::Tmpfs { .. }
        | MountEntry::Proc { .. }
        | MountEntry::Bind { .. }
        | MountEntry::Terminals
        | MountEntry::Mask { .. }
        | MountEntry::Seal { .. } => true,
        // Without exceptions it names no path that could later lead elsewhere.
        MountEntry::SealInner { except, .. } => except.is_empty(),
        MountEntry::Protect { target } => is_own_file(target),
        // A path in a workspace may be another file the next moment.
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::mount_entry::Access;

    fn bind(path: &str, access: Access) -> MountEntry {
        MountEntry::Bind { source: path.into(), target: path.into(), access }
    }

    fn file(path: &str) -> MountEntry {
        MountEntry::File { target: path.into(), contents: Vec::new(), mode: 0o444 }
    }

    #[test]
    fn entries_in_the_workspace_wait_for_the_command() {
        let protect = |path: &str| MountEntry::Protect { target: path.into() };
        let entries = vec![
            bind("/usr", Access::ReadOnly),
            bind("/w", Access::Writable),
            file("/home/.profile"),
            protect("/home/.profile"),
            protect("/w/.git/config"),
            MountEntry::Cover { target: "/w/.agentd".into() },
        ];
        let (first, rest) = split(entries.clone());
        assert_eq!((first.as_slice(), rest.as_slice()), entries.split_at(4));
        assert!(is_closed(&rest));
    }

    #[test]
    fn no_entry_moves_ahead_of_one_that_it_would_hide_or_that_would_hide_it() {
        let cover = |path: &str| MountEntry::Cover { target: path.into() };
        let entries = vec![
            cover("/a/b"),
            bind("/a", Access::ReadOnly),
            bind("/a/b/c", Access::ReadOnly),
            bind("/else", Access::ReadOnly),
        ];
        let (first, rest) = split(entries.clone());
        assert_eq!((first.as_slice(), rest.as_slice()), (&entries[3..], &entries[..3]));
        assert!(!is_closed(&rest));
    }

    #[test]
    fn a_folder_that_was_replaced_is_not_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tool");
        std::fs::create_dir(&path).unwrap();
        let before = Identity::of(&path);
        std::fs::write(path.join("inside"), "").unwrap();
        assert_eq!(Identity::of(&path), before);
        std::fs::rename(&path, folder.path().join("old")).unwrap();
        assert_eq!(Identity::of(&path), None);
        std::fs::create_dir(&path).unwrap();
        assert!(before.is_some() && Identity::of(&path) != before);
    }
}
