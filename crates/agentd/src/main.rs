//! `agentd`: the command line over the libraries of this workspace.

mod bookkeeping;
mod call_pool;
mod cli;
mod client;
mod clipboard;
mod cocode_cli;
mod code_index_access;
mod command_line;
mod commands;
mod config;
mod confinement;
mod console;
mod covering;
mod exit;
mod garbage_keeper;
mod history_file;
mod http;
mod interrupt;
mod json_rpc;
mod line_input;
mod link;
mod linked_worktree;
mod mcp;
mod obeyed_names;
mod owner;
mod owner_protocol;
mod plan_view;
mod progress;
mod remote_code_index;
mod request_folder;
mod session_failure;
mod setup;
mod shared_workspace;
mod side_runtime;
mod state;
mod state_birth;
mod state_ignore;
mod state_ownership;
mod state_socket;
mod summarizer_command;
mod terminal_text;
mod undo_request;
mod user_file;

use std::process::ExitCode;

use crate::console::Console;
use crate::exit::{Exit, Failure};

fn main() -> ExitCode {
    // Confined commands are started by a process of this same program; it never comes back from here.
    sandbox_exec::spawner_main_if_requested();
    let arguments = match covering::enter_if_requested() {
        Ok(arguments) => arguments,
        Err(why) => {
            return Failure::new(Exit::Missing, why).tell(Console::new(false, false, false)).into();
        }
    };
    let ran = command_line::read(arguments).and_then(|invocation| {
        let common = &invocation.cli.common;
        let console = Console::new(common.json, common.quiet, common.verbose);
        commands::run(invocation, console)
    });
    ran.unwrap_or_else(|failure| failure.tell(Console::new(false, false, false))).into()
}
