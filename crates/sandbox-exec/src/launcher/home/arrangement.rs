//! The mounts of a kept home: trees bound aside before the command is known, and mounts made once it is.
//!
//! The home is mounted late, because no two live mounts may share the upper folder of a layer, and because the previous
//! command may write to the home until it ends.

use std::path::{Path, PathBuf};

use crate::init::home_mount::{ASIDE, OWN};
use crate::init::mount_entry::{Access, MountEntry};
use crate::launcher::home::{CACHES, HOME, HomeLease, UPPER, WORK, host_caches, layer_name};
use crate::launcher::private_folder::START_UP_FILES;

/// The size of the memory file system for masks and mount points.
const ASIDE_BYTES: u64 = 16 << 20;

/// A mount point that must be in the home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MountPoint {
    /// Relative to the home.
    pub(crate) path: PathBuf,
    pub(crate) is_folder: bool,
}

/// The mounts of a root with a kept home.
#[derive(Debug)]
pub(crate) struct Arranged {
    pub(crate) mounts: Vec<MountEntry>,
    pub(crate) mount_points: Vec<MountPoint>,
}

impl HomeLease {
    /// Returns the mount of the home and those of the caches in it.
    pub(crate) fn entries(&self, home: &Path) -> Vec<MountEntry> {
        let own = Path::new(OWN);
        let home_entry = if self.is_layered() {
            MountEntry::Overlay {
                target: home.to_owned(),
                lowers: (0..self.lower.len()).map(|index| aside_lower(index).join(HOME)).collect(),
                upper: own.join(HOME),
                work: own.join("layer").join(WORK),
            }
        } else {
            MountEntry::Show { target: home.to_owned(), from: own.join(HOME), read_only: false }
        };
        let caches = self.caches.iter().enumerate().map(|(index, cache)| {
            let layer = Path::new(CACHES).join(layer_name(cache));
            let uppers = self.lower.iter().map(|folder| folder.join(&layer).join(UPPER).is_dir());
            let uppers = uppers.enumerate().filter(|(_, is_there)| *is_there);
            let uppers = uppers.filter(|_| !host_caches::is_discarded(cache));
            let lowers = uppers.map(|(index, _)| aside_lower(index).join(&layer).join(UPPER));
            MountEntry::Overlay {
                target: home.join(cache),
                lowers: lowers.chain([cache_aside(index)]).collect(),
                upper: own.join(&layer).join(UPPER),
                work: own.join(&layer).join(WORK),
            }
        });
        [home_entry].into_iter().chain(caches).collect()
    }

    /// Returns the trees bound aside for those mounts.
    fn bound_aside(&self) -> Vec<MountEntry> {
        let bind = |source: PathBuf, target: PathBuf, access| MountEntry::Bind { source, target, access };
        let tmpfs = MountEntry::Tmpfs { target: ASIDE.into(), size_bytes: ASIDE_BYTES, mode: 0o700 };
        let own = bind(self.own.clone(), OWN.into(), Access::Writable);
        let homes = self.lower.iter().enumerate();
        let homes = homes.map(|(index, folder)| bind(folder.clone(), aside_lower(index), Access::ReadOnly));
        let caches = self.caches.iter().enumerate();
        let caches = caches
            .map(|(index, cache)| bind(self.real_home.join(cache), cache_aside(index), Access::ReadOnly));
        [tmpfs, own].into_iter().chain(homes).chain(caches).collect()
    }
}

fn aside_lower(index: usize) -> PathBuf {
    PathBuf::from(format!("{OWN}-lower-{index}"))
}

fn cache_aside(index: usize) -> PathBuf {
    PathBuf::from(format!("{OWN}-cache-{index}"))
}

/// Rearranges the mounts of a root so that everything in the home is mounted late, without need of the old root.
pub(crate) fn arrange(mounts: Vec<MountEntry>, home: &Path, lease: &HomeLease) -> Arranged {
    // The root is read-only by the time the home is mounted.
    let mut aside = vec![MountEntry::Directory { target: home.to_owned(), mode: 0o755 }];
    aside.extend(lease.bound_aside());
    let mut arranged = Vec::new();
    let mut mount_points: Vec<MountPoint> = Vec::new();
    let start_up = START_UP_FILES.map(|name| home.join(name));
    for (index, entry) in mounts.into_iter().enumerate() {
        let target = entry.target().to_owned();
        if !target.starts_with(home) {
            arranged.push(entry);
            continue;
        }
        let from = Path::new(ASIDE).join(format!("entry-{index}"));
        let mut is_folder = true;
        match entry {
            MountEntry::Bind { source, access, .. } => {
                is_folder = source.is_dir();
                aside.push(MountEntry::Bind { source, target: from.clone(), access });
                arranged.push(MountEntry::Show { target: target.clone(), from, read_only: false });
            }
            MountEntry::Mask { contents, .. } => {
                is_folder = false;
                aside.push(MountEntry::File { target: from.clone(), contents, mode: 0o444 });
                arranged.push(MountEntry::Show { target: target.clone(), from, read_only: true });
            }
            MountEntry::File { contents, mode, .. } if start_up.contains(&target) => {
                is_folder = false;
                aside.push(MountEntry::File { target: from.clone(), contents, mode });
                arranged.push(MountEntry::Show { target: target.clone(), from, read_only: true });
            }
            // The launcher writes git's settings into the home, where a command may change them for itself.
            MountEntry::File { .. } => continue,
            MountEntry::Protect { .. } if start_up.contains(&target) => continue,
            mount @ (MountEntry::Overlay { .. } | MountEntry::Show { .. }) => arranged.push(mount),
            // Its target has been mounted, or does not exist.
            other => {
                arranged.push(other);
                continue;
            }
        }
        let name = target.strip_prefix(home).unwrap_or(Path::new(""));
        // A path in another mount needs no mount point in the home itself.
        let is_inside = |point: &MountPoint| name != point.path && name.starts_with(&point.path);
        if !name.as_os_str().is_empty() && !mount_points.iter().any(is_inside) {
            mount_points.push(MountPoint { path: name.to_owned(), is_folder });
        }
    }
    arranged.push(MountEntry::Detach { target: ASIDE.into() });
    Arranged { mounts: aside.into_iter().chain(arranged).collect(), mount_points }
}
