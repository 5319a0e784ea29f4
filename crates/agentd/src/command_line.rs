//! Reading the command line, with the user's configuration instead of the built-in defaults.
//!
//! Precedence is settled here and nowhere else: what the command line gives, then the configuration file, then what is
//! built in. No option has an environment variable.

mod both_places;
mod named_commands;
mod server_line;
#[cfg(test)]
mod whole_reading;

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use clap::parser::ValueSource;
use clap::{ArgMatches, Command as Definition, FromArgMatches, Id};
use workspace_host::state::workspace_search;

use crate::cli::{Cli, Command};
use crate::commands::setup;
use crate::common_options::CommonOptions;
use crate::config::{ConfigFile, definition, obeyed_options};
use crate::exit::{Exit, Failure};

/// The task of this process.
#[derive(Debug)]
pub(crate) struct Invocation {
    /// The options and the command, which is always set and never a task.
    pub(crate) cli: Cli,
    /// The configuration file that was read for them.
    pub(crate) config: ConfigFile,
}

/// The definition of all commands, which is made when it is needed.
type WholeDefinition = LazyCell<Definition>;

/// Reads the command line. Where it asks for help, or cannot be read, the process ends here.
pub(crate) fn read(mut arguments: Vec<OsString>) -> Result<Invocation, Failure> {
    let definition = WholeDefinition::new(definition);
    let short = server_line::parse(&arguments).or_else(|| named_commands::parse(&arguments));
    if let Some((named, matches, cli)) = short {
        return settled(&named, &definition, &arguments, &matches, cli);
    }
    let (matches, mut cli) = parse(&definition, &arguments);
    // A task is the same as `new`, and no arguments at all the same as `resume`: both then have its settings.
    let (count, command) = match &cli.command {
        Some(Command::Task(words)) => {
            if let Some(line) = help_line(&definition, words) {
                parse(&definition, &line);
            }
            as_task(&definition, words)?;
            (words.len(), ["new", "--"].as_slice())
        }
        None => (0, ["resume"].as_slice()),
        // These describe the command line itself, independent of the configuration.
        Some(Command::Completions { .. } | Command::Man(_)) => {
            obeyed_options::check(&command_of(&matches), &long_names(&definition, &given(&matches)))?;
            return Ok(Invocation { cli, config: ConfigFile::default() });
        }
        Some(_) => return settled(&definition, &definition, &arguments, &matches, cli),
    };
    // The words follow `--`, because one of them may begin with a dash.
    let rest = arguments.split_off(arguments.len() - count);
    if arguments.last().is_some_and(|last| last == "--") {
        arguments.pop();
    }
    arguments.extend(command.iter().map(OsString::from).chain(rest));
    let (matches, with_command) = parse(&definition, &arguments);
    cli = with_command;
    settled(&definition, &definition, &arguments, &matches, cli)
}

/// Reads the command line once more, on what the configuration file sets for its command. `read_by` is the definition by
/// which it was read.
fn settled(
    read_by: &Definition,
    definition: &WholeDefinition,
    arguments: &[OsString],
    matches: &ArgMatches,
    mut cli: Cli,
) -> Result<Invocation, Failure> {
    let is_call = matches!(cli.command, Some(Command::Call { .. }));
    let (command, given) = (command_of(matches), given(matches));
    let long_names = long_names(read_by, &given);
    obeyed_options::check(&command, &long_names)?;
    both_places::check(read_by, arguments, &command)?;
    let workspace_above =
        if long_names.contains("workspace") { None } else { workspace_search::search(&cli.common.workspace) };
    let set_workspace = |common: &mut CommonOptions| {
        if let Some(workspace_above) = &workspace_above {
            common.workspace.clone_from(&workspace_above.folder);
        }
    };
    // Before the configuration is read: a file in the workspace must not say what is allowed there.
    set_workspace(&mut cli.common);
    let config = match cli.command {
        // It is there to report what is wrong with the file.
        Some(Command::Doctor { .. }) => ConfigFile::read_or_explain(&cli.common, definition),
        // `call` ends with 0, 1 or 2 only.
        _ => ConfigFile::read(&cli.common, definition)
            .map_err(|failure| if is_call { Failure { exit: Exit::Usage, ..failure } } else { failure })?,
    };
    let (settled, lowered) = config.settle(definition, &command, &given);
    if let Some(settled) = settled {
        // Parsed once more instead of patched, so that clap's own precedence decides over the new defaults.
        (_, cli) = parse(&settled, arguments);
        set_workspace(&mut cli.common);
    }
    cli.common.workspace_above = workspace_above;
    cli.common.command = command;
    cli.common.given = long_names;
    cli.common.lowered = lowered;
    cli.common.presets = config.presets.clone();
    Ok(Invocation { cli, config })
}

fn parse(definition: &Definition, arguments: &[OsString]) -> (ArgMatches, Cli) {
    let matches = definition.clone().try_get_matches_from(arguments);
    let matches = matches.unwrap_or_else(|error| {
        let error = explained(definition, arguments).unwrap_or(error);
        setup::with_place_of_option(error, arguments).exit()
    });
    let cli = Cli::from_arg_matches(&matches);
    let cli = cli.unwrap_or_else(|error| error.format(&mut definition.clone()).exit());
    (matches, cli)
}

/// Returns the help, or the fault of the arguments, as it is shown: without the options that a command does not obey.
fn explained(definition: &Definition, arguments: &[OsString]) -> Option<clap::Error> {
    obeyed_options::hide_others(definition.clone()).try_get_matches_from(arguments).err()
}

/// The words of the command.
fn command_of(matches: &ArgMatches) -> String {
    let levels = std::iter::successors(matches.subcommand(), |(_, matches)| matches.subcommand());
    levels.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}

/// The options that the command line gives, in any position.
fn given(matches: &ArgMatches) -> BTreeSet<Id> {
    let levels = std::iter::successors(Some(matches), |matches| Some(matches.subcommand()?.1));
    levels.flat_map(given_here).collect()
}

/// The options that the command line gives at one level of its commands, or that are copied there.
fn given_here(matches: &ArgMatches) -> Vec<Id> {
    let is_given = |id: &&Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
    matches.ids().filter(is_given).cloned().collect()
}

/// The long names of the common options among these.
fn long_names(definition: &Definition, given: &BTreeSet<Id>) -> BTreeSet<String> {
    let common = definition.get_arguments().filter(|arg| given.contains(arg.get_id()));
    common.filter_map(|arg| arg.get_long().map(str::to_owned)).collect()
}

/// The least likeness of two names for one to be a misspelling of the other, from 0 to 1.
const ALIKE: f64 = 0.7;

/// Returns the command whose name is most like a word, if one is like it.
pub(crate) fn similar_command(definition: &Definition, word: &str) -> Option<String> {
    let names =
        definition.get_subcommands().filter(|command| !command.is_hide_set()).map(Definition::get_name);
    let likeness = |name: &str| strsim::jaro(&word.to_lowercase(), name);
    let best = names.max_by(|left, right| likeness(left).total_cmp(&likeness(right)))?;
    (likeness(best) > ALIKE).then(|| best.to_owned())
}

/// Returns the line that asks for help by the option, if words do so as a command: `help`, or `help` and the words of a command.
fn help_line(definition: &Definition, words: &[OsString]) -> Option<Vec<OsString>> {
    let (help, names) = words.split_first()?;
    let mut command = definition;
    for name in names {
        command = command.get_subcommands().find(|one| one.get_name() == name)?;
    }
    let mut line = vec![OsString::from(definition.get_name())];
    line.extend_from_slice(names);
    line.push("--help".into());
    (help == "help").then_some(line)
}

/// Fails if words are not a command and do not look like a task either.
fn as_task(definition: &Definition, words: &[OsString]) -> Result<(), Failure> {
    let words: Option<Vec<_>> = words.iter().map(|word| OsStr::to_str(word)).collect();
    let words = words.ok_or_else(|| Failure::new(Exit::Usage, "the task is not valid UTF-8"))?;
    let first = words.first().copied().unwrap_or_default();
    if !first.contains(char::is_whitespace) {
        let similar =
            similar_command(definition, first).map(|name| format!("did you mean `agentd {name}`? "));
        return Err(Failure::new(Exit::Usage, format!("there is no command '{first}'")).advise(format!(
            "{}`agentd --help` lists the commands; a task of several words goes in quotes, or after `new`",
            similar.unwrap_or_default()
        )));
    }
    if let Some(option) = words.iter().skip(1).find(|word| word.starts_with('-')) {
        return Err(Failure::new(Exit::Usage, format!("'{option}' cannot follow a task"))
            .advise("options of a session belong to `agentd new`"));
    }
    Ok(())
}
