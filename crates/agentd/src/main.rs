//! `agentd`: the command line over the libraries of this workspace.

mod call_pool;
mod cli;
mod client;
mod clipboard;
mod cocode_cli;
mod code_index_access;
mod commands;
mod confinement;
mod console;
mod covering;
mod exit;
mod history_file;
mod http;
mod interrupt;
mod json_rpc;
mod line_input;
mod link;
mod mcp;
mod owner;
mod owner_protocol;
mod plan_view;
mod progress;
mod remote_code_index;
mod request_folder;
mod session_failure;
mod setup;
mod shared_workspace;
mod state;
mod state_birth;
mod state_socket;
mod summarizer_command;
mod undo_request;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::console::Console;
use crate::exit::Exit;

fn main() -> ExitCode {
    // Confined commands are started by a process of this same program; it never comes back from here.
    sandbox_exec::spawner_main_if_requested();
    let arguments = match covering::enter_if_requested() {
        Ok(arguments) => arguments,
        Err(why) => {
            Console::new(false, false, false).notice(&format!("agentd: {why}"));
            return Exit::Missing.into();
        }
    };
    let cli = Cli::parse_from(arguments);
    let console = Console::new(cli.common.json, cli.common.quiet, cli.common.verbose);
    match commands::run(cli, console) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            if failure.exit != Exit::Interrupted || !failure.message.is_empty() {
                console.notice(&format!("agentd: {}", failure.message));
            }
            if let Some(advice) = &failure.advice {
                console.notice(&format!("  {advice}"));
            }
            failure.exit.into()
        }
    }
}
