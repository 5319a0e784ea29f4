//! Changes that wait for a person: proposals from sessions and from clients, tried, landed in part, and sent back.

mod clients;
mod crashes;
mod handover;
mod sessions;
