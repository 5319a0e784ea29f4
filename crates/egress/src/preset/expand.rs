//! Expands the user's choice to a list of names.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use super::answer::pinned;
use super::tool::{ToolError, Tools};
use super::tools::TOOLS;
use crate::address::{AddressKind, refused_kind};
use crate::allow::{AllowEntry, AllowError, AllowErrorKind, AllowItem, AllowList, NamePattern};
use crate::dial::Outside;

/// The longest look-up of a name that a tool has reported.
const LOOKUP: Duration = Duration::from_secs(5);

/// Presets: the built-in ones, which ask a tool, and those of the user's configuration, which take precedence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Presets {
    own: BTreeMap<String, AllowList>,
}

/// A list, and the entries of each of its presets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expansion {
    /// The names.
    pub list: AllowList,
    /// Each preset with its entries, in the user's order.
    pub presets: Vec<(String, AllowList)>,
}

/// A list that could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PresetError {
    /// The text.
    #[error(transparent)]
    Text(#[from] AllowError),
    /// A tool that did not answer.
    #[error("preset '{name}': {error}")]
    Tool {
        /// The preset.
        name: String,
        /// The reason.
        error: ToolError,
    },
}

impl PresetError {
    /// Returns advice for the user.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        match self {
            PresetError::Text(_) => None,
            PresetError::Tool { error: ToolError::NotAName(_), .. } => {
                Some("give a name with the address, --network allow=NAME:PORT@ADDRESS, and have the tool use the name".to_owned())
            }
            PresetError::Tool { name, .. } => Some(format!(
                "give the names that {name} fetches from: --network allow=NAME,…; or define the preset in [presets] of the \
                 configuration file"
            )),
        }
    }
}

impl Presets {
    /// Adds a preset of the user.
    ///
    /// # Errors
    ///
    /// If the name is not a single label, as presets are written.
    pub fn define(&mut self, name: &str, entries: AllowList) -> Result<(), AllowError> {
        match name.parse()? {
            AllowItem::Preset(name) => {
                self.own.insert(name, entries);
                Ok(())
            }
            AllowItem::Entry(_) => {
                Err(AllowErrorKind::UnknownPreset { name: name.to_owned(), presets: Vec::new() }.into())
            }
        }
    }

    /// Returns the names of all presets.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = TOOLS.iter().map(|(name, _)| (*name).to_owned()).collect();
        names.extend(self.own.keys().filter(|name| !TOOLS.iter().any(|(tool, _)| tool == name)).cloned());
        names
    }

    /// Checks that every preset of a list exists, without asking any tool.
    ///
    /// # Errors
    ///
    /// With the first that does not.
    pub fn check(&self, items: &[AllowItem]) -> Result<(), AllowError> {
        let names = self.names();
        let unknown = items.iter().find_map(|item| match item {
            AllowItem::Preset(name) if !names.contains(name) => Some(name.clone()),
            _ => None,
        });
        unknown.map_or(Ok(()), |name| Err(AllowErrorKind::UnknownPreset { name, presets: names }.into()))
    }

    /// Asks the tools of a list's presets, each once.
    ///
    /// A name from a tool that leads to a private address is dialled there from then on: the user has set up that mirror in the
    /// own network.
    ///
    /// # Errors
    ///
    /// If a preset does not exist, a tool does not answer, or entries contradict each other.
    pub fn expand(
        &self,
        items: &[AllowItem],
        tools: &Tools,
        outside: &dyn Outside,
    ) -> Result<Expansion, PresetError> {
        self.check(items)?;
        let mut entries: Vec<AllowEntry> = Vec::new();
        let mut presets: Vec<(String, AllowList)> = Vec::new();
        for item in items {
            match item {
                AllowItem::Entry(entry) => entries.push(entry.clone()),
                AllowItem::Preset(name) if presets.iter().any(|(other, _)| other == name) => {}
                AllowItem::Preset(name) => {
                    let list = self.preset(name, tools, outside)?;
                    entries.extend_from_slice(list.entries());
                    presets.push((name.clone(), list));
                }
            }
        }
        Ok(Expansion { list: AllowList::new(entries)?, presets })
    }

    fn preset(&self, name: &str, tools: &Tools, outside: &dyn Outside) -> Result<AllowList, PresetError> {
        if let Some(list) = self.own.get(name) {
            return Ok(list.clone());
        }
        let answer = TOOLS.iter().find(|(tool, _)| *tool == name).map(|(_, ask)| ask(tools));
        let entries = answer.unwrap_or(Err(ToolError::Missing));
        let entries = entries.map_err(|error| PresetError::Tool { name: name.to_owned(), error })?;
        Ok(AllowList::new(entries.into_iter().map(|entry| at_home(entry, outside)))?)
    }
}

/// Pins a name of the user's own network to its address.
fn at_home(entry: AllowEntry, outside: &dyn Outside) -> AllowEntry {
    let NamePattern::Exact(name) = &entry.names else { return entry };
    let addresses = outside.resolve(name.as_str(), Instant::now() + LOOKUP).unwrap_or_default();
    let is_private =
        |kind| matches!(kind, AddressKind::Private | AddressKind::Loopback | AddressKind::Shared);
    let is_at_home =
        |address: &IpAddr| refused_kind(*address).is_some_and(is_private) || outside.is_own(*address);
    let private = addresses.into_iter().find(is_at_home);
    match private {
        Some(address) => pinned(entry, address),
        None => entry,
    }
}

impl fmt::Display for Expansion {
    /// Displays one line for each preset: `npm = registry.example:443`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, list)) in self.presets.iter().enumerate() {
            let line_break = if index == 0 { "" } else { "\n" };
            write!(f, "{line_break}{name} = {list}")?;
        }
        Ok(())
    }
}
