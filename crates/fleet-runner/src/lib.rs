#![doc = include_str!("../README.md")]

mod home;
mod host;
mod levels;
mod private_folder;

pub use home::{BaseChain, ChainError, FleetObserver, HomeFolder, HomeJournal, TaskFiles};
pub use host::{HostWork, Slots, Workplaces};
pub use levels::fleet_confinement;
pub use private_folder::make_private_folder;
