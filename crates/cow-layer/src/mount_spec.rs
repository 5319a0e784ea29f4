//! The folders of a mount.

use std::path::PathBuf;

/// The folders of one overlay mount, as plain data for the program that mounts it. Every path is absolute and
/// without links.
///
/// The mount keeps its marks in the extended attributes `user.overlay.*` (`userxattr`), for every user: that is the
/// only family that an ordinary user may write, and one family needs one reader. Redirects, partial copies and the
/// index must be off: [`Layer::changes`](crate::Layer::changes) reads none of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MountSpec {
    /// The folder that stays unchanged: the workspace.
    pub lower: PathBuf,
    /// The folder that receives the changes.
    pub upper: PathBuf,
    /// The folder that the file system needs for itself.
    pub work: PathBuf,
}
