#![doc = include_str!("../README.md")]

mod address;
mod allow;
mod refusal;

pub use address::{AddressKind, refused_kind};
pub use allow::{
    AllowEntry, AllowError, AllowErrorKind, AllowItem, AllowList, HostName, MOST_ENTRIES, MOST_NAME_BYTES,
    Match, NameFault, NamePattern, NetworkChoice, Ports, USUAL_PORTS,
};
pub use refusal::Refusal;
