//! A resource that a client follows: one of the workspace or of a contribution.

use std::fmt;

use super::ResourceName;

/// The name of a followed resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Followed {
    /// A resource of the workspace, which the server polls.
    OfWorkspace(ResourceName),
    /// A resource of a contribution, which reports its changes.
    Contributed(String),
}

impl fmt::Display for Followed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Followed::OfWorkspace(name) => name.fmt(formatter),
            Followed::Contributed(uri) => uri.fmt(formatter),
        }
    }
}
