//! Clients that people have, on the built program. `cargo xtask setup` installs them under the target folder.

mod common_task;
mod conformance;
mod inspector;
mod python;
mod rmcp;
mod schemathesis;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the folder of the clients.
fn clients() -> Option<PathBuf> {
    Some(Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?.join("clients"))
}

/// A program of the Python packages, if they are installed.
fn python_program(name: &str) -> Option<Command> {
    let program = clients()?.join("python/bin").join(name);
    program.is_file().then(|| Command::new(program))
}

/// Node with a script of a package, if both are installed.
fn node_script(script: &str) -> Option<Command> {
    let script = clients()?.join("node/node_modules/@modelcontextprotocol").join(script);
    let mut node = python_program("node")?;
    node.arg(&script);
    script.is_file().then_some(node)
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/clients").join(name)
}

/// Prints figures for runs that show the output of tests.
#[expect(clippy::print_stdout, reason = "the figures are for a developer who runs these tests alone")]
fn show(text: &str) {
    println!("{text}");
}
