#![doc = include_str!("../README.md")]

mod file;
mod observation;
mod relocation;
mod settling;
mod text;
mod watcher;

pub use file::{DroppedFile, list, read};
pub use observation::{Observation, Observations};
pub use relocation::{move_to_free_name, rename_with_suffix};
pub use settling::{open_for_writing, settling_time};
pub use text::{NotText, TEXT_LIMIT_BYTES, decode_text};
pub use watcher::FolderWatcher;
