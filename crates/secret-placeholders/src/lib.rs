#![doc = include_str!("../README.md")]

mod addresses;
mod detector;
mod exposure;
mod finder;
mod hunk_context;
mod index;
mod json;
mod key_lines;
mod keyword_lines;
mod map;
mod marker;
mod new_values;
mod private_key;
mod secrets;
mod store;
mod stream;
mod surroundings;
mod withheld;
mod workspace;

pub use detector::{Detector, Span};
pub use index::PlaceholderIndex;
pub use map::merged_maps;
pub use marker::{Marker, markers};
pub use secrets::{RestoreError, Secrets};
pub use store::{MemoryStore, PlaceholderStore, StoreError};
pub use stream::{KeyTracker, StreamMask};
pub use withheld::Withheld;
pub use workspace::PlaceholderWorkspace;
