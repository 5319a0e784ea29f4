//! Tests through the public API. Confinement that a machine lacks is asserted against the launcher's own report.

#[cfg(test)]
mod attack;
#[cfg(test)]
mod command;
#[cfg(test)]
mod containment;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod forced;
#[cfg(test)]
mod home;
#[cfg(test)]
mod inner_mounts;
#[cfg(test)]
mod layer;
#[cfg(test)]
mod modes;
#[cfg(test)]
mod network;
#[cfg(test)]
mod own_ids;
#[cfg(test)]
mod reserve;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod spawner;
#[cfg(test)]
#[path = "../tricks/mod.rs"]
mod tricks;
