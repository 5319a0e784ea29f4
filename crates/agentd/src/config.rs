//! The user's configuration file: defaults for options that would otherwise be repeated.
//!
//! The file is data about the command line: its tables and keys are names of commands and options, its values are read by the
//! options' own parsers, and they replace the built-in defaults before anything runs. No command depends on it.

mod config_file;
pub(crate) mod confinement_arguments;
mod fault;
pub(crate) mod obeyed_options;
mod reading;
mod settable;

pub(crate) use config_file::{ConfigFile, NO_FILE};
pub(crate) use settable::{definition, shown_definition, with_all_switches};
