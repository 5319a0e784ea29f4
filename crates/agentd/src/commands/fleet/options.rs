//! The command line of `agentd fleet` as types.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use cocode_fleet::{ClassName, FleetAddress, FleetName, HostName, Role, TaskName};

use crate::commands::cocode::options::{CocodeDefinitions, WorktreesFolder};
use crate::exit::Failure;
use crate::fleet::address::{FleetAccess, FleetLease, USUAL_URL};

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Start a server for a fleet, and print how hosts join it.
    Up(UpOptions),
    /// Take tasks from a fleet, and run their agents here.
    Join(JoinOptions),
    /// List the hosts of a fleet and its tasks.
    Status {
        #[command(flatten)]
        server: ServerChoice,
    },
    /// Let a host take no new tasks; its running tasks continue.
    Drain {
        /// The host.
        host: HostName,
        /// Let it take tasks again.
        #[arg(long)]
        undo: bool,
        #[command(flatten)]
        server: ServerChoice,
    },
    /// Give out a task again that was given up or cancelled.
    Retry {
        /// The task, as `agentd fleet status` names it.
        #[arg(value_name = "RUN/AGENT")]
        task: TaskName,
        #[command(flatten)]
        server: ServerChoice,
    },
    /// Judge the results of tasks whose submitter has ended, until none is unresolved.
    Collect {
        #[command(flatten)]
        server: ServerChoice,
        #[command(flatten)]
        folder: WorktreesFolder,
        #[command(flatten)]
        definitions: CocodeDefinitions,
    },
    /// Print the hosts' messages about a task.
    Logs {
        /// The task, as `agentd fleet status` names it.
        #[arg(value_name = "RUN/AGENT")]
        task: TaskName,
        /// Go on until interrupted.
        #[arg(long, short)]
        follow: bool,
        #[command(flatten)]
        server: ServerChoice,
    },
}

/// The server of a fleet, for people.
#[derive(Debug, Args)]
pub(crate) struct ServerChoice {
    /// The server.
    #[arg(long, value_name = "URL", default_value = USUAL_URL)]
    pub url: String,
    #[command(flatten)]
    pub access: FleetAccess,
}

impl ServerChoice {
    /// Returns the address, in the role of home.
    pub(crate) fn address(&self) -> Result<FleetAddress, Failure> {
        self.access.address(&self.url, Role::Home)
    }
}

#[derive(Debug, Args)]
pub(crate) struct UpOptions {
    /// The name of the fleet.
    #[arg(long, value_name = "NAME", default_value = "agentd")]
    pub fleet_name: FleetName,
    /// The address and port to listen on; any but this machine's own needs --tls-certificate, --tls-key and --host.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4222")]
    pub listen: SocketAddr,
    /// A host that may join, with its own key; without any, every program of this machine may.
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<HostName>,
    /// The server's certificate, with those between it and the authority.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// The certificate's private key.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// The certificates of the authority that signed the server's [default: those in the file of the server's certificate].
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub authority: Option<PathBuf>,
    /// The folder for configuration, keys and everything that the server stores [default: in the user's state folder].
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Write configuration and keys, and start nothing.
    #[arg(long)]
    pub write_only: bool,
    #[command(flatten)]
    pub lease: FleetLease,
}

#[derive(Debug, Args)]
pub(crate) struct JoinOptions {
    /// The server.
    #[arg(value_name = "URL")]
    pub url: String,
    #[command(flatten)]
    pub access: FleetAccess,
    /// The name of this host [default: that of the machine].
    #[arg(long, value_name = "NAME")]
    pub host_name: Option<HostName>,
    /// The number of agents at once, 1 to 64 [default: half of the processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub slots: Option<u8>,
    /// A label, such as `gpu`: tasks of that class come to hosts that have it.
    #[arg(long = "label", value_name = "LABEL")]
    pub labels: Vec<ClassName>,
    /// The folder for bases and the work of agents, not within the user's state folder [default: in the user's data folder].
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    #[command(flatten)]
    pub definitions: CocodeDefinitions,
}
