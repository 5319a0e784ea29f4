//! A host's side: its slots, and a task in one of them.

mod slots;
mod work;
mod workplaces;

pub use slots::Slots;
pub use work::HostWork;
pub use workplaces::Workplaces;
