//! An allow-list: entries, bounded and without contradictions.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::choice::{AllowItem, parse_items};
use super::entry::AllowEntry;
use super::error::{AllowError, AllowErrorKind};
use super::host_name::HostName;

/// The most entries of a list.
pub const MOST_ENTRIES: usize = 256;

/// Names that commands may connect to, sorted, each once.
///
/// Displays as the text that it parses from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AllowList {
    entries: Vec<AllowEntry>,
}

/// An allowed connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The address to dial; `None` to resolve the name.
    pub address: Option<IpAddr>,
}

impl AllowList {
    /// Makes a list.
    ///
    /// # Errors
    ///
    /// If there are more than [`MOST_ENTRIES`], or two that contradict each other.
    pub fn new(entries: impl IntoIterator<Item = AllowEntry>) -> Result<AllowList, AllowError> {
        let mut entries: Vec<AllowEntry> = entries.into_iter().collect();
        entries.sort();
        entries.dedup();
        if entries.len() > MOST_ENTRIES {
            return Err(AllowErrorKind::TooMany.into());
        }
        let mut dialled: BTreeMap<_, &AllowEntry> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.address.is_some()) {
            if let Some(other) = dialled.insert((&entry.names, entry.ports), entry) {
                return Err(AllowErrorKind::TwoAddresses(other.clone().into(), entry.clone().into()).into());
            }
        }
        Ok(AllowList { entries })
    }

    /// Returns the entries.
    #[must_use]
    pub fn entries(&self) -> &[AllowEntry] {
        &self.entries
    }

    /// Checks whether the list allows nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Checks whether any port of a name is allowed, so that the name resolves for a command.
    #[must_use]
    pub fn has_name(&self, name: &HostName) -> bool {
        self.entries.iter().any(|entry| entry.names.matches(name))
    }

    /// Finds the narrowest entry that allows a port of a name: an exact name before a wildcard, a longer wildcard before a
    /// shorter one, a named port before the usual ones, an address before none.
    #[must_use]
    pub fn find(&self, name: &HostName, port: u16) -> Option<Match> {
        let allowing = self.entries.iter().filter(|entry| entry.allows(name, port));
        let narrowest =
            allowing.max_by_key(|entry| (entry.names.narrowness(), entry.ports, entry.address.is_some()))?;
        Some(Match { address: narrowest.address })
    }
}

impl FromStr for AllowList {
    type Err = AllowError;

    /// Parses a list that has no presets.
    fn from_str(text: &str) -> Result<AllowList, AllowError> {
        let items = parse_items(text)?;
        let entry = |item| match item {
            AllowItem::Entry(entry) => Ok(entry),
            AllowItem::Preset(name) => Err(AllowErrorKind::UnknownPreset { name, presets: Vec::new() }),
        };
        AllowList::new(items.into_iter().map(entry).collect::<Result<Vec<_>, _>>()?)
    }
}

impl fmt::Display for AllowList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, entry) in self.entries.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{entry}")?;
        }
        Ok(())
    }
}
