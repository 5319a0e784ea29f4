//! Command lines read with a definition of only the commands that they name.
//!
//! The parser hands the common options down to each command that there is, and frees all that again, which takes longer than most
//! of the commands do. Whatever this definition cannot read is read, and explained, by the whole one.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command as Definition, CommandFactory, FromArgMatches};

use crate::cli::{Cli, Command};
use crate::config::with_all_switches;

/// Reads a command line; also returns the definition that it was read with. `None` for a task, for faults, for requests for help
/// and for commands that describe the command line itself. Where the line asks for the version, the process ends here.
pub(super) fn parse(arguments: &[OsString]) -> Option<(Definition, ArgMatches, Cli)> {
    let mut definition = with_all_switches(only_named(&Cli::command(), arguments)?);
    let matches = match definition.try_get_matches_from_mut(arguments) {
        Err(error) if error.kind() == ErrorKind::DisplayVersion => error.exit(),
        matches => matches.ok()?,
    };
    let cli = Cli::from_arg_matches(&matches).ok()?;
    let is_read =
        !matches!(cli.command, None | Some(Command::Task(_) | Command::Completions { .. } | Command::Man(_)));
    is_read.then_some((definition, matches, cli))
}

/// Returns the definition with only the commands that are among the words of the line. `None` if none is, unless the line
/// asks for the version.
fn only_named(whole: &Definition, arguments: &[OsString]) -> Option<Definition> {
    let has = |name: &str| arguments.iter().any(|word| word == name);
    let named: Vec<Definition> = whole.get_subcommands().filter(|one| has(one.get_name())).cloned().collect();
    if named.is_empty() && !has("--version") && !has("-V") {
        return None;
    }
    // No word of a task is read here, so that an argument of a command is never taken for one.
    let definition = Definition::new(whole.get_name().to_owned())
        .version(whole.get_version().unwrap_or_default().to_owned())
        .disable_help_subcommand(true)
        .args(whole.get_arguments())
        .groups(whole.get_groups())
        .subcommands(named);
    Some(definition)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::whole_reading::{assert_read_alike, words};
    use super::*;

    #[test]
    fn commands_are_read_and_nothing_else_is() {
        for line in [
            &["log"][..],
            &["--read-only", "log", "-n", "3"],
            &["call", "readFile", "{}"],
            &["cocode", "status"],
            &["new", "log"],
            &["show", "log", "--export", "file"],
        ] {
            assert!(parse(&words(line)).is_some(), "{line:?}");
        }
        for line in [
            &[][..],
            &["--resume"],
            &["a task about log"],
            &["a", "log"],
            &["log", "--help"],
            &["help", "log"],
            &["log", "--no-such-option"],
            &["cocode"],
            &["completions", "bash"],
            &["man", "log"],
        ] {
            assert!(parse(&words(line)).is_none(), "{line:?}");
        }
    }

    #[test]
    fn only_the_named_commands_are_defined() {
        let named = only_named(&Cli::command(), &words(&["log", "--limit", "gc"])).unwrap();
        let mut names: Vec<&str> = named.get_subcommands().map(Definition::get_name).collect();
        names.sort_unstable();
        assert_eq!(names, ["gc", "log"]);
        assert!(only_named(&Cli::command(), &words(&["a task"])).is_none());
    }

    proptest! {
        #[test]
        fn both_definitions_read_the_same(
            line in prop::collection::vec(
                prop::sample::select(vec![
                    "log", "undo", "cocode", "run", "status", "index", "search", "new", "call", "codali", "show", "log",
                    "a task", "--", "--resume", "--read-only", "--read-only=off", "--quiet=on", "-q", "-v", "--json",
                    "--workspace", "--base=log", "--network", "on", "--timeout=7", "-n", "7", "--all", "--issue=5",
                    "--agent=a", "--limit=5", "--review=all", "--sandbox=off", "--no-such-option", "-h", "help",
                ]),
                0..7,
            ),
        ) {
            let arguments = words(&line);
            if let Some((_, _, cli)) = parse(&arguments) {
                assert_read_alike(&arguments, cli);
            }
        }
    }
}
