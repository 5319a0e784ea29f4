//! Home's side: submitting, following, and believing nothing that it has not checked.

mod bases;
mod context;
mod deliver;
mod early;
mod events;
mod fleet_home;
mod people;
mod publish;
mod reconcile;
mod step;

pub use early::EarlyConnection;
pub use fleet_home::{FleetHome, HomeConfig};
pub use people::FleetEvents;
