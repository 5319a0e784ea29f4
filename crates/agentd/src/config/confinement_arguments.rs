//! The options that confine another process like this one.

use workspace_host::confinement::absolute_text;

use crate::common_options::{CommonOptions, Secrecy};
use crate::config::NO_FILE;

/// Returns the options that confine a server started later as the command line asks, except for folders. The server reads
/// the configuration file itself.
pub(crate) fn given_arguments(common: &CommonOptions) -> Vec<String> {
    let config = common.config.iter().flat_map(|file| ["--config".to_owned(), absolute_text(file)]);
    // Presets are asked again by the server.
    let network = common.network.iter().map(ToString::to_string).collect();
    let given = arguments(common, network).into_iter().filter(|(name, _)| common.given.contains(*name));
    config.chain(given.flat_map(|(_, words)| words)).collect()
}

/// Returns the options that confine a process started now like this one, whatever a configuration file says by then, except
/// for folders.
pub(crate) fn settled_arguments(common: &CommonOptions) -> Vec<String> {
    let no_file = ["--config", NO_FILE].map(str::to_owned).into_iter();
    let network = vec![common.settled_network.to_string()];
    no_file.chain(arguments(common, network).into_iter().flat_map(|(_, words)| words)).collect()
}

/// The options about the confinement of commands, by their long names, as the command line has them.
fn arguments(common: &CommonOptions, network: Vec<String>) -> Vec<(&'static str, Vec<String>)> {
    let valued = |name: &'static str, value: String| (name, vec![format!("--{name}"), value]);
    let mut arguments = Vec::new();
    if let Some(sandbox) = &common.sandbox {
        arguments.push(valued("sandbox", sandbox.to_string()));
    }
    arguments.extend(network.into_iter().map(|value| valued("network", value)));
    arguments.push(valued("layer", common.layer.to_string()));
    arguments.push(valued("home", common.home.to_string()));
    arguments.push(valued("home-limit", common.home_limit.to_string()));
    arguments.extend(common.cache.iter().map(|folder| valued("cache", absolute_text(folder))));
    for (name, given) in
        [("protect", &common.protect), ("ask-about", &common.ask_about), ("unprotect", &common.unprotect)]
    {
        arguments.extend(given.iter().map(|given| (name, vec![format!("--{name}={given}")])));
    }
    let secrets = if common.secrets == Secrecy::Show { "show" } else { "mask" };
    arguments.push(valued("secrets", secrets.to_owned()));
    arguments
        .extend(common.read_secret.iter().map(|name| ("read-secret", vec![format!("--read-secret={name}")])));
    if let Some(timeout) = common.timeout {
        arguments.push(valued("timeout", timeout.as_secs().to_string()));
    }
    // An explicit `off` overrides the configuration file that a later server reads.
    let read_only = if common.read_only { "--read-only" } else { "--read-only=off" };
    arguments.push(("read-only", vec![read_only.to_owned()]));
    arguments
}
