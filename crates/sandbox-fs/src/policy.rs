//! What a root allows.

use rel_path::ProtectedNames;

/// What a root allows. Plain data; the same value may serve any number of roots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FsPolicy {
    /// Names that are never written, removed or renamed, and names of which changes are to be pointed out by the caller.
    pub protected: ProtectedNames,
    /// What happens to files with several names.
    pub hard_links: HardLinks,
    /// Whether links are followed when reading.
    pub links: LinkRule,
    /// Which names new files and folders may have.
    pub new_names: NewNames,
    /// Whether a file's own permission bits keep it from being replaced and removed.
    pub write_bits: WriteBits,
    /// Refuses every change when set.
    pub read_only: bool,
}

impl FsPolicy {
    /// The policy for a folder of the program's own, which no message can name: nothing protected, no link followed.
    pub fn private() -> FsPolicy {
        FsPolicy { protected: ProtectedNames::none(), links: LinkRule::Refuse, ..FsPolicy::default() }
    }

    /// The same with another list of protected names.
    pub fn with_protected(self, protected: ProtectedNames) -> FsPolicy {
        FsPolicy { protected, ..self }
    }

    /// The same with another rule for files with several names.
    pub fn with_hard_links(self, hard_links: HardLinks) -> FsPolicy {
        FsPolicy { hard_links, ..self }
    }

    /// The same with another rule for links.
    pub fn with_links(self, links: LinkRule) -> FsPolicy {
        FsPolicy { links, ..self }
    }

    /// The same with another rule for new names.
    pub fn with_new_names(self, new_names: NewNames) -> FsPolicy {
        FsPolicy { new_names, ..self }
    }

    /// The same with another rule for files that nobody may write.
    pub fn with_write_bits(self, write_bits: WriteBits) -> FsPolicy {
        FsPolicy { write_bits, ..self }
    }

    /// The same, with every change refused or not.
    pub fn with_read_only(self, read_only: bool) -> FsPolicy {
        FsPolicy { read_only, ..self }
    }
}

/// What happens to files with several hard links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HardLinks {
    /// They are read; a write gives the name a file of its own and leaves the other names alone.
    #[default]
    Replace,
    /// They are neither read nor written.
    Refuse,
}

/// What happens to symbolic links when reading. No write ever goes through one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkRule {
    /// Relative links that stay inside are followed.
    #[default]
    ReadInside,
    /// Every link is refused.
    Refuse,
}

/// Which names new files and folders may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewNames {
    /// Those that [`rel_path::check_new_name`] accepts.
    #[default]
    Checked,
    /// Any; for putting back a file that already had its name.
    Any,
}

/// Whether a file's own permission bits keep it from being replaced and removed.
///
/// The system itself asks only for the folder's permission then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteBits {
    /// A file without any write bit, or that this process could not write in place, stays.
    #[default]
    Respect,
    /// They decide nothing; for carrying out what a program has done that was allowed to do it.
    Ignore,
}
