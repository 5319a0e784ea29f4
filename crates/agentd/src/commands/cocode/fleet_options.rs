//! The options of `agentd cocode run` for agents on the hosts of a fleet.

use clap::Args;
use cocode_fleet::ClassName;

use crate::exit::{Exit, Failure};
use crate::fleet::address::FleetAccess;

/// The options for agents of this machine only. With one of them, `requires = "url"` is not enough: the parser does not miss an
/// option that conflicts with a given one.
const LOCAL: [&str; 3] = ["commands", "parallel", "dry_run"];

#[derive(Debug, Args)]
pub(crate) struct FleetRun {
    /// Let the hosts of a fleet run the agents; this machine judges what they deliver.
    #[arg(long = "fleet", value_name = "URL", conflicts_with_all = LOCAL)]
    pub url: Option<String>,
    #[command(flatten)]
    pub access: FleetAccess,
    /// The number of agents of each name, 1 to 1000: NAME-1, NAME-2 and so on.
    #[arg(long, value_name = "N", requires = "url", conflicts_with_all = LOCAL,
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub count: Option<u16>,
    /// A label that the hosts must have.
    #[arg(long = "label", value_name = "LABEL", requires = "url", conflicts_with_all = LOCAL)]
    pub labels: Vec<ClassName>,
    /// Submit the tasks and return; `agentd fleet collect` judges their results.
    #[arg(long, requires = "url", conflicts_with_all = LOCAL)]
    pub detach: bool,
}

impl FleetRun {
    /// Fails if options lead to a fleet and none is named.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.url.is_some() || !self.access.is_given() {
            true => Ok(()),
            false => Err(Failure::new(
                Exit::Usage,
                "--fleet-name, --key-file and --authority lead to a fleet, and no --fleet URL is given",
            )),
        }
    }
}
