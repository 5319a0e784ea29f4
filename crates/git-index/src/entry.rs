//! One entry of an index.

/// The mode bits for the kind of an entry.
const KIND: u32 = 0o170_000;
const TO_BE_ADDED: u16 = 0x2000;

/// One entry of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The path from the root of the working tree. A folder that stands for everything below it, in a sparse index,
    /// ends with a slash. Empty in a split index, where the shared index has the path.
    pub path: &'a [u8],
    /// The mode: 0o100644, 0o100755, 0o120000, 0o160000, or 0o040000 for a folder of a sparse index.
    pub mode: u32,
    /// 0, or 1 to 3 for the three sides of a merge conflict.
    pub stage: u8,
    /// The name of its object, in bytes.
    pub object: &'a [u8],
    /// The bits 0x8000 for "assumed to be unchanged", 0x4000 for "not in the working tree" and 0x2000 for "to be added later".
    pub marks: u16,
}

impl Entry<'_> {
    pub(crate) fn is_symlink(&self) -> bool {
        self.mode & KIND == 0o120_000
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.mode == 0o040_000
    }

    /// Returns whether only its path was added so far (`git add -N`).
    pub fn is_to_be_added(&self) -> bool {
        self.marks & TO_BE_ADDED != 0
    }

    pub(crate) fn has_known_mode(&self) -> bool {
        matches!(self.mode, 0o100_644 | 0o100_755 | 0o120_000 | 0o160_000 | 0o040_000)
    }
}
