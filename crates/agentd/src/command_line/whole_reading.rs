//! Test support: the reading of a command line by the whole definition, which every shorter definition has to agree with.

use std::ffi::OsString;

use clap::FromArgMatches;
use clap::error::ErrorKind;

use crate::cli::Cli;
use crate::config::definition;

/// Returns a command line with the program's name in front.
pub(super) fn words(line: &[&str]) -> Vec<OsString> {
    ["agentd"].iter().chain(line).map(OsString::from).collect()
}

/// Reads a command line by the whole definition, and compares with what a shorter one has read.
pub(super) fn assert_read_alike(arguments: &[OsString], short: Cli) {
    let whole = definition().try_get_matches_from(arguments).map_err(|error| error.kind());
    let whole = whole.and_then(|matches| Cli::from_arg_matches(&matches).map_err(|error| error.kind()));
    assert_eq!(format!("{:?}", Ok::<_, ErrorKind>(short)), format!("{whole:?}"), "{arguments:?}");
}
