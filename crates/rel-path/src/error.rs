//! Why a text is not a path beneath a root.

use crate::limits::{MAX_COMPONENT_BYTES, MAX_COMPONENTS, MAX_PATH_BYTES};

/// Why a text or a name was not accepted as a path beneath a root.
///
/// No variant carries the offending text: an absolute path would tell about the machine, and the caller has the
/// text anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The text is empty. Where a listing is asked for, [`RelPath::parse_folder`](crate::RelPath::parse_folder)
    /// takes it as the root.
    #[error("the path is empty")]
    Empty,
    /// The text is absolute and not beneath any spelling of the root.
    #[error("the path is absolute and does not begin with the workspace folder")]
    Absolute,
    /// The path climbs above its root on paper, whether or not its parts exist.
    #[error("the path leaves the workspace")]
    Escape,
    /// The text holds a NUL character.
    #[error("the path contains a NUL character")]
    Nul,
    /// The whole path is too long.
    #[error("the path has {bytes} bytes, more than {MAX_PATH_BYTES}")]
    TooLong {
        /// How many bytes the path has.
        bytes: usize,
    },
    /// The path has too many components.
    #[error("the path has more than {MAX_COMPONENTS} components")]
    TooManyComponents,
    /// One component is too long.
    #[error("component {component} of the path has {bytes} bytes, more than {MAX_COMPONENT_BYTES}")]
    ComponentTooLong {
        /// Which component, 1-based.
        component: usize,
        /// How many bytes it has.
        bytes: usize,
    },
    /// A name given as a single component is not one: it is `.` or `..`, or contains a slash.
    #[error("the name is not a single path component")]
    NotAName,
}
