//! Changes that wait for a person: proposals from sessions and from clients, tried, landed in part, and sent back.

mod at_terminal;
mod clients;
mod crashes;
mod damaged;
mod expected_files;
mod handover;
mod outlived;
mod plain;
mod recoveries;
mod sessions;
mod waiting_reply;
