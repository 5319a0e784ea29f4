//! Rights that an entry of a layer may not bring into the workspace, because the user has not granted them.
//!
//! A set-user-ID or set-group-ID bit lets others run a file with its owner's rights, a file capability with some of
//! root's. A device reaches past the file system, and a file of another owner is not the user's any more.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Gid, Uid, chownat};
use rustix::io::Errno;

use crate::handle::{self, Entry, Kind};

/// The set-user-ID and the set-group-ID bit.
pub(crate) const SET_ID_BITS: u32 = 0o6000;
/// The bit of the two that a new folder inherits from its parent.
const SET_GROUP_ID: u32 = 0o2000;

/// The attribute in which the kernel keeps a file's capabilities.
const CAPABILITY: &str = "security.capability";

/// A user's and a group's number.
pub(crate) type Owner = (u32, u32);

/// A right that an entry of the layer has, and does not bring into the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Right {
    /// A set-user-ID or set-group-ID bit; the entry comes without it.
    SetIdBits,
    /// File capabilities; the file comes without them.
    Capabilities,
    /// An owner or a group other than this user's, the replaced entry's or the parent folder's; the entry
    /// comes with this user's.
    Owner,
    /// A device, which does not come at all.
    Device,
}

/// The rights that entries in one folder may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rights {
    /// The set-ID bits that folders may have.
    folder_bits: u32,
    /// The owners that entries may have besides this user.
    owners: [Option<Owner>; 2],
}

impl Rights {
    /// Returns the rights of new entries in the workspace's folder `around`.
    pub(crate) fn within(around: &Entry) -> Rights {
        Rights { folder_bits: around.mode & SET_GROUP_ID, owners: [Some((around.user, around.group)), None] }
    }

    /// Extends the rights by those of the replaced entry `before`.
    pub(crate) fn replacing(self, before: Option<&Entry>) -> Rights {
        let had =
            before.filter(|before| before.kind == Kind::Folder).map_or(0, |before| before.mode & SET_ID_BITS);
        Rights {
            folder_bits: self.folder_bits | had,
            owners: [self.owners[0], before.map(|before| (before.user, before.group))],
        }
    }

    /// Returns the permission bits with which an entry of this kind is adopted.
    pub(crate) fn mode(&self, kind: Kind, mode: u32) -> u32 {
        let allowed = if kind == Kind::Folder { self.folder_bits } else { 0 };
        mode & !(SET_ID_BITS & !allowed)
    }

    /// Returns the rights of an entry of the layer that exceed the allowed ones. A link's own rights have no
    /// effect.
    pub(crate) fn beyond(&self, folder: impl AsFd, name: &[u8], entry: &Entry) -> Result<Vec<Right>, Errno> {
        let mut beyond = Vec::new();
        if entry.kind == Kind::Device {
            beyond.push(Right::Device);
        }
        if entry.kind != Kind::Link && self.mode(entry.kind, entry.mode) != entry.mode {
            beyond.push(Right::SetIdBits);
        }
        if has_capabilities(folder, name, entry)? {
            beyond.push(Right::Capabilities);
        }
        if self.owner(entry).is_some() {
            beyond.push(Right::Owner);
        }
        Ok(beyond)
    }

    /// Removes the excess rights of an entry of the layer, apart from its bits: its owner and its
    /// capabilities.
    pub(crate) fn strip_excess(&self, folder: impl AsFd, name: &[u8], entry: &Entry) -> Result<(), Errno> {
        if let Some((user, group)) = self.owner(entry) {
            give(&folder, name, Some(user), Some(group))?;
        }
        if has_capabilities(&folder, name, entry)? {
            // Removing the attribute takes a capability. Any change of owner removes it, even to the same
            // owner.
            give(&folder, name, None, None)?;
            if has_capabilities(&folder, name, entry)? {
                return Err(Errno::PERM);
            }
        }
        Ok(())
    }

    /// Returns the owner to give to an entry of the layer; `None` if it may keep its own.
    pub(crate) fn owner(&self, entry: &Entry) -> Option<Owner> {
        let own = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let allowed = || self.owners.iter().flatten().chain([&own]);
        let is_allowed =
            allowed().any(|owner| owner.0 == entry.user) && allowed().any(|owner| owner.1 == entry.group);
        (!is_allowed).then_some(own)
    }
}

fn give(folder: impl AsFd, name: &[u8], user: Option<u32>, group: Option<u32>) -> Result<(), Errno> {
    let (user, group) = (user.map(Uid::from_raw), group.map(Gid::from_raw));
    chownat(folder, name, user, group, AtFlags::SYMLINK_NOFOLLOW)
}

fn has_capabilities(folder: impl AsFd, name: &[u8], entry: &Entry) -> Result<bool, Errno> {
    if entry.kind != Kind::File {
        return Ok(false);
    }
    match rustix::fs::lgetxattr(handle::path_at(folder, name), CAPABILITY, &mut [0_u8; 64][..]) {
        // An attribute that cannot be decoded in this user's namespace still grants rights.
        Ok(_) | Err(Errno::RANGE | Errno::OVERFLOW) => Ok(true),
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(false),
        Err(other) => Err(other),
    }
}
