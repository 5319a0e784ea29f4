//! Rights of a layer's entries that stay in the layer.

use rel_path::RelPath;

use crate::rights::Right;

/// The largest number that is listed.
pub(crate) const NAMED: usize = 100;

/// An entry of the layer with rights that it does not bring into the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// Its path, also below a folder that is one change.
    pub path: RelPath,
    /// The right.
    pub right: Right,
}
