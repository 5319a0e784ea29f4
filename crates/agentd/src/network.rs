//! The network of commands, settled from what the user chose: presets are asked once, before anything starts.

use std::path::PathBuf;

use egress::{AllowItem, Network, NetworkChoice, SystemOutside, Tools};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use workspace_host::confinement;

use crate::common_options::CommonOptions;
use crate::config::obeyed_options;
use crate::exit::{Exit, Failure};
use crate::views::console::Console;

/// Settles the network of commands, and prints what each preset came to.
///
/// Nothing is done for a command that runs no other programs, or that only writes down how it is to be run.
pub(crate) fn settle(common: &mut CommonOptions, console: Console) -> Result<(), Failure> {
    let command = common.command.as_str();
    // The lists of agents are read later.
    if command == "cocode run" {
        raise_open_files();
    }
    let is_about_agents = command.starts_with("cocode") && !common.given.contains("network");
    if command == "setup" || is_about_agents || !obeyed_options::obeys(command, "network") {
        return Ok(());
    }
    // `call` ends with 0, 1 or 2 only.
    let is_call = command == "call";
    let settled = settled(common).map(|(network, presets)| {
        presets.iter().for_each(|preset| console.notice(&format!("network: {preset}")));
        network
    });
    if matches!(settled, Ok(Network::Names(_))) {
        raise_open_files();
    }
    common.settled_network = settled
        .map_err(|failure| if is_call { Failure { exit: Exit::Usage, ..failure } } else { failure })?;
    Ok(())
}

/// The open files of commands' connections, two for each and one for each that waits, and of everything else.
const OPEN_FILES: u64 = 3 * 1024 + 1024;

/// Raises the limit of open files as far as is allowed: connections to allowed names are made by this process.
fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(OPEN_FILES, |maximum| maximum.min(OPEN_FILES));
    if current.is_some_and(|current| current < wanted) {
        // With the old limit, fewer connections are made at a time.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}

/// Returns the network that the values of `--network` add up to, and a line for each preset that was queried.
pub(crate) fn settled(common: &CommonOptions) -> Result<(Network, Vec<String>), Failure> {
    let items = match combined(&common.network)? {
        Combined::Off => return Ok((Network::Off, Vec::new())),
        Combined::On => return Ok((Network::On, Vec::new())),
        Combined::Allow(items) => items,
    };
    let expansion = common.presets.expand(&items, &tools(common), &SystemOutside::default());
    let expansion = expansion.map_err(|error| {
        let failure = Failure::new(Exit::Usage, format!("--network: {error}"));
        match error.advice() {
            Some(advice) => failure.advise(advice),
            None => failure,
        }
    })?;
    let lines = expansion.to_string().lines().map(str::to_owned).collect();
    Ok((Network::Names(expansion.list), lines))
}

/// All values of `--network` together.
enum Combined {
    Off,
    On,
    Allow(Vec<AllowItem>),
}

fn combined(choices: &[NetworkChoice]) -> Result<Combined, Failure> {
    let mut items = Vec::new();
    for choice in choices {
        match choice {
            NetworkChoice::Allow(more) => items.extend_from_slice(more),
            NetworkChoice::Off | NetworkChoice::On if choices.iter().any(|other| other != choice) => {
                let text = format!("--network {choice} cannot be combined with another value");
                return Err(Failure::new(Exit::Usage, text)
                    .advise("give on or off alone, or as many of allow=… as you like"));
            }
            NetworkChoice::Off => return Ok(Combined::Off),
            NetworkChoice::On => return Ok(Combined::On),
        }
    }
    Ok(if items.is_empty() { Combined::Off } else { Combined::Allow(items) })
}

/// The user's tools. No file in a folder that commands may change affects their answers.
fn tools(common: &CommonOptions) -> Tools {
    let writable = [&common.workspace].into_iter().chain(&common.base).chain(&common.cache);
    let writable: Vec<PathBuf> =
        writable.map(|folder| std::path::absolute(folder).unwrap_or_else(|_| folder.clone())).collect();
    // Tools look for settings in all folders above: inside the home folder, they are the user's own.
    let home = confinement::home().filter(|home| home.is_absolute());
    Tools::of_this_process(writable, home.unwrap_or_else(std::env::temp_dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combine(values: &[&str]) -> Result<String, String> {
        let choices: Vec<NetworkChoice> = values.iter().map(|value| value.parse().unwrap()).collect();
        match combined(&choices) {
            Ok(Combined::Off) => Ok("off".to_owned()),
            Ok(Combined::On) => Ok("on".to_owned()),
            Ok(Combined::Allow(items)) => Ok(NetworkChoice::Allow(items).to_string()),
            Err(failure) => Err(failure.message),
        }
    }

    #[test]
    fn lists_add_up_and_nothing_else_does() {
        assert_eq!(combine(&["off"]), Ok("off".into()));
        assert_eq!(combine(&["on", "on"]), Ok("on".into()));
        assert_eq!(combine(&[]), Ok("off".into()));
        let lists = ["allow=a.example,npm", "allow=b.example:22"];
        assert_eq!(combine(&lists), Ok("allow=a.example,npm,b.example:22".into()));
        for mixed in [["on", "off"], ["allow=a.example", "on"], ["off", "allow=a.example"]] {
            assert!(combine(&mixed).unwrap_err().contains("cannot be combined with"), "{mixed:?}");
        }
    }
}
