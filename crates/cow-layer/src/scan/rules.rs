//! The limits of a scan, and the folders that count as one change.

use std::fmt;

use rel_path::RelPath;

/// The limits of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScanLimits {
    /// The largest number of entries that are read, in the layer and in removed folders; more is an error.
    pub entries: u64,
    /// A new or removed folder with more entries below it is one change ([`LayerChange::tree`]).
    ///
    /// [`LayerChange::tree`]: crate::LayerChange::tree
    pub tree_entries: u64,
}

impl Default for ScanLimits {
    /// Returns two million entries, and 10,000 in one folder.
    fn default() -> ScanLimits {
        ScanLimits { entries: 2_000_000, tree_entries: 10_000 }
    }
}

impl ScanLimits {
    /// Returns the limits with another number of entries of a folder that is listed one by one.
    pub fn with_tree_entries(self, tree_entries: u64) -> ScanLimits {
        ScanLimits { tree_entries, ..self }
    }

    /// Returns the limits with another number of entries that are read.
    pub fn with_entries(self, entries: u64) -> ScanLimits {
        ScanLimits { entries, ..self }
    }
}

/// The rules of a scan.
#[derive(Clone, Copy)]
pub struct ScanRules<'a> {
    pub(crate) limits: ScanLimits,
    pub(crate) whole: &'a dyn Fn(&RelPath) -> bool,
    pub(crate) written_through: &'a [RelPath],
}

impl<'a> ScanRules<'a> {
    /// Lists new and removed folders entry by entry, up to a limit.
    pub fn new(limits: ScanLimits) -> ScanRules<'a> {
        ScanRules { limits, whole: &|_| false, written_through: &[] }
    }

    /// Makes a folder one change if `whole` returns `true` for it and the command made or removed all of it.
    /// `whole` is called for such folders only.
    pub fn whole_folders(self, whole: &'a dyn Fn(&RelPath) -> bool) -> ScanRules<'a> {
        ScanRules { whole, ..self }
    }

    /// Names folders that the command changed directly, as long as they were there: their times say nothing about other
    /// programs, and none of their entries is `saved_meanwhile`.
    pub fn written_through(self, written_through: &'a [RelPath]) -> ScanRules<'a> {
        ScanRules { written_through, ..self }
    }
}

impl Default for ScanRules<'_> {
    fn default() -> Self {
        ScanRules::new(ScanLimits::default())
    }
}

impl fmt::Debug for ScanRules<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ScanRules").field("limits", &self.limits).finish_non_exhaustive()
    }
}
