//! `agentd fleet`: the server of a fleet, its hosts, and requests of people.

mod join;
mod look;
pub(crate) mod options;
mod own_files;
mod server_process;
mod up;

use crate::commands::cocode::fleet_run;
use crate::commands::fleet::options::FleetCommand;
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure, Outcome};
use crate::views::console::Console;

/// Runs a command about a fleet.
pub(crate) fn run(common: &CommonOptions, console: Console, command: &FleetCommand) -> Outcome {
    if common.read_only && !matches!(command, FleetCommand::Status { .. } | FleetCommand::Logs { .. }) {
        let failure = Failure::new(Exit::Refused, "--read-only refuses whatever starts or changes something");
        return Err(failure.advise("`agentd fleet status` and `logs` only look"));
    }
    match command {
        FleetCommand::Up(options) => up::up(console, options),
        FleetCommand::Join(options) => join::join(common, console, options),
        FleetCommand::Status { server } => look::status(console, server),
        FleetCommand::Drain { host, undo, server } => look::drain(console, server, host, !undo),
        FleetCommand::Retry { task, server } => look::retry(common, console, server, task),
        FleetCommand::Collect { server, folder, definitions } => {
            fleet_run::collect(common, console, server, folder, definitions)
        }
        FleetCommand::Logs { task, follow, server } => look::logs(console, server, task, *follow),
    }
}
