//! Sentences for the model about the surroundings of its commands.

use egress::Network;

use crate::common_options::CommonOptions;

/// Returns the sentences: network, time, and what is not listed.
pub(crate) fn surroundings(common: &CommonOptions) -> Vec<String> {
    let network = match &common.settled_network {
        Network::Off => {
            "Commands have no network: nothing can be downloaded or installed, so use what is there."
                .to_owned()
        }
        Network::On => "Commands have the network, and may install what the project needs.".to_owned(),
        Network::Names(names) => format!(
            "Commands reach these names on the network and no others: {}. Nothing from elsewhere can be installed.",
            shortened(&names.to_string().replace(',', ", "))
        ),
    };
    let seconds = common.command_timeout().as_secs();
    vec![
        network,
        format!("A command is ended after {seconds} seconds; the user can raise that with --timeout."),
        "Files that git ignores are not listed; READ_FILE and commands see them.".to_owned(),
    ]
}

/// The most characters of a list of names.
const NAMES_CHARACTERS: usize = 400;

fn shortened(names: &str) -> String {
    match names.char_indices().nth(NAMES_CHARACTERS) {
        Some((end, _)) => {
            format!("{} and others", names[..end].rsplit_once(", ").map_or("", |(whole, _)| whole))
        }
        None => names.to_owned(),
    }
}
