//! POSIX access control lists in Linux's format, and their narrowing when a file changes its owner or group.

/// The attribute that holds a file's own access list.
pub(crate) const ACCESS_LIST: &[u8] = b"system.posix_acl_access";
/// The attributes that grant access to other users.
pub(crate) const LISTS: [&[u8]; 2] = [ACCESS_LIST, b"system.posix_acl_default"];

const VERSION: [u8; 4] = 2u32.to_le_bytes();
const ENTRY_BYTES: usize = 8;
const OWNER: u16 = 0x01;
const GROUP: u16 = 0x04;
const MASK: u16 = 0x10;
const OTHERS: u16 = 0x20;

/// The ownership that a new version could not take from the replaced file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    /// The owner differs: the old owner now falls under group or others, which must not exceed what the owner
    /// could do.
    pub(crate) owner: bool,
    /// The group differs: the new group gets nothing, and others at most what the old group had, since it is
    /// among them.
    pub(crate) group: bool,
}

/// Narrows permission bits so that no user gains a right that the old owner and group did not grant.
pub(crate) fn narrow_mode(mode: u32, lost: Lost) -> u32 {
    let (owner, mut group, mut others) = (mode >> 6 & 7, mode >> 3 & 7, mode & 7);
    if lost.owner {
        (group, others) = (group & owner, others & owner);
    }
    if lost.group {
        (group, others) = (0, others & group);
    }
    mode & !0o077 | group << 3 | others
}

/// Narrows an access list in the same way; `None` if its format is unknown.
pub(crate) fn narrow_list(list: &[u8], lost: Lost) -> Option<Vec<u8>> {
    let entries = list.strip_prefix(&VERSION)?;
    if !entries.len().is_multiple_of(ENTRY_BYTES) {
        return None;
    }
    let tag = |entry: &[u8]| u16::from_le_bytes([entry[0], entry[1]]);
    let rights_of = |wanted: u16| {
        let entry = entries.chunks_exact(ENTRY_BYTES).find(|entry| tag(entry) == wanted);
        entry.map(|entry| entry[2] & 7)
    };
    let owner = if lost.owner { rights_of(OWNER)? } else { 7 };
    let group = rights_of(GROUP)? & rights_of(MASK).unwrap_or(7) & owner;
    let mut narrowed = list.to_vec();
    for entry in narrowed[VERSION.len()..].chunks_exact_mut(ENTRY_BYTES) {
        let rights = match tag(entry) {
            // The mask stays: narrowing it would take rights from named users who may keep theirs.
            OWNER | MASK => continue,
            GROUP if lost.group => 0,
            OTHERS if lost.group => entry[2] & group,
            _ => entry[2] & owner,
        };
        entry[2] = rights;
    }
    Some(narrowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
        let entry = |(tag, rights, id): &(u16, u16, u32)| {
            [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
        };
        [VERSION.to_vec(), entries.iter().flat_map(entry).collect()].concat()
    }

    #[test]
    fn a_lost_group_gives_the_new_one_nothing_and_others_no_more_than_it_had() {
        let lost = Lost { owner: false, group: true };
        assert_eq!(narrow_mode(0o660, lost), 0o600);
        assert_eq!(narrow_mode(0o604, lost), 0o600);
        assert_eq!(narrow_mode(0o644, lost), 0o604);
        let both = Lost { owner: true, group: true };
        assert_eq!(narrow_mode(0o077, both), 0o000);
        assert_eq!(narrow_mode(0o664, Lost::default()), 0o664);
    }

    #[test]
    fn a_list_is_narrowed_like_the_bits() {
        let none = u32::MAX;
        let had = list(&[(1, 6, none), (2, 4, 7), (4, 6, none), (0x10, 6, none), (0x20, 4, none)]);
        let narrow = list(&[(1, 6, none), (2, 4, 7), (4, 0, none), (0x10, 6, none), (0x20, 4, none)]);
        assert_eq!(narrow_list(&had, Lost { owner: false, group: true }), Some(narrow));
        assert_eq!(narrow_list(b"\x03\0\0\0", Lost::default()), None);
        assert_eq!(narrow_list(b"", Lost::default()), None);
    }
}
