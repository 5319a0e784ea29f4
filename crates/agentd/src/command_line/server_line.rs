//! The command lines of servers, which clients start again and again, read with a definition of only these commands.
//!
//! Defining the other commands would already take a tenth of a server's time until it answers. A line that this definition
//! cannot read is read with the definition of the commands that it names, or with the whole one.

use std::ffi::OsString;

use clap::{ArgMatches, Command as Definition, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::cli::{Cli, Command};
use crate::commands::review::options::ReviewPolicyOption;
use crate::commands::serve::mcp::McpOptions;
use crate::common_options::CommonOptions;
use crate::config::with_all_switches;

#[derive(Debug, Parser)]
#[command(name = "agentd", version, disable_help_subcommand = true)]
struct ServerCli {
    #[command(flatten)]
    common: CommonOptions,
    #[arg(long)]
    resume: bool,
    #[command(subcommand)]
    command: ServerCommand,
}

#[derive(Debug, Subcommand)]
enum ServerCommand {
    Mcp(McpOptions),
    Wap(ReviewPolicyOption),
}

/// Reads a command line of a server; also returns the definition that it was read with. `None` for every other command, for
/// faults, and for requests for help.
pub(super) fn parse(arguments: &[OsString]) -> Option<(Definition, ArgMatches, Cli)> {
    if !arguments.iter().any(|word| word == "mcp" || word == "wap") {
        return None;
    }
    let mut definition = with_all_switches(ServerCli::command());
    let matches = definition.try_get_matches_from_mut(arguments).ok()?;
    let ServerCli { common, resume, command } = ServerCli::from_arg_matches(&matches).ok()?;
    let command = match command {
        ServerCommand::Mcp(options) => Command::Mcp(options),
        ServerCommand::Wap(review) => Command::Wap(review),
    };
    Some((definition, matches, Cli { common, resume, command: Some(command) }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::whole_reading::{assert_read_alike, words};
    use super::*;

    #[test]
    fn servers_are_read_and_nothing_else_is() {
        for line in [&["mcp"][..], &["--read-only", "mcp", "--page", "0"], &["wap", "--review=all"]] {
            assert!(parse(&words(line)).is_some(), "{line:?}");
        }
        for line in [
            &["new", "mcp"][..],
            &["mcp", "--help"],
            &["--version", "mcp"],
            &["mcp", "--page", "7"],
            &["wap", "--review", "all"],
            &["a task about mcp"],
            &["setup", "wap"],
        ] {
            assert!(parse(&words(line)).is_none(), "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn both_definitions_read_the_same(
            line in prop::collection::vec(
                prop::sample::select(vec![
                    "mcp", "wap", "mcp", "wap", "new", "call", "--", "--resume", "--read-only", "--read-only=off",
                    "--quiet=on", "-q", "-v", "--json", "--workspace", "mcp", "--base=mcp", "--network", "on",
                    "--timeout=7", "--page=0", "--page", "2000", "--tools=undo,log", "--wap-json",
                    "--wap-json=off", "--review=all", "--questions", "--sandbox=off", "--no-such-option", "-h",
                ]),
                0..6,
            ),
        ) {
            let arguments = words(&line);
            if let Some((_, _, cli)) = parse(&arguments) {
                assert_read_alike(&arguments, cli);
            }
        }
    }
}
