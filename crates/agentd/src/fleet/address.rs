//! The address of a fleet as the command line gives it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use cocode_fleet::{FleetAddress, FleetName, FleetTimings, Role};

use crate::exit::{Exit, Failure};

/// The address without an option: the server that `agentd fleet up` starts.
pub(crate) const USUAL_URL: &str = "nats://127.0.0.1:4222";

/// The longest seed of a key, in bytes.
const SEED_BYTES: u64 = 1_024;

/// The options for reaching a fleet, apart from its address.
#[derive(Clone, Debug, Args)]
pub(crate) struct FleetAccess {
    /// The name of the fleet on its server [default: agentd].
    #[arg(long, value_name = "NAME")]
    pub fleet_name: Option<FleetName>,
    /// The file with the seed of this machine's key, as `agentd fleet up` has written it.
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// The certificates of the authority that signed the server's [default: those of this machine].
    #[arg(long, value_name = "FILE")]
    pub authority: Option<PathBuf>,
    #[command(flatten)]
    pub lease: FleetLease,
}

/// The intervals of a fleet, the same on all of its machines. Long runs with many failures shorten them.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FleetLease {
    /// After this time without a word of a host, its tasks are given out again [default: 30].
    #[arg(long = "lease", value_name = "SECONDS", hide = true, value_parser = clap::value_parser!(u16).range(3..=600))]
    pub seconds: Option<u16>,
}

impl FleetLease {
    /// Returns all intervals.
    pub(crate) fn timings(self) -> FleetTimings {
        self.seconds.map_or_else(FleetTimings::default, |seconds| {
            FleetTimings::with_lease(Duration::from_secs(seconds.into()))
        })
    }
}

impl FleetAccess {
    /// Checks whether one of the options is given.
    pub(crate) fn is_given(&self) -> bool {
        self.fleet_name.is_some()
            || self.key_file.is_some()
            || self.authority.is_some()
            || self.lease.seconds.is_some()
    }

    /// Returns the options as words of a command line, each after a space.
    pub(crate) fn words(&self) -> String {
        let name = self.fleet_name.as_ref().map(|name| format!(" --fleet-name {name}"));
        let file = |option: &str, file: &Option<PathBuf>| {
            file.as_ref().map(|file| format!(" {option} {}", file.display()))
        };
        [name, file("--key-file", &self.key_file), file("--authority", &self.authority)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Returns the address with the key.
    pub(crate) fn address(&self, url: &str, role: Role) -> Result<FleetAddress, Failure> {
        let seed = self.key_file.as_deref().map(read_seed).transpose()?;
        let address = FleetAddress {
            seed,
            authority_file: self.authority.clone(),
            ..FleetAddress::new(url, self.fleet_name.clone().unwrap_or_default(), role)
        };
        address.check().map_err(|error| {
            Failure::new(Exit::Usage, error.to_string())
                .advise(format!("give it as `agentd fleet up` prints it, such as {USUAL_URL}"))
        })?;
        Ok(address)
    }
}

/// Reads the seed of a key.
pub(crate) fn read_seed(path: &Path) -> Result<String, Failure> {
    let failed = |why: String| {
        Failure::new(Exit::Usage, format!("the key {}: {why}", path.display()))
            .advise("`agentd fleet up` writes the keys, and prints where they are")
    };
    let mut text = String::new();
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    file.take(SEED_BYTES).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    let seed = text.trim();
    cocode_fleet::UserKey::of_seed(seed).map_err(|error| failed(error.to_string()))?;
    Ok(seed.to_owned())
}
