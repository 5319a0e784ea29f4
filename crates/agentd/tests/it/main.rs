//! Tests of `agentd` through the built program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod at_once;
mod bad_clients;
mod bad_envelopes;
mod budgets;
mod choices;
mod cocode;
mod cocode_crashes;
mod cocode_desk;
mod cocode_disk;
mod cocode_logs;
mod cocode_options;
mod cocode_paste;
mod code_indexes;
mod configuration;
mod conversations;
mod cost;
mod crashes;
mod daemon;
mod damage;
mod envelopes;
mod exit_codes;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod full_disk;
mod garbage;
mod holders;
mod hostile;
#[path = "../hostile/mod.rs"]
mod hostile_table;
mod inbox;
mod interrupts;
mod line_client;
mod line_numbers;
mod linked_worktrees;
mod llm4s;
mod load;
mod mcp;
mod one_step;
mod owners;
mod places;
mod processes;
mod project;
mod real_clients;
mod replays;
mod request_folders;
mod setup;
mod shell_help;
mod skip;
mod socket_client;
mod state_folders;
mod stopped;
mod transcripts;
mod trials;
#[path = "../../../sandbox-exec/tests/tricks/mod.rs"]
mod tricks;
mod undo;
mod waiting_calls;
mod wap;
mod web;
mod web_server;
