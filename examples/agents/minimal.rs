//! A minimal agent: five variables in, one commit with the ready marker out.
//!
//! It uses the crate `cocode-env` for the contract, and is built with the tests of `cocode-runner`:
//! `cargo build -p cocode-runner --bin minimal-agent`.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::process::{Command, ExitCode};

use cocode_env::AgentContext;

fn main() -> ExitCode {
    let context = match AgentContext::from_variables(|variable| std::env::var_os(variable.name())) {
        Ok(context) => context,
        Err(error) => {
            log("ERROR", &error.to_string());
            return ExitCode::from(2);
        }
    };
    match work(&context) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log("ERROR", &error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn work(context: &AgentContext) -> std::io::Result<()> {
    log("INFO", &format!("Working on issue #{}", context.issue));
    let body = fs::read_to_string(context.issue_body_file())?;
    let title = body.lines().next().unwrap_or_default();

    // The work of a real agent goes here.
    let changes = context.repo_path().join("CHANGES.txt");
    let mut file = OpenOptions::new().append(true).create(true).open(changes)?;
    writeln!(file, "#{}: {title}", context.issue)?;

    git(&["add", "--all"])?;
    git(&[
        "commit",
        "--quiet",
        "--message",
        &format!("fix: issue #{}\n\n{}", context.issue, context.marker),
    ])?;
    log("INFO", "Complete");
    Ok(())
}

fn git(arguments: &[&str]) -> std::io::Result<()> {
    let status = Command::new("git").args(arguments).status()?;
    if status.success() { Ok(()) } else { Err(std::io::Error::other("git failed")) }
}

#[expect(clippy::print_stdout, reason = "an agent's log is its standard output")]
fn log(level: &str, message: &str) {
    println!("[{level}] {message}");
}
