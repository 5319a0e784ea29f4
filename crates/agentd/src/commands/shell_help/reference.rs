//! The reference of the command line as pages in Markdown, one for each group of commands.

use std::fmt::Write;

use clap::{Arg, Command};

use super::manual::Page;
use crate::exit::MEANINGS;

/// A page of the reference: its file, its title, and its commands in their order there.
struct Group {
    file: &'static str,
    title: &'static str,
    commands: &'static [&'static str],
}

const GROUPS: [Group; 6] = [
    Group {
        file: "sessions.md",
        title: "Sessions with a chat window",
        commands: &["demo", "ui", "new", "resume", "apply", "outbox", "copy", "paste", "review"],
    },
    Group {
        file: "history.md",
        title: "History and undo",
        commands: &["log", "diff", "undo", "blame", "sessions", "show", "replay", "processes", "gc"],
    },
    Group {
        file: "servers.md",
        title: "Clients and servers",
        commands: &["setup", "mcp", "serve", "wap", "call"],
    },
    Group { file: "agents.md", title: "Agents", commands: &["cocode", "fleet"] },
    Group {
        file: "envelopes.md",
        title: "Envelopes, the index, and parsers",
        commands: &["codali", "index", "parse"],
    },
    Group { file: "machine.md", title: "This machine", commands: &["doctor", "completions", "man"] },
];

const GENERATED: &str =
    "<!-- Written by `cargo xtask book --reference` from the definition of the command line. -->\n\n";

/// Renders all pages: the overview with the common options, and one for each group.
///
/// A command that is in no group is on the page of this machine, so that none is missing.
pub(super) fn pages(root: &Command) -> Vec<Page> {
    let mut pages = vec![("commands.md".to_owned(), overview(root))];
    for group in &GROUPS {
        let mut text = format!("{GENERATED}# {}\n", group.title);
        for command in members(root, group) {
            describe(&mut text, command, &format!("agentd {}", command.get_name()));
        }
        pages.push((group.file.to_owned(), text));
    }
    pages
}

/// The commands of a group; commands without a group belong to the last one.
fn members<'a>(root: &'a Command, group: &Group) -> Vec<&'a Command> {
    let listed = group.commands.iter().filter_map(|name| root.find_subcommand(name));
    let is_grouped = |name: &str| GROUPS.iter().any(|group| group.commands.contains(&name));
    let is_last = GROUPS.last().is_some_and(|last| last.file == group.file);
    let others = subcommands(root).filter(|command| is_last && !is_grouped(command.get_name()));
    listed.chain(others).collect()
}

/// A command's direct subcommands that help lists.
fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
}

fn overview(root: &Command) -> String {
    let mut text = format!("{GENERATED}# Commands\n");
    push(&mut text, &about(root));
    text.push_str("\n| command | |\n| --- | --- |\n");
    for group in &GROUPS {
        for command in members(root, group) {
            let name = command.get_name();
            let short = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(
                text,
                "| [`agentd {name}`]({}#agentd-{name}) | {} |",
                group.file,
                cell(&sentence(short))
            );
        }
    }
    text.push_str("\n## Common options\n\nThey may come before or after the command.\n\n");
    table(&mut text, root.get_arguments().filter(|arg| !arg.is_hide_set()));
    text.push_str("\n## Exit codes\n\n| code | |\n| --- | --- |\n");
    for (exit, meaning) in &MEANINGS {
        let _ = writeln!(text, "| {} | {} |", *exit as u8, cell(meaning));
    }
    text
}

/// Describes a command and its subcommands, each with a heading.
fn describe(text: &mut String, command: &Command, words: &str) {
    let _ = write!(text, "\n## `{words}`\n");
    push(text, &about(command));
    let usage = command.clone().render_usage().to_string();
    let _ = write!(text, "\n```text\n{}\n```\n", usage.trim_start_matches("Usage: ").trim_end());
    let own: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set() && is_own(arg)).collect();
    if !own.is_empty() {
        text.push('\n');
        table(text, own.into_iter());
    }
    let common: Vec<String> = command
        .get_arguments()
        .filter(|arg| arg.is_global_set() && !arg.is_hide_set())
        .filter_map(|arg| arg.get_long().map(|long| format!("`--{long}`")))
        .collect();
    let subs: Vec<&Command> = subcommands(command).collect();
    if !common.is_empty() && (subs.is_empty() || !command.is_subcommand_required_set()) {
        let _ = write!(text, "\n[Common options](commands.md#common-options): {}.\n", common.join(", "));
    }
    for sub in subs {
        describe(text, sub, &format!("{words} {}", sub.get_name()));
    }
}

fn is_own(arg: &Arg) -> bool {
    !arg.is_global_set() && !matches!(arg.get_long(), Some("help" | "version"))
}

fn about(command: &Command) -> String {
    let text = command.get_long_about().or(command.get_about());
    sentence(text.map(ToString::to_string).unwrap_or_default())
}

/// Ends a text with a period, which help leaves out.
fn sentence(text: String) -> String {
    let ends = text.ends_with(['.', ']', ')', ':', '?']);
    if text.is_empty() || ends { text } else { text + "." }
}

fn push(text: &mut String, paragraph: &str) {
    if !paragraph.is_empty() {
        let _ = write!(text, "\n{}\n", plain(paragraph));
    }
}

fn table<'a>(text: &mut String, args: impl Iterator<Item = &'a Arg>) {
    text.push_str("| argument or option | |\n| --- | --- |\n");
    for arg in args {
        let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
        let _ =
            writeln!(text, "| `{}` | {} |", format!("{short}{arg}").replace('|', "\\|"), cell(&meaning(arg)));
    }
}

/// Returns the help of an argument, with its values and its default.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string);
    let mut text = sentence(help.unwrap_or_default());
    let values: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set() && !arg.is_hide_possible_values_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    // A flag has the values true and false, which are not written.
    if !values.is_empty() && arg.get_action().takes_values() {
        let _ = write!(text, " One of {}.", values.join(", "));
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if !defaults.is_empty() && !arg.is_hide_default_value_set() && arg.get_action().takes_values() {
        let _ = write!(text, " Default: `{}`.", defaults.join(" "));
    }
    text
}

/// A text for a cell of a table: on one line, with its bars escaped.
fn cell(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// Escapes angle brackets outside of code, which would be markup.
fn plain(text: &str) -> String {
    let escape = |(index, part): (usize, &str)| {
        // Between an odd and an even backtick is code.
        if index % 2 == 0 { part.replace('<', "&lt;") } else { part.to_owned() }
    };
    text.split('`').enumerate().map(escape).collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angle_brackets_and_bars_are_text() {
        assert_eq!(cell("a <b> | `<c>`\n d"), "a &lt;b> \\| `<c>` d");
    }

    #[test]
    fn every_command_has_its_group() {
        let root = crate::config::shown_definition();
        let mut names: Vec<&str> = GROUPS.iter().flat_map(|group| group.commands).copied().collect();
        let mut existing: Vec<&str> = subcommands(&root).map(Command::get_name).collect();
        names.sort_unstable();
        existing.sort_unstable();
        assert_eq!(names, existing);
    }
}
