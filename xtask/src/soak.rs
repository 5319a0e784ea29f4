//! The long runs of the property, crash and race tests.

mod all;
mod fleet_size;
mod properties;
mod run;

pub use fleet_size::FleetSize;
pub use properties::soak;
pub use run::Soak;
