//! The common options that each command obeys.
//!
//! The common options are read before and after every command. One that a command does not obey is refused, and not shown
//! in its help: an option that protects must never be taken and forgotten. Options of the configuration file are those of all
//! commands, and are not affected.

use std::collections::BTreeSet;

use clap::{Arg, Command};

use crate::exit::{Exit, Failure};

/// The common options that some command does not obey. All others are about how this program itself reads and prints.
const COMMON: [&str; 18] = [
    "workspace",
    "base",
    "trust-state",
    "json",
    "sandbox",
    "network",
    "layer",
    "home",
    "home-limit",
    "cache",
    "timeout",
    "read-only",
    "protect",
    "ask-about",
    "unprotect",
    "secrets",
    "read-secret",
    "history-limit",
];

/// The options of commands that run shell commands for a model, or start a process that does.
const ALL: &[&str] = &COMMON;

/// The same for those that end with their one reply or transcript: nothing is removed while they run.
const ONCE: &[&str] = COMMON.split_at(17).0;

/// The options of commands that read a folder and its state folder, and run nothing.
const FOLDERS: &[&str] = &["workspace", "base", "trust-state", "json", "read-only"];

/// The options of commands that assemble a message for a model, and run nothing.
const MESSAGES: &[&str] =
    &["workspace", "base", "trust-state", "json", "read-only", "secrets", "read-secret"];

/// The options of commands that change files and run nothing.
const CHANGES: &[&str] =
    &["workspace", "base", "trust-state", "json", "read-only", "protect", "ask-about", "unprotect"];

/// The options of commands that print a text and run nothing. They are read-only by nature.
const TEXT: &[&str] = &["workspace", "base", "trust-state", "read-only"];

/// Each command by its words, with the common options that it obeys.
const COMMANDS: [(&str, &[&str]); 51] = [
    // It works on its own project, in which everything may be changed.
    (
        "demo",
        &["workspace", "base", "trust-state", "json", "sandbox", "network", "layer", "cache", "timeout"],
    ),
    ("ui", ALL),
    ("new", ALL),
    ("resume", ALL),
    ("apply", ONCE),
    ("outbox", MESSAGES),
    ("copy", FOLDERS),
    ("paste", ONCE),
    ("sessions", FOLDERS),
    ("show", FOLDERS),
    ("replay", ONCE),
    ("gc", &["workspace", "base", "trust-state", "json", "read-only", "home-limit"]),
    ("processes", FOLDERS),
    ("log", FOLDERS),
    ("undo", CHANGES),
    ("diff", FOLDERS),
    ("blame", FOLDERS),
    ("parse tag", FOLDERS),
    ("parse codali", FOLDERS),
    ("call", ALL),
    (
        "cocode run",
        &["workspace", "base", "trust-state", "json", "sandbox", "network", "cache", "timeout", "read-only"],
    ),
    ("cocode status", FOLDERS),
    ("cocode logs", TEXT),
    ("cocode diff", TEXT),
    ("cocode cancel", TEXT),
    // Work that continues a session is taken in by a command.
    (
        "cocode pick",
        &[
            "workspace",
            "base",
            "trust-state",
            "json",
            "read-only",
            "protect",
            "ask-about",
            "unprotect",
            "sandbox",
        ],
    ),
    ("cocode clean", FOLDERS),
    // It works on its own repository.
    ("cocode check", &["json", "sandbox", "network", "cache", "timeout", "read-only"]),
    ("cocode doctor", &["workspace", "base", "json", "read-only"]),
    ("cocode paste", TEXT),
    // The server serves no folder of code, and a host works in its own folders.
    ("fleet up", &["json", "read-only"]),
    ("fleet join", &["json", "sandbox", "network", "cache", "read-only"]),
    ("fleet status", &["json", "read-only"]),
    ("fleet drain", &["json", "read-only"]),
    ("fleet retry", FOLDERS),
    ("fleet collect", &["workspace", "base", "trust-state", "json", "read-only"]),
    ("fleet logs", &["json", "read-only"]),
    ("review", ALL),
    ("carry-out", ALL),
    ("wap", ALL),
    ("setup", ALL),
    ("serve", ALL),
    ("mcp", ALL),
    ("codali run", ALL),
    ("codali critic", FOLDERS),
    ("index build", FOLDERS),
    ("index status", FOLDERS),
    ("index search", FOLDERS),
    (
        "doctor",
        &["workspace", "base", "trust-state", "json", "sandbox", "read-only", "secrets", "read-secret"],
    ),
    ("completions", TEXT),
    ("man", TEXT),
];

/// The remedy for each option that a command about agents does not obey.
const INSTEAD: [(&str, &str); 5] = [
    (
        "sandbox",
        "set `sandbox` in the agent's table of agents.toml, or give --sandbox to `agentd cocode run`",
    ),
    (
        "network",
        "set `network` in the agent's table of agents.toml, or give --network to `agentd cocode run`",
    ),
    (
        "cache",
        "list the folder as writable in the agent's table of agents.toml, or give --cache to `agentd cocode run`",
    ),
    (
        "timeout",
        "set timeout_seconds in the agent's table of agents.toml, or give --timeout to `agentd cocode run`",
    ),
    ("layer", "agents work in worktrees of their own; agents.toml has no key for layers"),
];

/// Checks whether a command, by its words, obeys a common option, by its long name. One that only has subcommands obeys what
/// one of those does.
pub(crate) fn obeys(command: &str, option: &str) -> bool {
    let is_of = |words: &str| {
        words == command || words.strip_prefix(command).is_some_and(|rest| rest.starts_with(' '))
    };
    !COMMON.contains(&option)
        || command.is_empty()
        || COMMANDS.iter().any(|(words, options)| is_of(words) && options.contains(&option))
}

/// Fails if the command line gives a common option, by its long name, that the command does not obey.
pub(crate) fn check(command: &str, given: &BTreeSet<String>) -> Result<(), Failure> {
    let Some(option) = given.iter().find(|option| !obeys(command, option)) else { return Ok(()) };
    let failure = Failure::new(Exit::Usage, format!("`agentd {command}` does not obey --{option}"));
    let instead = INSTEAD.iter().find(|(name, _)| name == option);
    Err(match instead.filter(|_| command.starts_with("cocode")) {
        Some((_, instead)) => failure.advise(*instead),
        None => {
            failure.advise(format!("leave it out; `agentd {command} --help` lists the options that it obeys"))
        }
    })
}

/// Leaves the options out of every command's help that it does not obey. They are read all the same, to be refused with a reason.
pub(crate) fn hide_others(definition: Command) -> Command {
    let common: Vec<Arg> = definition.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    hide_in(definition, "", &common)
}

fn hide_in(command: Command, words: &str, common: &[Arg]) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = names.into_iter().fold(command, |command, name| {
        let words = format!("{words} {name}").trim_start().to_owned();
        command.mut_subcommand(name, |sub| hide_in(sub, &words, common))
    });
    if words.is_empty() {
        return command;
    }
    let is_hidden = |arg: &&Arg| arg.get_long().is_some_and(|long| !obeys(words, long));
    // The command's own definition hides the inherited one.
    let hidden: Vec<Arg> = common.iter().filter(is_hidden).map(|arg| arg.clone().hide(true)).collect();
    command.args(hidden)
}

#[cfg(test)]
mod tests {
    use super::super::{definition, shown_definition};
    use super::*;

    /// All commands that have none of their own, by their words.
    fn leaves(command: &Command, words: &str) -> Vec<String> {
        let subs: Vec<&Command> = command.get_subcommands().collect();
        if subs.is_empty() {
            return vec![words.to_owned()];
        }
        let under = |sub: &&Command| leaves(sub, format!("{words} {}", sub.get_name()).trim_start());
        subs.iter().flat_map(under).collect()
    }

    fn find<'a>(definition: &'a Command, words: &str) -> &'a Command {
        words.split(' ').fold(definition, |command, word| command.find_subcommand(word).unwrap())
    }

    #[test]
    fn every_command_says_what_it_obeys() {
        let existing: BTreeSet<String> = leaves(&definition(), "").into_iter().collect();
        let listed: BTreeSet<String> = COMMANDS.iter().map(|(words, _)| (*words).to_owned()).collect();
        assert_eq!(existing, listed);
        let definition = definition();
        let options = COMMANDS.iter().flat_map(|(_, options)| *options);
        for option in options.chain(&COMMON) {
            assert!(COMMON.contains(option), "{option}");
            let arg = definition.get_arguments().find(|arg| arg.get_long() == Some(option));
            assert!(arg.is_some_and(Arg::is_global_set), "{option}");
        }
    }

    #[test]
    fn help_shows_what_is_obeyed_and_nothing_else() {
        let mut definition = shown_definition();
        definition.build();
        for (words, options) in COMMANDS {
            let help = find(&definition, words).clone().render_long_help().to_string();
            for option in COMMON {
                let is_shown = help.lines().any(|line| {
                    let line = line.trim_start().trim_start_matches("-q, ").trim_start_matches("-v, ");
                    line.strip_prefix("--").and_then(|rest| rest.strip_prefix(option)).is_some_and(|rest| {
                        !rest.starts_with(|next: char| next.is_alphanumeric() || next == '-')
                    })
                });
                assert_eq!(is_shown, options.contains(&option), "{words} --{option}\n{help}");
            }
        }
    }

    #[test]
    fn an_option_that_is_not_obeyed_is_refused_in_every_position() {
        for (words, options) in COMMANDS {
            for option in COMMON {
                let checked = check(words, &BTreeSet::from([option.to_owned()]));
                assert_eq!(checked.is_ok(), options.contains(&option), "{words} --{option}");
            }
            assert!(check(words, &["quiet", "verbose", "config"].map(str::to_owned).into()).is_ok());
        }
    }
}
