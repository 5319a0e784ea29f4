//! The policy of a root.

use rel_path::ProtectedNames;

/// The operations that a root allows. Plain data; several roots can share one value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FsPolicy {
    /// Names that are never written, removed or renamed, and names whose changes the caller should report.
    pub protected: ProtectedNames,
    /// The rule for files with several hard links.
    pub hard_links: HardLinks,
    /// The rule for symbolic links when reading.
    pub links: LinkRule,
    /// The rule for names of new files and folders.
    pub new_names: NewNames,
    /// The rule for a file's own permission bits.
    pub write_bits: WriteBits,
    /// If true, every change is refused.
    pub read_only: bool,
}

impl FsPolicy {
    /// Returns the policy for a folder that belongs to the program and that no message can name: no protected
    /// names, no links followed.
    pub fn private() -> FsPolicy {
        // Not from the default: its list of names is long, and roots of this kind are opened before anything else.
        FsPolicy {
            protected: ProtectedNames::none(),
            hard_links: HardLinks::default(),
            links: LinkRule::Refuse,
            new_names: NewNames::default(),
            write_bits: WriteBits::default(),
            read_only: false,
        }
    }

    /// Returns the policy with another list of protected names.
    pub fn with_protected(self, protected: ProtectedNames) -> FsPolicy {
        FsPolicy { protected, ..self }
    }

    /// Returns the policy with another rule for hard links.
    pub fn with_hard_links(self, hard_links: HardLinks) -> FsPolicy {
        FsPolicy { hard_links, ..self }
    }

    /// Returns the policy with another rule for symbolic links.
    pub fn with_links(self, links: LinkRule) -> FsPolicy {
        FsPolicy { links, ..self }
    }

    /// Returns the policy with another rule for new names.
    pub fn with_new_names(self, new_names: NewNames) -> FsPolicy {
        FsPolicy { new_names, ..self }
    }

    /// Returns the policy with another rule for a file's own permission bits.
    pub fn with_write_bits(self, write_bits: WriteBits) -> FsPolicy {
        FsPolicy { write_bits, ..self }
    }

    /// Returns the policy with changes refused or allowed.
    pub fn with_read_only(self, read_only: bool) -> FsPolicy {
        FsPolicy { read_only, ..self }
    }
}

/// The rule for files with several hard links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HardLinks {
    /// Reads are allowed; a write replaces this name with a separate file and leaves the other names unchanged.
    #[default]
    Replace,
    /// Reads and writes are refused.
    Refuse,
}

/// The rule for symbolic links when reading. A write never follows one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkRule {
    /// Relative links that stay inside are followed.
    #[default]
    ReadInside,
    /// Every link is refused.
    Refuse,
}

/// The rule for names of new files and folders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewNames {
    /// Names must pass [`rel_path::check_new_name`].
    #[default]
    Checked,
    /// Any name; for restoring a file under its former name.
    Any,
}

/// The rule for a file's own permission bits.
///
/// The system itself checks only the folder's permission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteBits {
    /// Refuses a file without any write bit, or one that this process could not write in place.
    #[default]
    Respect,
    /// Ignores them; for applying the changes of a program that had the permission.
    Ignore,
}
