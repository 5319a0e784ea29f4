//! What of a command's sandbox can be made before the command is known: all that does not lie in its workspace.
//!
//! The spawner keeps one init in reserve that has made this much, so that a command need not wait for it. An init is
//! used for one command only; nothing that a command did can be there for the next.

use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

use crate::isolation::Isolation;
use crate::mount_entry::{Access, MountEntry};
use crate::request::Request;

/// The part of a sandbox that is made first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Preparation {
    pub(crate) isolation: Isolation,
    /// The first entries of the new root, in this order.
    pub(crate) mounts: Vec<MountEntry>,
}

impl Preparation {
    /// Takes the first part of a request.
    pub(crate) fn of(request: &Request) -> Preparation {
        Preparation { isolation: request.isolation, mounts: request.prepared_mounts.clone() }
    }

    /// Notes which files the entries show now, to be compared when the preparation is to be used.
    pub(crate) fn identities(&self) -> Option<Vec<Identity>> {
        let sources = self.mounts.iter().filter_map(|entry| match entry {
            MountEntry::Bind { source, .. } => Some(source),
            _ => None,
        });
        sources.map(|source| Identity::of(source)).collect()
    }
}

/// Which file a path leads to. With the time of its birth, the number of a file that is gone is no obstacle.
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
        let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted).ok()?;
        Some(Identity {
            device: (found.stx_dev_major, found.stx_dev_minor),
            inode: found.stx_ino,
            birth: (found.stx_btime.tv_sec, found.stx_btime.tv_nsec),
            mount: found.stx_mnt_id,
        })
    }
}

/// Splits the entries of a new root into those that can be made before the command is known and the others.
///
/// Each part keeps its order. An entry moves ahead of another only if neither lies beneath the other.
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

/// Whether an entry stays right however long ago it was made, as long as what it shows is the same file.
fn is_lasting(entry: &MountEntry, before: &[MountEntry]) -> bool {
    let is_own_file = |place: &PathBuf| {
        before.iter().any(|entry| matches!(entry, MountEntry::File { target, .. } if target == place))
    };
    match entry {
        MountEntry::Directory { .. }
        | MountEntry::Symlink { .. }
        | MountEntry::File { .. }
        | MountEntry::Tmpfs { .. }
        | MountEntry::Proc { .. }
        | MountEntry::Terminals
        | MountEntry::Seal { .. } => true,
        MountEntry::Bind { access, .. } => *access != Access::Writable,
        MountEntry::Protect { target } => is_own_file(target),
        // What lies in a workspace can be another file the next moment.
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(path: &str, access: Access) -> MountEntry {
        MountEntry::Bind { source: path.into(), target: path.into(), access }
    }

    fn file(path: &str) -> MountEntry {
        MountEntry::File { target: path.into(), contents: Vec::new(), mode: 0o444 }
    }

    #[test]
    fn what_lies_in_the_workspace_or_around_it_waits_for_the_command() {
        let protect = |path: &str| MountEntry::Protect { target: path.into() };
        let entries = vec![
            bind("/usr", Access::ReadOnly),
            bind("/w", Access::Writable),
            bind("/home/.cargo/bin", Access::ReadOnly),
            bind("/w/tools", Access::ReadOnly),
            file("/home/.profile"),
            protect("/home/.profile"),
            protect("/w/.git/config"),
            MountEntry::Cover { target: "/w/.agentd".into() },
        ];
        let (first, rest) = split(entries.clone());
        assert_eq!(first, [&entries[0], &entries[2], &entries[4], &entries[5]].map(Clone::clone));
        assert_eq!(rest, [&entries[1], &entries[3], &entries[6], &entries[7]].map(Clone::clone));
    }

    #[test]
    fn a_tree_that_contains_the_workspace_is_made_after_what_it_would_hide() {
        let entries = vec![bind("/a/b", Access::Writable), bind("/a", Access::ReadOnly)];
        assert_eq!(split(entries.clone()), (Vec::new(), entries));
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
