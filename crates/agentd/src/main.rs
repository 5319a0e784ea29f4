//! `agentd`: the command line over the libraries of this workspace.

mod cache_folders;
mod cli;
mod command_line;
mod commands;
mod common_options;
mod config;
mod exit;
#[cfg(feature = "fleet")]
mod fleet;
mod interrupt;
mod network;
mod views;

use std::process::ExitCode;

use crate::exit::{Exit, Failure, report};
use crate::views::console::Console;

fn main() -> ExitCode {
    // Confined commands are started by a process of this same program, in which this call does not return.
    sandbox_exec::spawner_main_if_requested();
    // Before any thread starts: only a process with a single thread can enter new namespaces.
    let arguments = match workspace_host::review::overlay_process::enter_if_requested() {
        Ok(arguments) => arguments,
        Err(why) => {
            return report(&Failure::new(Exit::Missing, why), Console::new(false, false, false)).into();
        }
    };
    sandbox_exec::give_back_large_blocks();
    let ran = command_line::read(arguments).and_then(|mut invocation| {
        let common = &mut invocation.cli.common;
        let console = Console::new(common.json, common.quiet, common.verbose);
        cache_folders::check(common)?;
        network::settle(common, console)?;
        commands::run(invocation, console)
    });
    ran.unwrap_or_else(|failure| report(&failure, Console::new(false, false, false))).into()
}
