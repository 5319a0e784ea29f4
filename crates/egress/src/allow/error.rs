//! Errors of allow-lists, with their positions.

use std::net::IpAddr;

use super::entry::AllowEntry;
use super::host_name::NameFault;
use super::list::MOST_ENTRIES;

/// A text that is not an allow-list.
///
/// Displays as `entry 2, column 18: …`; without the position if the list was not parsed from a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowError {
    /// The reason.
    pub kind: AllowErrorKind,
    /// The entry and the column of its fault in characters, both from 1.
    pub position: Option<(usize, usize)>,
}

/// The fault of an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllowErrorKind {
    /// Nothing between two commas.
    #[error("an entry is missing: write NAME, NAME:PORT or NAME:PORT@ADDRESS")]
    EmptyEntry,
    /// The name.
    #[error("{0}")]
    Name(#[from] NameFault),
    /// A name with something before it, as in a URL.
    #[error("give the name alone, without '{0}'")]
    NotOnlyAName(&'static str),
    /// `*` alone or at another position than the first label.
    #[error(
        "a wildcard stands for the first labels only, as in *.cdn.example; --network on allows every name"
    )]
    Wildcard,
    /// `*.com`.
    #[error("a wildcard needs at least two labels after it, as in *.cdn.example")]
    WideWildcard,
    /// Not a number from 1 to 65535.
    #[error("'{0}' is not a port: give a number from 1 to 65535")]
    Port(String),
    /// Not an IP address.
    #[error("'{0}' is not an address: give one such as 10.0.0.5 or [fd00::5]")]
    Address(String),
    /// An address that no connection can be made to.
    #[error("no connection can be made to {0}: give the address of one machine")]
    UnusableAddress(IpAddr),
    /// A single label that is not a preset.
    #[error("there is no preset '{name}'{}; a host of one label is written with its port, {name}:443", there_are(.presets))]
    UnknownPreset {
        /// The label.
        name: String,
        /// The existing presets.
        presets: Vec<String>,
    },
    /// The same names and ports at two addresses.
    #[error("{0} and {1} name two addresses for one name and port: leave one out")]
    TwoAddresses(Box<AllowEntry>, Box<AllowEntry>),
    /// More than [`MOST_ENTRIES`].
    #[error("a list has at most {MOST_ENTRIES} entries")]
    TooMany,
    /// Not a valid value.
    #[error("give on, off or allow=NAME[:PORT][@ADDRESS],…")]
    Choice,
}

impl std::fmt::Display for AllowError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some((entry, column)) = self.position {
            write!(f, "entry {entry}, column {column}: ")?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for AllowError {}

impl From<AllowErrorKind> for AllowError {
    fn from(kind: AllowErrorKind) -> AllowError {
        AllowError { kind, position: None }
    }
}

fn there_are(presets: &[String]) -> String {
    if presets.is_empty() { String::new() } else { format!(" (there are {})", presets.join(", ")) }
}
