//! The folders of `--cache`, checked before anything starts.

use std::fs;
use std::path::{Path, PathBuf};

use sandbox_exec::GitSettings;
use workspace_host::{WorkspacePaths, confinement, user_file};

use crate::common_options::CommonOptions;
use crate::config::obeyed_options;
use crate::exit::{Exit, Failure};

/// Checks that each folder that commands are given exists, that git obeys nothing in it, and that it is not this program's own.
/// With a missing folder no command could start, and the reason given then might not name the whole path.
///
/// Nothing is checked for a command that runs no other programs, or that only writes down how it is to be run.
pub(crate) fn check(common: &CommonOptions) -> Result<(), Failure> {
    if common.cache.is_empty()
        || common.command == "setup"
        || !obeyed_options::obeys(&common.command, "cache")
    {
        return Ok(());
    }
    let home = confinement::home();
    let settings =
        GitSettings::of_user(home.as_deref().unwrap_or(Path::new("/")), |name| std::env::var_os(name));
    let own = own_folders(common);
    common.cache.iter().try_for_each(|folder| {
        let (exit, why, advice) = if !folder.is_dir() {
            (Exit::Usage, "is not a folder that this user can see", "make the folder, or leave it out")
        } else if settings.would_read(folder) {
            (
                Exit::Refused,
                "is a repository, or holds settings of git, with which a command could have git start programs outside \
                 of all confinement",
                "give a folder in the repository, outside of `.git`; commits are made outside of the sandbox, or by agents in \
                 worktrees of their own: `agentd cocode`",
            )
        } else if own.iter().any(|own| own.starts_with(canonical(folder)) || canonical(folder).starts_with(own)) {
            (
                Exit::Refused,
                "holds, or is inside, a folder of agentd itself, with its journal or the token of its server",
                "give a folder that holds nothing of agentd's",
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

/// Returns the folders that hold what commands must not change or, as secrets of this program, must not see.
fn own_folders(common: &CommonOptions) -> Vec<PathBuf> {
    let base = WorkspacePaths::find(&common.host()).ok().map(|paths| paths.base);
    // The configuration file is checked where it is read.
    let folders = [base, user_file::state_folder()];
    folders.into_iter().flatten().map(|folder| canonical(&folder)).collect()
}

/// A missing folder has no links on its way.
fn canonical(folder: &Path) -> PathBuf {
    fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}
