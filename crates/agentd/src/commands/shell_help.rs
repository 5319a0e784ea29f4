//! What shells and `man` know of the command line, made from its definition.

use std::io::{self, Write};

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::{Exit, Failure, Outcome};

/// Prints a script that completes the command line in a shell.
pub(crate) fn completions(shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "agentd", &mut script);
    print(&script)
}

/// Prints the manual page of the program, or of one of its commands.
pub(crate) fn manual(words: &[String]) -> Outcome {
    let mut root = Cli::command();
    root.build();
    let mut command = &root;
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| {
            Failure::new(Exit::Usage, format!("there is no command '{}'", words.join(" ")))
                .advise("`agentd --help` lists the commands")
        })?;
    }
    let mut page = Vec::new();
    let manual = clap_mangen::Man::new(command.clone());
    let rendered = manual.source(concat!("agentd ", env!("CARGO_PKG_VERSION"))).render(&mut page);
    rendered.map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    print(&page)
}

/// Prints bytes; a reader that has seen enough is no failure.
fn print(bytes: &[u8]) -> Outcome {
    match io::stdout().lock().write_all(bytes) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Failed, format!("cannot print: {error}")))
        }
        _ => Ok(Exit::Done),
    }
}
