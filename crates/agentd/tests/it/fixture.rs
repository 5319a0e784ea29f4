//! The fixtures of the tests: projects, daemons, and clients of every transport.

pub(crate) mod at_once;
pub(crate) mod daemon;
pub(crate) mod display;
pub(crate) mod line_client;
pub(crate) mod memory;
pub(crate) mod project;
pub(crate) mod socket_client;
pub(crate) mod tmux;
pub(crate) mod web_server;
