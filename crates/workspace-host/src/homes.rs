//! The homes of commands: the location of kept ones, and the removal of old ones.
//!
//! A home belongs to a workspace and is in the user's state folder, out of the reach of every command. Two state
//! folders of one workspace share it.

use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use change_journal::ContentHash;
use sandbox_exec::{HomeSize, KeptHome, KeptHomes};

use crate::options::HostOptions;
use crate::user_file;

/// The time after which an unused home is removed: 90 days.
const UNUSED: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The name of the folder in which a trial keeps what its commands write to the home.
const TRIAL_HOME: &str = "home";

/// The choice of a home for commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HomeUse {
    /// The workspace's own, kept between commands.
    #[default]
    Kept,
    /// A fresh one for each command, discarded afterwards.
    Fresh,
    /// The workspace's own, with changes going to the state folder: for trials, whose state folder is discarded.
    Trial,
}

impl fmt::Display for HomeUse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            HomeUse::Kept => "kept",
            HomeUse::Fresh => "fresh",
            HomeUse::Trial => "trial",
        })
    }
}

impl FromStr for HomeUse {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<HomeUse, &'static str> {
        let all = [HomeUse::Kept, HomeUse::Fresh, HomeUse::Trial];
        all.into_iter().find(|home| home.to_string() == text).ok_or("give kept or fresh")
    }
}

/// Returns the folder of all homes; `None` if the environment names no state folder of the user's.
#[must_use]
pub fn homes_folder() -> Option<PathBuf> {
    Some(user_file::state_folder()?.join("homes"))
}

/// Returns the home that commands on this workspace keep; `None` if each has a fresh one.
#[must_use]
pub fn kept_home(options: &HostOptions, workspace: &Path, state_folder: &Path) -> Option<KeptHome> {
    if options.home == HomeUse::Fresh {
        return None;
    }
    let folder = homes_folder()?.join(name(workspace));
    let home = if options.home == HomeUse::Trial {
        KeptHome::new(trial_home(state_folder)).layered_over(folder)
    } else {
        KeptHome::new(folder)
    };
    Some(home.with_limit(options.home_limit_bytes))
}

/// Returns the folder for a trial's writes to the home.
#[must_use]
pub fn trial_home(state_folder: &Path) -> PathBuf {
    state_folder.join(TRIAL_HOME)
}

/// Removes the homes of workspaces that no longer exist, those unused for long, and the largest parts of each home
/// above the limit.
///
/// # Errors
///
/// Those of listing the homes.
pub fn collect(limit_bytes: u64) -> io::Result<HomeSize> {
    match homes_folder() {
        Some(folder) => KeptHomes::in_folder(folder).collect(limit_bytes, UNUSED),
        None => Ok(HomeSize::default()),
    }
}

/// Returns the name of a workspace's home: the folder's own, for people, and the hash of its path.
fn name(workspace: &Path) -> String {
    let hash = ContentHash::of(workspace.as_os_str().as_bytes()).to_string();
    let own = workspace.file_name().unwrap_or_default().to_string_lossy();
    let own: String = own
        .chars()
        .filter(|character| character.is_ascii_alphanumeric() || "-_".contains(*character))
        .collect();
    format!("{}-{}", own.get(..40).unwrap_or(&own), &hash[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_one_name_have_homes_of_their_own() {
        let names = ["/a/code", "/b/code", "/c/C ö.d~e/", "/"].map(|path| name(Path::new(path)));
        insta::assert_snapshot!(names.join("\n"), @r"
        code-a0199b5eda25015a
        code-35f0eda9729221ca
        Cde-f79e12b369257180
        -329f85ac6e6310f8
        ");
        assert!(name(Path::new(&format!("/{}", "x".repeat(255)))).len() < 60);
    }

    #[test]
    fn a_home_lies_where_the_options_say() {
        let mut options = HostOptions::new("/w");
        let state = Path::new("/w/.agentd");
        options.home = HomeUse::Fresh;
        assert_eq!(kept_home(&options, Path::new("/w"), state), None);
        if homes_folder().is_some() {
            options.home = HomeUse::Kept;
            let kept = kept_home(&options, Path::new("/w"), state).unwrap();
            options.home = HomeUse::Trial;
            let trial = kept_home(&options, Path::new("/w"), state).unwrap();
            assert_eq!((kept.over, trial.over), (None, Some(kept.folder)));
            assert_eq!(trial.folder, Path::new("/w/.agentd/home"));
        }
    }
}
