//! Codex's own program, which shows whether the scenarios are as it understands them.

use std::path::Path;
use std::process::{Command, Stdio};

use super::scenario::{Files, Scenario};
use crate::conformance::{Fixture, Problem};

/// Runs the program's patch command in a folder with the scenario's files, and returns the files afterwards.
///
/// # Errors
///
/// A problem if the program cannot be started, or the files cannot be read. What it reports does not count.
pub(super) fn patched(program: &Path, scenario: &Scenario) -> Result<Files, Problem> {
    let fixture = Fixture::new()?;
    for (path, text) in &scenario.input {
        fixture.put(path, text)?;
    }
    // Whatever it reads of settings, it reads none of the user's.
    let home = tempfile::tempdir()?;
    let mut command = Command::new(program);
    command.arg("--codex-run-as-apply-patch").arg(&scenario.patch).current_dir(fixture.workspace());
    command.env_clear().env("HOME", home.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let text = |(path, content): (String, Vec<u8>)| (path, String::from_utf8_lossy(&content).into_owned());
    Ok(fixture.files()?.into_iter().map(text).collect())
}
