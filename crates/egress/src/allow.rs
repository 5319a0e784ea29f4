//! Names that commands may connect to: parsed from the user's text, matched, displayed.

mod choice;
mod entry;
mod error;
mod host_name;
mod list;

pub use choice::{AllowItem, NetworkChoice};
pub use entry::{AllowEntry, NamePattern, Ports, USUAL_PORTS};
pub use error::{AllowError, AllowErrorKind};
pub use host_name::{HostName, MOST_NAME_BYTES, NameFault};
pub use list::{AllowList, MOST_ENTRIES, Match};
