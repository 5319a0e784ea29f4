//! The size of a bundle.

/// The size of a bundle that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleSize {
    /// Its length in bytes, header included.
    pub bytes: u64,
    /// The number of objects in its pack.
    pub objects: u32,
}
