//! The folders of `--cache`, checked before anything starts.

use crate::common_options::CommonOptions;
use crate::config::obeyed_options;
use crate::exit::{Exit, Failure};

/// Checks that each folder that commands are given is there: without it none could be started, and the reason given then may
/// name no path outside the workspace.
///
/// Nothing is checked for a command that runs no other programs, or that only writes down how it is to be run.
pub(crate) fn check(common: &CommonOptions) -> Result<(), Failure> {
    if common.command == "setup" || !obeyed_options::obeys(&common.command, "cache") {
        return Ok(());
    }
    match common.cache.iter().find(|folder| !folder.is_dir()) {
        None => Ok(()),
        Some(folder) => {
            let text = format!("'{}' of --cache is not a folder that this user can see", folder.display());
            Err(Failure::new(Exit::Usage, text).advise("make the folder, or leave it out"))
        }
    }
}
