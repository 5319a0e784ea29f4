#![doc = include_str!("../README.md")]

mod address;
mod allow;
mod dial;
mod network;
mod outward;
mod preset;
mod refusal;

pub use address::{AddressKind, refused_kind};
pub use allow::{
    AllowEntry, AllowError, AllowErrorKind, AllowItem, AllowList, HostName, MOST_ENTRIES, MOST_NAME_BYTES,
    Match, NameFault, NamePattern, NetworkChoice, Ports, USUAL_PORTS,
};
pub use dial::{DialLimits, Dialer, Grant, Outside, Proxy, ProxyError, ResolveError, SystemOutside};
pub use network::Network;
pub use outward::AllowedNetwork;
pub use preset::{Expansion, PresetError, Presets, ToolError, Tools};
pub use refusal::Refusal;
