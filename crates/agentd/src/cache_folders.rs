//! The folders of `--cache`, checked before anything starts.

use std::path::Path;

use sandbox_exec::GitSettings;
use workspace_host::confinement;

use crate::common_options::CommonOptions;
use crate::config::obeyed_options;
use crate::exit::{Exit, Failure};

/// Checks that each folder that commands are given is there, without which none could be started and the reason given then may
/// name no whole path, and that git obeys nothing in it.
///
/// Nothing is checked for a command that runs no other programs, or that only writes down how it is to be run.
pub(crate) fn check(common: &CommonOptions) -> Result<(), Failure> {
    if common.command == "setup" || !obeyed_options::obeys(&common.command, "cache") {
        return Ok(());
    }
    let home = confinement::home();
    let settings =
        GitSettings::of_user(home.as_deref().unwrap_or(Path::new("/")), |name| std::env::var_os(name));
    common.cache.iter().try_for_each(|folder| {
        let (exit, why, advice) = if !folder.is_dir() {
            (Exit::Usage, "is not a folder that this user can see", "make the folder, or leave it out")
        } else if settings.would_read(folder) {
            (
                Exit::Refused,
                "is a repository, or holds settings of git, by which a command could have git start programs outside \
                 of all confinement",
                "give a folder in the repository, outside of `.git`; commits are made outside of the sandbox, or by agents in \
                 worktrees of their own: `agentd cocode`",
            )
        } else {
            return Ok(());
        };
        let set_by =
            if common.given.contains("cache") { "--cache" } else { "`cache` in the configuration file" };
        // `call` ends with 0, 1 or 2 only.
        let exit = if common.command == "call" { Exit::Usage } else { exit };
        Err(Failure::new(exit, format!("'{}' of {set_by} {why}", folder.display())).advise(advice))
    })
}
