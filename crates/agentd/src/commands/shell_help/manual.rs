//! Manual pages of the program and of its commands.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command};

use crate::command_line::similar_command;
use crate::exit::{Exit, Failure, MEANINGS, Outcome};

/// The manual page to print, or the folder for all of them.
#[derive(Clone, Debug, Args)]
pub(crate) struct ManualOptions {
    /// The command, `cocode run` for instance.
    pub command: Vec<String>,
    /// Write the pages of the program and of every command into a folder, which is made if it is missing.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub write: Option<PathBuf>,
    /// Write the reference as pages in Markdown instead.
    #[arg(long, requires = "write")]
    pub markdown: bool,
}

/// A file of a set, by its name, with its text.
pub(super) type Page = (String, String);

/// Renders the page of the program, or of the command with these words.
pub(super) fn page_of(root: &Command, words: &[String]) -> Result<Vec<u8>, Failure> {
    let mut command = root;
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
    Ok(page)
}

/// Renders the pages of the program and of all commands that help lists, by the names that `man` looks for.
pub(super) fn pages(root: &Command) -> Result<Vec<Page>, Failure> {
    let mut pages = Vec::new();
    let mut pending = vec![(root, Vec::<String>::new())];
    while let Some((command, words)) = pending.pop() {
        let text = String::from_utf8_lossy(&page_of(root, &words)?).into_owned();
        let name = [&["agentd".to_owned()], words.as_slice()].concat().join("-");
        pages.push((format!("{name}.1"), text));
        let listed = command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help");
        pending.extend(listed.map(|sub| (sub, [words.as_slice(), &[sub.get_name().to_owned()]].concat())));
    }
    Ok(pages)
}

/// Writes a set of files into a folder.
pub(super) fn write_all(folder: &Path, pages: &[Page]) -> Outcome {
    let failed = |path: &Path, error: std::io::Error| {
        Failure::new(Exit::Failed, format!("cannot write {}: {error}", path.display()))
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for (name, text) in pages {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    Ok(Exit::Done)
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
