//! The user's options about the confinement of commands.

pub(crate) mod own_programs;

use std::fmt;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use local_workspace::SandboxNeed;
use sandbox_exec::{LauncherConfig, Level, Policy, SpawnerProgram, User};
use serde::{Deserialize, Serialize};

use crate::homes;
use crate::options::HostOptions;
use crate::state::linked_worktree;

/// The value of `--sandbox`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxChoice {
    /// Refuse commands below a level.
    Require(Level),
    /// Run commands at this level or above.
    Allow(Level),
    /// Use no confinement.
    Off,
}

impl fmt::Display for SandboxChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SandboxChoice::Require(level) => write!(formatter, "require={level}"),
            SandboxChoice::Allow(level) => write!(formatter, "allow={level}"),
            SandboxChoice::Off => formatter.write_str("off"),
        }
    }
}

impl FromStr for SandboxChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<SandboxChoice, String> {
        let level = |name: &str| {
            level_named(name).ok_or_else(|| {
                format!("there is no level '{name}': full, namespaces, landlock, process, none")
            })
        };
        match text.split_once('=') {
            Some(("require", name)) => level(name).map(SandboxChoice::Require),
            Some(("allow", name)) => level(name).map(SandboxChoice::Allow),
            None if text == "off" => Ok(SandboxChoice::Off),
            _ => Err("give require=LEVEL, allow=LEVEL or off".to_owned()),
        }
    }
}

/// The least confinement under which commands run.
///
/// Without a choice, a person at the terminal (`is_attended`) gets whatever the machine offers, since they read the
/// report before the session; an unattended process requires full confinement.
pub fn need(choice: Option<SandboxChoice>, is_attended: bool) -> SandboxNeed {
    match choice {
        Some(SandboxChoice::Require(level) | SandboxChoice::Allow(level)) => SandboxNeed::AtLeast(level),
        None if !is_attended => SandboxNeed::AtLeast(Level::Full),
        Some(SandboxChoice::Off) | None => SandboxNeed::Whatever,
    }
}

/// Checks whether standard input is a terminal, so that a person can read the reports.
pub fn is_attended() -> bool {
    std::io::stdin().is_terminal()
}

/// Returns the configuration with which commands are started on this machine for this user.
pub fn launcher(choice: Option<SandboxChoice>) -> LauncherConfig {
    let variable = |name| std::env::var_os(name).unwrap_or_default();
    let user = User {
        name: std::env::var("USER")
            .or_else(|_| std::env::var("LOGNAME"))
            .unwrap_or_else(|_| "user".to_owned()),
        // An empty path would mean the current folder.
        home: home().unwrap_or_else(|| PathBuf::from("/nonexistent")),
        search_path: variable("PATH"),
        language: std::env::var_os("LANG").unwrap_or_else(|| "C.UTF-8".into()),
    };
    let mut config = LauncherConfig::new(SpawnerProgram::this_program(), user, std::env::temp_dir());
    if choice == Some(SandboxChoice::Off) {
        config.highest_level = Level::None;
    }
    config
}

/// Returns the folders and resources that a command may see and use.
pub fn policy(options: &HostOptions, workspace: &Path, state_folder: &Path) -> Policy {
    let mut policy = Policy::for_workspace(workspace);
    policy.network = options.network.policy();
    policy.kept_home = homes::kept_home(options, workspace, state_folder);
    // Commands see the workspace: a state folder within it would show them the journal, and let them forge replies.
    if state_folder.starts_with(workspace) {
        policy.hidden.push(state_folder.to_owned());
    }
    // A folder that cannot be made absolute does not exist either, and is refused when a command starts.
    let absolute = |folder: &PathBuf| std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
    policy.writable.extend(options.caches.iter().map(absolute));
    policy.readable.extend(options.readable.iter().cloned());
    policy.readable.extend(linked_worktree::repository_folder(workspace, &policy.writable));
    policy
}

/// The options about the confinement of commands and about protected names. The owner of a state folder compares a
/// client's with its own, so that no option of a client is silently ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Confinement {
    sandbox: Option<String>,
    /// The lowest level at which commands run; `None` if any level is enough.
    lowest_level: Option<String>,
    network: String,
    layer: String,
    home: String,
    caches: Vec<String>,
    protect: Vec<String>,
    ask_about: Vec<String>,
    unprotect: Vec<String>,
    read_only: bool,
    secrets: String,
    read_secrets: Vec<String>,
}

impl Confinement {
    /// Returns the options that this process was started with.
    pub fn of(options: &HostOptions) -> Confinement {
        let lowest = match need(options.sandbox, is_attended()) {
            SandboxNeed::AtLeast(level) => Some(level.to_string()),
            SandboxNeed::Whatever => None,
        };
        Confinement {
            sandbox: options.sandbox.map(|sandbox| sandbox.to_string()),
            lowest_level: lowest,
            network: options.network.to_string(),
            layer: on_or_off(options.layer),
            home: options.home.to_string(),
            caches: options.caches.iter().map(|folder| absolute_text(folder)).collect(),
            protect: options.protect.clone(),
            ask_about: options.ask_about.clone(),
            unprotect: options.unprotect.clone(),
            read_only: options.read_only,
            secrets: options.secrets.to_string(),
            read_secrets: options.read_secrets.clone(),
        }
    }

    /// Returns the options about names in which a client differs from this owner.
    pub fn other_names(&self, client: &Confinement) -> Vec<&'static str> {
        let pairs = [
            ("--protect", self.protect == client.protect),
            ("--ask-about", self.ask_about == client.ask_about),
            ("--unprotect", self.unprotect == client.unprotect),
        ];
        differing(&pairs)
    }

    /// Returns the options in which a client differs from this owner and that matter to commands. `level` is the
    /// confinement that commands of this owner get.
    pub fn other_commands(&self, client: &Confinement, level: Option<Level>) -> Vec<&'static str> {
        let is_met = |lowest: &str| {
            level.is_some_and(|level| level_named(lowest).is_some_and(|lowest| level >= lowest))
        };
        // A client is served if this owner's commands get at least what it needs, whatever lowest level the owner has.
        let is_level_kept =
            self.lowest_level == client.lowest_level || client.lowest_level.as_deref().is_none_or(is_met);
        let pairs = [
            ("--sandbox", self.sandbox == client.sandbox && is_level_kept),
            ("--network", self.network == client.network),
            ("--layer", self.layer == client.layer),
            ("--home", self.home == client.home),
            ("--cache", self.caches == client.caches),
        ];
        [self.other_names(client), differing(&pairs)].concat()
    }

    /// Returns the options in which a client differs from this owner and that matter to a session, whose replies change
    /// files and run commands.
    pub fn other_sessions(&self, client: &Confinement, level: Option<Level>) -> Vec<&'static str> {
        // A read-only owner refuses more than its client asked for, which is safe; the reverse is not.
        let others = [
            ("--read-only", self.read_only || !client.read_only),
            ("--secrets", self.secrets == client.secrets),
            ("--read-secret", self.read_secrets == client.read_secrets),
        ];
        [self.other_commands(client, level), differing(&others)].concat()
    }
}

/// Returns a switch in the form of the command line.
fn on_or_off(switch: bool) -> String {
    if switch { "on" } else { "off" }.to_owned()
}

fn differing(pairs: &[(&'static str, bool)]) -> Vec<&'static str> {
    pairs.iter().filter(|(_, is_same)| !is_same).map(|(name, _)| *name).collect()
}

fn level_named(name: &str) -> Option<Level> {
    [Level::Full, Level::Namespaces, Level::Landlock, Level::Process, Level::None]
        .into_iter()
        .find(|level| level.to_string() == name)
}

/// Returns a path that does not depend on the current folder.
pub fn absolute_text(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

/// Returns the user's home folder; `None` if the environment names none.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unattended_process_without_a_choice_requires_full_confinement() {
        assert_eq!(need(None, false), SandboxNeed::AtLeast(Level::Full));
        assert_eq!(need(None, true), SandboxNeed::Whatever);
        for is_attended in [true, false] {
            assert_eq!(need(Some(SandboxChoice::Off), is_attended), SandboxNeed::Whatever);
            let allowed = Some(SandboxChoice::Allow(Level::Landlock));
            assert_eq!(need(allowed, is_attended), SandboxNeed::AtLeast(Level::Landlock));
        }
    }
}
