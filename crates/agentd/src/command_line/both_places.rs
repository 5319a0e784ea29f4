//! Common options that are given both before a command and after it.
//!
//! The parser keeps only the last level's values of an option that is given at several levels of the command line. An option
//! that protects must never be accepted and forgotten, so such a line is refused.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use clap::{Arg, ArgMatches, Command as Definition, Id};

use super::given_here;
use crate::exit::{Exit, Failure};

/// Fails if an option is given at several levels of the command line, with different values. `command` has the words of the
/// command that was read.
pub(super) fn check(definition: &Definition, arguments: &[OsString], command: &str) -> Result<(), Failure> {
    // Usually nothing precedes the command, and there is nothing to look for.
    let mut words = arguments.iter().skip(1);
    if command.split(' ').all(|word| words.next().is_some_and(|next| next == word)) {
        return Ok(());
    }
    // The line was read without faults, so a fault here comes from the changed definition.
    let Ok(matches) = levels_apart(definition.clone()).try_get_matches_from(arguments) else { return Ok(()) };
    let Some(twice) = given_twice(&matches) else { return Ok(()) };
    let option = definition.get_arguments().find(|arg| *arg.get_id() == twice).and_then(Arg::get_long);
    let option = option.unwrap_or(twice.as_str());
    let message = format!(
        "--{option} is given before and after a word of `{command}`, with different values, and only the last would count"
    );
    Err(Failure::new(Exit::Usage, message).advise("give it in one place, as often as it may be given"))
}

/// Returns an option that is given at several levels with different values.
fn given_twice(matches: &ArgMatches) -> Option<Id> {
    let levels = std::iter::successors(Some(matches), |matches| Some(matches.subcommand()?.1));
    let mut first_values: BTreeMap<Id, Vec<&OsStr>> = BTreeMap::new();
    let mut given = levels.flat_map(|level| given_here(level).into_iter().map(move |id| (level, id)));
    given.find_map(|(level, id)| {
        let values: Vec<&OsStr> = level.get_raw(id.as_str()).into_iter().flatten().collect();
        let others = first_values.entry(id.clone()).or_insert_with(|| values.clone());
        (*others != values).then_some(id)
    })
}

/// Returns a definition in which every command has the common options for itself. Otherwise the parser copies what is given at
/// one level to all others.
fn levels_apart(definition: Definition) -> Definition {
    let common: Vec<Arg> = definition.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    with_own(definition, &common)
}

fn with_own(definition: Definition, common: &[Arg]) -> Definition {
    let is_missing = |arg: &&Arg| definition.get_arguments().all(|own| own.get_id() != arg.get_id());
    let missing: Vec<Arg> = common.iter().filter(is_missing).cloned().collect();
    let definition = definition.args(missing).mut_args(|arg| arg.global(false));
    definition.mut_subcommands(|command| with_own(command, common))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::definition;

    fn is_refused(line: &[&str], command: &str) -> bool {
        let arguments: Vec<OsString> = ["agentd"].iter().chain(line).map(OsString::from).collect();
        definition().try_get_matches_from(&arguments).unwrap();
        check(&definition(), &arguments, command).is_err()
    }

    #[test]
    fn an_option_in_both_places_is_refused() {
        for (line, command) in [
            (&["--protect", "a", "mcp", "--protect", "b"][..], "mcp"),
            (&["--read-only", "mcp", "--read-only=off"], "mcp"),
            (&["-q", "serve", "--quiet=off"], "serve"),
            (&["--network=off", "call", "readFile", "--network", "on"], "call"),
            (
                &["cocode", "--read-only", "run", "--issue", "1", "--agent", "a", "--read-only=off"],
                "cocode run",
            ),
        ] {
            assert!(is_refused(line, command), "{line:?}");
        }
    }

    #[test]
    fn options_in_one_place_are_as_ever() {
        for (line, command) in [
            (&["mcp", "--protect", "a", "--protect", "b"][..], "mcp"),
            (&["--protect", "a", "--protect", "b", "mcp"], "mcp"),
            (&["--protect", "a", "mcp", "--ask-about", "b", "--read-only"], "mcp"),
            (&["--workspace", "mcp", "--quiet", "mcp", "--read-only"], "mcp"),
            (&["cocode", "--read-only", "status", "--json"], "cocode status"),
            // The same once more is no contradiction.
            (&["--json", "fleet", "status", "--json"], "fleet status"),
            (&["-q", "serve", "--quiet"], "serve"),
            (&["--protect", "a", "mcp", "--protect=a"], "mcp"),
        ] {
            assert!(!is_refused(line, command), "{line:?}");
        }
    }

    #[test]
    fn a_definition_that_was_used_to_read_the_line_serves_as_well() {
        let mut used = definition();
        let arguments = ["agentd", "--protect", "a", "mcp", "--protect", "b"].map(OsString::from);
        used.try_get_matches_from_mut(&arguments).unwrap();
        let failure = check(&used, &arguments, "mcp").unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message.starts_with("--protect is given before and after"), "{}", failure.message);
        assert!(check(&used, &["agentd", "--protect", "a", "mcp"].map(OsString::from), "mcp").is_ok());
    }
}
