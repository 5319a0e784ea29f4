//! The book of the pages under `docs/`.

mod built_links;

use std::path::Path;

use crate::{Step, TaskError};

/// The folder of the built book, relative to the root; `book.toml` says the same.
const BUILT: &str = "target/book";

/// Builds the book, and checks every link between its pages.
///
/// # Errors
///
/// Those of `mdbook`, which `cargo xtask setup` installs, and [`TaskError::BrokenLinks`] after printing them.
pub fn book(root: &Path) -> Result<(), TaskError> {
    Step::new("book", "mdbook", &["build"]).folder(root).run()?;
    let folder = root.join(BUILT);
    let broken = built_links::broken(&folder)?;
    for link in &broken {
        println!("book: {link}");
    }
    if broken.is_empty() { Ok(()) } else { Err(TaskError::BrokenLinks { links: broken.len() }) }
}

/// Writes the reference of all commands, `docs/reference/`, from the definition of the command line.
///
/// # Errors
///
/// Those of the program.
pub fn reference(root: &Path) -> Result<(), TaskError> {
    let run = ["run", "--quiet", "--package", "agentd-workspace", "--bin", "agentd", "--"];
    let arguments = [&run[..], &["man", "--markdown", "--write", "docs/reference"]].concat();
    Step::cargo("reference", &arguments).folder(root).run()?;
    Ok(())
}
