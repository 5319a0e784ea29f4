//! Hosts with keys that do what they like, and what the server and home let them do.

mod floods;
mod lies;
mod permissions;
mod reach;
pub(crate) mod secured;
mod updates;
mod wedges;
