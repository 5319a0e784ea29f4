//! The options that a configuration file may set.

use clap::builder::BoolishValueParser;
use clap::{Arg, ArgAction, Command, CommandFactory, Id};

use super::obeyed_options;
use crate::cli::Cli;

/// A table of the file: options of some commands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SettableTable {
    /// Its name in the file; the options of all commands precede the first table.
    pub(super) name: &'static str,
    /// The commands, with spaces in those of two words; an empty one stands for all.
    commands: &'static [&'static str],
    /// The commands among these for which the same option means something else.
    but_for: &'static [&'static str],
    /// Long names of options. Those of a single call, and those about one folder, cannot be set in a file.
    pub(super) options: &'static [&'static str],
}

pub(super) const TABLES: &[SettableTable] = &[
    SettableTable {
        name: "",
        commands: &[""],
        but_for: &[],
        options: &[
            "sandbox",
            "read-only",
            "protect",
            "ask-about",
            "unprotect",
            "history-limit",
            "home-limit",
            "quiet",
            "verbose",
        ],
    },
    // The rights of an agent are in agents.toml: most cannot work without the network.
    SettableTable {
        name: "",
        commands: &[""],
        but_for: &["cocode"],
        options: &["network", "layer", "home", "cache", "secrets", "read-secret"],
    },
    // The time limits of agents are in agents.toml, and summaries are an agent's work as well.
    SettableTable { name: "", commands: &[""], but_for: &["cocode", "codali"], options: &["timeout"] },
    SettableTable {
        name: "session",
        commands: &["new", "resume"],
        but_for: &[],
        options: &["dialect", "budget", "paste", "review", "copy", "clipboard", "no-wait"],
    },
    SettableTable {
        name: "apply",
        commands: &["apply", "paste"],
        but_for: &[],
        options: &["review", "keep"],
    },
    SettableTable { name: "log", commands: &["log"], but_for: &[], options: &["limit"] },
    SettableTable { name: "gc", commands: &["gc"], but_for: &[], options: &["limit"] },
    SettableTable {
        name: "codali",
        commands: &["codali"],
        but_for: &[],
        options: &[
            "format",
            "budget",
            "deterministic",
            "context-tokens",
            "summarizer",
            "system",
            "docdex",
            "docdex-repo",
            "docdex-token-file",
            "web",
            "timeout",
        ],
    },
    SettableTable { name: "index", commands: &["index search"], but_for: &[], options: &["limit"] },
    SettableTable {
        name: "mcp",
        commands: &["mcp"],
        but_for: &[],
        options: &["wap-json", "tools", "page", "review", "questions", "ask-deletions"],
    },
    SettableTable {
        name: "serve",
        commands: &["serve"],
        but_for: &[],
        options: &[
            "listen",
            "token-file",
            "no-token",
            "allow-host",
            "wap-json",
            "tools",
            "page",
            "review",
            "questions",
            "ask-deletions",
        ],
    },
    SettableTable {
        name: "cocode",
        commands: &["cocode run", "cocode pick", "cocode clean", "cocode doctor"],
        but_for: &[],
        options: &["worktrees", "agents-file"],
    },
    SettableTable {
        name: "cocode.run",
        commands: &["cocode run"],
        but_for: &[],
        options: &["agent", "marker", "from", "parallel", "all", "compare"],
    },
];

/// Options of a file that do not count where the command line gives another option with the same purpose.
const STAND_ASIDE_FOR: [(&str, &str); 1] = [("agent", "agent-cmd")];

/// Checks whether an option of a file yields to one of the command line, though both could be set.
pub(super) fn stands_aside(option: &Arg, given: &Arg) -> bool {
    STAND_ASIDE_FOR
        .iter()
        .any(|(one, other)| option.get_long() == Some(one) && given.get_long() == Some(other))
}

impl SettableTable {
    /// Checks whether the table applies to a command.
    pub(super) fn holds_for(&self, command: &str) -> bool {
        let first = command.split(' ').next().unwrap_or_default();
        self.commands.iter().any(|one| one.is_empty() || *one == command) && !self.but_for.contains(&first)
    }

    /// The first command that the table speaks of.
    pub(super) fn command<'a>(&self, definition: &'a Command) -> &'a Command {
        let words = self.commands.first().copied().unwrap_or_default();
        command_at(definition, words).expect("tables name commands that there are")
    }

    /// Finds an option by its long name.
    pub(super) fn find<'a>(&self, definition: &'a Command, option: &str) -> Option<&'a Arg> {
        let own =
            self.commands.iter().find_map(|command| option_of(command_at(definition, command)?, option));
        own.or_else(|| option_of(definition, option).filter(|arg| arg.is_global_set()))
    }
}

/// Finds a command by its words.
pub(super) fn command_at<'a>(definition: &'a Command, words: &str) -> Option<&'a Command> {
    words
        .split(' ')
        .filter(|word| !word.is_empty())
        .try_fold(definition, |command, word| command.find_subcommand(word))
}

/// Finds an option of a command by its long name.
pub(super) fn option_of<'a>(command: &'a Command, long: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| arg.get_long() == Some(long))
}

/// The command line as it is read. A flag that a file may set can also be unset, `--quiet=off` for instance.
pub(crate) fn definition() -> Command {
    with_all_switches(Cli::command())
}

/// Gives the commands of a definition their switches: all commands, or some of them.
pub(crate) fn with_all_switches(definition: Command) -> Command {
    let entries = TABLES.iter().flat_map(|table| table.commands.iter().map(move |command| (table, *command)));
    entries.fold(definition, |definition, (table, words)| match command_at(&definition, words) {
        Some(_) => change_at(definition, words, &|command| with_switches(command, table.options)),
        None => definition,
    })
}

/// The command line as it is shown to people. To make it takes as long as to read the arguments.
pub(crate) fn shown_definition() -> Command {
    obeyed_options::hide_others(definition())
}

/// Changes a command, found by its words, within a definition.
pub(super) fn change_at(definition: Command, words: &str, change: &dyn Fn(Command) -> Command) -> Command {
    match words.split_once(' ').unwrap_or((words, "")) {
        ("", _) => change(definition),
        (first, rest) => definition.mut_subcommand(first, |command| change_at(command, rest, change)),
    }
}

fn with_switches(command: Command, options: &[&str]) -> Command {
    let is_meant = |arg: &&Arg| is_flag(arg) && arg.get_long().is_some_and(|long| options.contains(&long));
    let flags: Vec<Id> = command.get_arguments().filter(is_meant).map(|arg| arg.get_id().clone()).collect();
    flags.into_iter().fold(command, |command, id| command.mut_arg(id, switch))
}

fn is_flag(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

fn switch(flag: Arg) -> Arg {
    // A value needs `=`, so that `--quiet TASK` does not take the task for its value.
    flag.action(ArgAction::Set)
        .num_args(0..=1)
        .require_equals(true)
        .value_name("on|off")
        .value_parser(BoolishValueParser::new())
        .hide_possible_values(true)
        .default_missing_value("on")
        .default_value("off")
        .hide_default_value(true)
}

/// Checks whether an option is a switch.
pub(super) fn is_switch(arg: &Arg) -> bool {
    // An option with its own values may need `=` as well.
    arg.is_require_equals_set() && arg.get_default_values() == ["off"]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_a_file_may_set_is_an_option_and_is_described() {
        let page = include_str!("../../../../docs/configuration.md");
        let definition = definition();
        for table in TABLES {
            for command in table.commands {
                assert!(command_at(&definition, command).is_some(), "there is no command '{command}'");
            }
            for option in table.options {
                assert!(table.find(&definition, option).is_some(), "'{}' has no '{option}'", table.name);
                let row = format!("| `{option}` |");
                assert!(page.contains(&row), "docs/configuration.md has no row for '{option}'");
            }
            let title = format!("`[{}]`", table.name);
            assert!(table.name.is_empty() || page.contains(&title), "docs/configuration.md has no {title}");
        }
    }
}
