//! A configuration file that was read, and its effect on the command line.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Arg, Command, Id};
use egress::Presets;
use workspace_host::confinement::is_attended;
use workspace_host::obeyed_names::is_never_changed;
use workspace_host::user_file::{self, Reach, UserFileError};

use super::fault::Fault;
use super::reading::{Contents, parse};
use super::settable::{SettableTable, change_at, command_at, option_of, stands_aside};
use crate::common_options::CommonOptions;
use crate::exit::{Exit, Failure};

/// The argument of `--config` for no file at all.
pub(crate) const NO_FILE: &str = "/dev/null";

/// A configuration file that was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfigFile {
    /// The path, also of a missing file; `None` if there is no configuration folder.
    pub(crate) path: Option<PathBuf>,
    /// True if the file exists.
    pub(crate) is_there: bool,
    /// The reason that it is not used, if that does not stop the command.
    pub(crate) unused_because: Option<String>,
    /// The settings, in the order of the file.
    pub(crate) settings: Vec<Setting>,
    /// The presets for `network` that it defines.
    pub(crate) presets: Presets,
}

/// One option that a file sets.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(super) table: &'static SettableTable,
    /// Its long name.
    pub(super) option: &'static str,
    /// 1-based.
    pub(crate) line_number: usize,
    /// As the command line would have them.
    pub(super) values: Vec<OsString>,
    /// As the file has them, on one line.
    pub(super) text: String,
}

impl Setting {
    /// Returns the key with its table, and the value as the file has it.
    pub(crate) fn assignment(&self) -> String {
        let dot = if self.table.name.is_empty() { "" } else { "." };
        format!("{}{dot}{} = {}", self.table.name, self.option, self.text)
    }

    /// Checks whether it confines a command less than the default.
    pub(crate) fn lowers_protection(&self) -> bool {
        let first = self.values.first().and_then(|value| value.to_str()).unwrap_or_default();
        match self.option {
            // Without a terminal the default is level `full`, at one it is any level.
            "sandbox" => first != "require=full" && !(first.starts_with("require=") && is_attended()),
            "network" => self.values.iter().any(|value| value != "off"),
            "no-token" => first == "on",
            "cache" | "unprotect" => !self.values.is_empty(),
            "ask-about" => self.values.iter().any(|name| name.to_str().is_some_and(is_never_changed)),
            _ => false,
        }
    }

    /// Checks whether it protects less than the default: by confining a command less, or by showing models more.
    pub(crate) fn protects_less(&self) -> bool {
        let first = self.values.first().and_then(|value| value.to_str()).unwrap_or_default();
        match self.option {
            "secrets" => first == "show",
            "read-secret" => !self.values.is_empty(),
            "layer" => first == "off",
            _ => self.lowers_protection(),
        }
    }

    /// Checks whether it does more than switch something off.
    pub(super) fn is_on(&self) -> bool {
        self.values.iter().any(|value| value != "off")
    }

    /// Checks whether the setting confines what the command starts: a model's commands, or agents.
    fn is_about(&self, command: &str) -> bool {
        self.option == "sandbox" || (!command.starts_with("cocode") && self.option != "no-token")
    }
}

impl ConfigFile {
    /// Reads the file that the command line names, or else the user's own, if it is there. The definition of all commands is
    /// made only for a file that exists.
    pub(crate) fn read(
        common: &CommonOptions,
        definition: &LazyCell<Command>,
    ) -> Result<ConfigFile, Failure> {
        let named = common.config.as_deref();
        if named == Some(Path::new(NO_FILE)) {
            return Ok(ConfigFile::default());
        }
        let usual = || user_file::config_folder().map(|folder| folder.join("config.toml"));
        let Some(path) = named.map(Path::to_owned).or_else(usual) else { return Ok(ConfigFile::default()) };
        let refused = |error: UserFileError| refused(&path, &error);
        let mut reach = Reach::of(&common.host());
        let text = match user_file::read(&path, &reach) {
            Err(UserFileError::Missing) if named.is_none() => {
                return Ok(ConfigFile { path: Some(path), ..ConfigFile::default() });
            }
            // Without `--config` the file is this user's own; a file that this user cannot reach is not.
            Err(error @ UserFileError::Unreachable) if named.is_none() => {
                let unused_because = Some(error.to_string());
                return Ok(ConfigFile { path: Some(path), unused_because, ..ConfigFile::default() });
            }
            read => read.map_err(refused)?,
        };
        let Contents { settings, presets } =
            parse(&text, &path, definition).map_err(|faults| faulty(&path, &faults))?;
        // A folder that the file opens to commands may hold the file itself.
        let caches = settings.iter().filter(|setting| setting.option == "cache");
        caches.flat_map(|setting| &setting.values).for_each(|folder| reach.add(Path::new(folder)));
        reach.resolve(&path).map_err(refused)?;
        Ok(ConfigFile { path: Some(path), is_there: true, unused_because: None, settings, presets })
    }

    /// Reads the file as [`ConfigFile::read`] does; an unusable file sets nothing and has the reason.
    pub(crate) fn read_or_explain(common: &CommonOptions, definition: &LazyCell<Command>) -> ConfigFile {
        ConfigFile::read(common, definition).unwrap_or_else(|failure| {
            let unused_because = Some(failure.message);
            ConfigFile { path: common.config.clone(), unused_because, ..ConfigFile::default() }
        })
    }

    /// Returns the settings that count for a command: those of its tables, except options that the command line gives or
    /// excludes.
    fn settings_for<'a>(
        &'a self,
        definition: &LazyCell<Command>,
        command: &str,
        given: &BTreeSet<Id>,
    ) -> Vec<(&'a Setting, Id, bool)> {
        if self.settings.is_empty() {
            return Vec::new();
        }
        let mut built = Command::clone(definition);
        built.build();
        let Some(leaf) = command_at(&built, command) else { return Vec::new() };
        let counts = |setting: &&'a Setting| setting.table.holds_for(command);
        let option = |setting: &'a Setting| option_of(leaf, setting.option).map(|arg| (setting, arg));
        let is_open = |(_, arg): &(&Setting, &Arg)| {
            // The command line also wins over a setting that one of its options excludes.
            let mut others = leaf.get_arguments().filter(|other| given.contains(other.get_id()));
            let yields = |other: &Arg| conflict(leaf, arg, other) || stands_aside(arg, other);
            !given.contains(arg.get_id()) && !others.any(yields)
        };
        let settings = self.settings.iter().filter(counts).filter_map(option).filter(is_open);
        settings.map(|(setting, arg)| (setting, arg.get_id().clone(), arg.is_global_set())).collect()
    }

    /// Replaces a command's built-in defaults with the settings of the file; `None` if none counts. Returns also the settings that
    /// confine commands less, as lines.
    pub(crate) fn settle(
        &self,
        definition: &LazyCell<Command>,
        command: &str,
        given: &BTreeSet<Id>,
    ) -> (Option<Command>, Vec<String>) {
        let settings = self.settings_for(definition, command, given);
        if settings.is_empty() {
            return (None, Vec::new());
        }
        let lowering = settings.iter().map(|(setting, ..)| *setting);
        let lowering = lowering.filter(|setting| setting.lowers_protection() && setting.is_about(command));
        let file = self.path.as_deref().unwrap_or(Path::new(NO_FILE)).display();
        let lowered = lowering
            .map(|setting| format!("{} by {file}, line {}", setting.assignment(), setting.line_number));
        let lowered = lowered.collect();
        let settled =
            settings.into_iter().fold(Command::clone(definition), |definition, (setting, id, is_global)| {
                // A global option is defined at the top, from where clap hands it down.
                let defined_at = if is_global { "" } else { command };
                change_at(definition, defined_at, &|command| {
                    command.mut_arg(id.as_str(), |arg| arg.default_values(setting.values.clone()))
                })
            });
        (Some(settled), lowered)
    }
}

/// Checks whether one of two options excludes the other.
pub(super) fn conflict(command: &Command, one: &Arg, other: &Arg) -> bool {
    let is_named = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|named| named.get_id() == other.get_id())
    };
    is_named(one, other) || is_named(other, one)
}

fn refused(path: &Path, error: &UserFileError) -> Failure {
    let failure =
        Failure::new(error.exit(), format!("the configuration file {} is not read: {error}", path.display()));
    match error.advice() {
        Some(advice) => failure.advise(format!(
            "{advice}; or name another file, or none, with --config FILE or --config {NO_FILE}"
        )),
        None => failure,
    }
}

fn faulty(path: &Path, faults: &[Fault]) -> Failure {
    let mut text = format!("the configuration file {} cannot be used:", path.display());
    for fault in faults {
        text.push_str(&format!("\n  {fault}"));
    }
    Failure::new(Exit::Usage, text)
        .advise("docs/configuration.md has everything that it may contain; --config /dev/null reads none")
}
