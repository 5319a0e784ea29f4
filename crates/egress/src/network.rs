//! The network of commands, resolved from the user's choice.

use std::fmt;

use crate::allow::AllowList;

/// The network of commands.
///
/// Displays as the value of `--network` that means the same: `off`, `on` or `allow=NAME,…`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// None.
    #[default]
    Off,
    /// All of it.
    On,
    /// These names.
    Names(AllowList),
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Network::Off => f.write_str("off"),
            Network::On => f.write_str("on"),
            Network::Names(list) => write!(f, "allow={list}"),
        }
    }
}
