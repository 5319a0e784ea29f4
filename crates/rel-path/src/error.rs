//! The error for a text that is not a path below a root.

use crate::limits::{MAX_COMPONENT_BYTES, MAX_COMPONENTS, MAX_PATH_BYTES};

/// The reason why a text or a name is not a path below a root.
///
/// No variant carries the offending text: an absolute path would reveal the machine's layout, and the caller
/// has the text anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The text is empty. For listings, [`RelPath::parse_folder`](crate::RelPath::parse_folder) takes it as
    /// the root.
    #[error("the path is empty")]
    Empty,
    /// The text is absolute and not below any spelling of the root.
    #[error("the path is absolute and does not begin with the workspace folder")]
    Absolute,
    /// The path climbs above its root lexically, whether or not its parts exist.
    #[error("the path leaves the workspace")]
    Escape,
    /// The text holds a NUL character.
    #[error("the path contains a NUL character")]
    Nul,
    /// The whole path is too long.
    #[error("the path has {bytes} bytes, more than {MAX_PATH_BYTES}")]
    TooLong {
        /// The length of the path in bytes.
        bytes: usize,
    },
    /// The path has too many components.
    #[error("the path has more than {MAX_COMPONENTS} components")]
    TooManyComponents,
    /// One component is too long.
    #[error("component {component} of the path has {bytes} bytes, more than {MAX_COMPONENT_BYTES}")]
    ComponentTooLong {
        /// The number of the component, 1-based.
        component: usize,
        /// Its length in bytes.
        bytes: usize,
    },
    /// A name given as a single component is not one: it is `.` or `..`, or contains a slash.
    #[error("the name is not a single path component")]
    NotAName,
}
