#![doc = include_str!("../README.md")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod caller;
mod children;
mod folders;
mod line_meaning;
mod network;
mod processes;
mod skipping;

pub use caller::Caller;
pub use children::{SmallFileSystem, child, folder_of_child};
pub use folders::{copy_folder, names_beneath, write_program};
pub use line_meaning::{LineStories, NumberedFile};
pub use network::RefusingAddress;
pub use processes::is_alive;
pub use skipping::skip;
