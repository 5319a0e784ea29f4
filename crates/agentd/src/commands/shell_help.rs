//! Completions for shells and manual pages, made from the definition of the command line.

use std::io::{self, Write};

use clap_complete::Shell;

use crate::command_line::similar_command;
use crate::config::shown_definition;
use crate::exit::{Exit, Failure, MEANINGS, Outcome};

/// Prints a script that completes the command line in a shell.
pub(crate) fn completions(shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut shown_definition(), "agentd", &mut script);
    print(&script)
}

/// Prints the manual page of the program, or of one of its commands.
pub(crate) fn manual(words: &[String]) -> Outcome {
    let mut root = shown_definition();
    root.build();
    let mut command = &root;
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| {
            let similar = similar_command(command, word).map(|name| format!("did you mean '{name}'? "));
            Failure::new(Exit::Usage, format!("there is no command '{}'", words.join(" ")))
                .advise(format!("{}`agentd --help` lists the commands", similar.unwrap_or_default()))
        })?;
    }
    let mut page = Vec::new();
    let manual = clap_mangen::Man::new(command.clone());
    let rendered = manual.source(concat!("agentd ", env!("CARGO_PKG_VERSION"))).render(&mut page);
    rendered.map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    page.extend(closing_sections(words).into_bytes());
    print(&page)
}

/// The sections of a manual page that the definition does not know of.
fn closing_sections(words: &[String]) -> String {
    let mut text = ".SH \"EXIT STATUS\"\n".to_owned();
    // `call` is for programs, which take one failure like the other.
    let is_call = words.first().is_some_and(|word| word == "call");
    let is_meant = |exit: Exit| !is_call || matches!(exit, Exit::Done | Exit::Failed | Exit::Usage);
    for (exit, meaning) in MEANINGS.iter().filter(|(exit, _)| is_meant(*exit)) {
        text.push_str(&format!(".TP\n\\fB{}\\fR\n{meaning}\n", *exit as u8));
    }
    text.push_str(
        ".SH FILES\n.TP\n\\fI$XDG_CONFIG_HOME/agentd/config.toml\\fR, \\fI~/.config/agentd/config.toml\\fR\n",
    );
    text.push_str("Defaults for options, each by its long name.\n");
    text
}

/// Prints bytes; a reader that closes the pipe early is not a failure.
fn print(bytes: &[u8]) -> Outcome {
    match io::stdout().lock().write_all(bytes) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Failed, format!("cannot print: {error}")))
        }
        _ => Ok(Exit::Done),
    }
}
