//! The way to a fleet from the command line.

pub(crate) mod address;
pub(crate) mod early_home;
