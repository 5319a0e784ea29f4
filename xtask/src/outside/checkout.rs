//! A checkout that the user has, or its repository.

use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the newest commit in twelve digits, or `unknown` where the folder is not a repository.
pub(super) fn version(from: &Path) -> String {
    let commit = git(from, &["rev-parse", "--short=12", "HEAD"]);
    commit.map_or_else(|| "unknown".to_owned(), |commit| String::from_utf8_lossy(&commit).trim().to_owned())
}

/// Returns the content of a file: of the folder, or else of its newest commit.
pub(super) fn file(from: &Path, name: &str) -> Option<Vec<u8>> {
    std::fs::read(from.join(name)).ok().or_else(|| git(from, &["show", &format!("HEAD:{name}")]))
}

/// Runs git in a folder; `None` if that fails.
pub(super) fn git(folder: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments).stderr(Stdio::null());
    let output = command.output().ok()?;
    output.status.success().then_some(output.stdout)
}
