//! Completions for shells, manual pages and the reference, made from the definition of the command line.

mod manual;
mod reference;

use std::io::{self, Write};

use clap_complete::Shell;

pub(crate) use self::manual::ManualOptions;
use crate::config::shown_definition;
use crate::exit::{Exit, Failure, Outcome};

/// Prints a script that completes the command line in a shell.
pub(crate) fn completions(shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut shown_definition(), "agentd", &mut script);
    print(&script)
}

/// Prints a manual page, or writes all of them, or the reference, into a folder.
pub(crate) fn manual(options: &ManualOptions) -> Outcome {
    let mut root = shown_definition();
    root.build();
    match &options.write {
        None => print(&manual::page_of(&root, &options.command)?),
        Some(folder) if options.markdown => manual::write_all(folder, &reference::pages(&root)),
        Some(folder) => manual::write_all(folder, &manual::pages(&root)?),
    }
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
