//! The limits on the length of a path.

/// The most components that a path may have, `..` steps included.
pub const MAX_COMPONENTS: usize = 64;

/// The most bytes that one component may have.
pub const MAX_COMPONENT_BYTES: usize = 255;

/// The most bytes that a whole path may have, slashes between components included.
pub const MAX_PATH_BYTES: usize = 4096;
