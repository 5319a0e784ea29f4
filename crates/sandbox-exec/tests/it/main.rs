//! Tests through the public API. What cannot be had on a machine is asserted against the launcher's own report.

mod commands;
mod ground;
mod kills;
mod output;
mod refusals;
