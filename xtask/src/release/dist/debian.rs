//! The Debian package, made by `cargo deb` from `[package.metadata.deb]` of the program's manifest.

use std::fs;
use std::path::Path;

use super::OUTPUT;
use crate::setup::is_installed;
use crate::{Step, TaskError};

/// Writes the package, installs its files into a scratch root, runs the program there, and has lintian look at it where that
/// is installed. Without `cargo-deb`, that is said.
pub(super) fn write(root: &Path, stage: &Path, profile: &str) -> Result<(), TaskError> {
    if !is_installed("cargo-deb") || !is_installed("dpkg-deb") {
        println!("== Debian package: not made; `cargo xtask setup dist` installs cargo-deb, on Debian");
        return Ok(());
    }
    super::write(&stage.join("changelog"), changelog(root)?.as_bytes())?;
    // The package's assets are the staged files, so that it holds what the archive holds.
    let output = root.join(OUTPUT);
    let file = output.join(format!("agentd_{}.deb", architecture()?));
    let file = file.to_string_lossy().into_owned();
    // Other profiles are for a trial, and leave their names in the program.
    let is_trial = profile != "dist";
    let mut arguments = vec!["deb", "--quiet", "--package", "agentd-workspace", "--no-build", "--no-strip"];
    arguments.extend(["--output", &file]);
    arguments.extend(is_trial.then_some("--fast"));
    Step::cargo("Debian package", &arguments).folder(root).run()?;

    let scratch = output.join("scratch");
    let _ = fs::remove_dir_all(&scratch);
    let scratch_text = scratch.to_string_lossy().into_owned();
    Step::new("install", "dpkg-deb", &["--extract", &file, &scratch_text]).run()?;
    let installed = scratch.join("usr/bin/agentd");
    Step::new("the installed program", &installed.to_string_lossy(), &["--version"]).run()?;
    fs::remove_dir_all(&scratch).map_err(|source| TaskError::Unwritable { path: scratch, source })?;
    if is_installed("lintian") {
        // Root is warned of; the check is the same.
        let mut arguments = vec!["--fail-on", "error", "--allow-root"];
        arguments.extend(is_trial.then_some("--suppress-tags=unstripped-binary-or-object"));
        arguments.push(&file);
        Step::new("lintian", "lintian", &arguments).run()?;
    } else {
        println!("== lintian: not run, it is not installed");
    }
    Ok(())
}

/// Debian's name of this machine's architecture.
fn architecture() -> Result<String, TaskError> {
    let output = Step::new("architecture", "dpkg", &["--print-architecture"]).output()?;
    Ok(String::from_utf8_lossy(&output).trim().to_owned())
}

/// A changelog in Debian's form: the version, and where the real one is.
fn changelog(root: &Path) -> Result<String, TaskError> {
    let date = Step::new("date", "git", &["log", "-1", "--format=%aD"]).folder(root).output()?;
    let date = String::from_utf8_lossy(&date).into_owned();
    let version = env!("CARGO_PKG_VERSION");
    Ok(format!(
        "agentd ({version}-1) unstable; urgency=medium\n\n  * Release {version}; /usr/share/doc/agentd/CHANGELOG.md.gz says what changed.\n\n -- The contributors of agentd <contributors@agentd.invalid>  {date}"
    ))
}
