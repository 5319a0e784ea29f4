//! The options of `agentd cocode run` for agents on the hosts of a fleet.

use clap::Args;
use cocode_fleet::ClassName;

use crate::fleet::address::FleetAccess;

#[derive(Debug, Args)]
pub(crate) struct FleetRun {
    /// Let the hosts of a fleet run the agents; this machine judges what they deliver.
    #[arg(long = "fleet", value_name = "URL", conflicts_with_all = ["commands", "parallel", "dry_run"])]
    pub url: Option<String>,
    #[command(flatten)]
    pub access: FleetAccess,
    /// The number of agents of each name, 1 to 1000: NAME-1, NAME-2 and so on.
    #[arg(long, value_name = "N", requires = "url", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub count: Option<u16>,
    /// A label that the hosts must have.
    #[arg(long = "label", value_name = "LABEL", requires = "url")]
    pub labels: Vec<ClassName>,
    /// Submit the tasks and return; `agentd fleet collect` judges what comes of them.
    #[arg(long, requires = "url")]
    pub detach: bool,
}
