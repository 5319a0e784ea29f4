//! The files of a release: an archive, a Debian package, and what both have.

mod archive;
mod debian;
mod third_party;
mod training;
mod units;

use std::fs;
use std::path::{Path, PathBuf};

use crate::coverage::CoverageTools;
use crate::{Step, TaskError};

/// The folder in which the files of a release are put together, relative to the root. The Debian package's manifest names the same folder.
const STAGE: &str = "target/release-files/stage";
/// The folder of archive and package, relative to the root.
const OUTPUT: &str = "target/release-files";

/// The folder of the program that is built to record its work, and of its records, relative to the root.
const TRAINING: &str = "target/training";

/// Files of the repository that the archive has at its top.
const PAGES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Completion scripts: the shell's name, and the file where the shell looks for it.
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "agentd.bash"),
    ("elvish", "agentd.elv"),
    ("fish", "agentd.fish"),
    ("powershell", "_agentd.ps1"),
    ("zsh", "_agentd"),
];

/// The configuration that names the crates that are optimized for speed.
const FAST: &str = "packaging/dist.toml";

/// Has the linker write relocations in their short form: a megabyte less to read before the program starts. It takes the GNU C
/// library 2.36 or newer, where one is linked dynamically; a linker that does not know it warns.
const PACKED: &str = "-Clink-arg=-Wl,-z,pack-relative-relocs";

/// The choices of a release.
#[derive(Clone, Debug)]
pub struct Dist {
    /// The profile of the build: `dist`, or a quicker one to try the rest.
    pub profile: String,
    /// The target, if it is not this machine's: `x86_64-unknown-linux-musl` for instance.
    pub target: Option<String>,
    /// Builds the program twice: first one that records which functions it enters while it does sample work, then the one of
    /// the release, in which those are side by side. This machine must be able to run both.
    pub is_trained: bool,
}

/// Builds the program and writes `target/release-files/`: an archive with the program, its manual pages, completions, units
/// and licences, and a Debian package where `cargo deb` is installed. Both are then unpacked and tried.
///
/// # Errors
///
/// Those of the programs that take part, and of reading and writing files.
pub fn dist(root: &Path, dist: &Dist) -> Result<(), TaskError> {
    let mut flags = format!("{} {PACKED}", std::env::var("RUSTFLAGS").unwrap_or_default());
    let mut dist = dist.clone();
    if dist.is_trained {
        // With a target that is named, programs that take part in the build do not record. The names of functions depend on
        // whether one is named, and both programs must have the same.
        dist.target = Some(dist.target.map_or_else(host, Ok)?);
        flags = format!("{flags} {}", training::ordering_flags(&trained(root, &dist, &flags)?));
    }
    let dist = &dist;
    build(root, dist, &[], &flags)?;
    let program = program(root, dist);
    let stage = root.join(STAGE);
    put_together(root, &stage, &program)?;
    units::verify(&stage)?;
    archive::write(root, &stage, &program)?;
    debian::write(root, &stage, &dist.profile)
}

/// Builds a program that records what it enters, has it do sample work, and returns the file with its records.
fn trained(root: &Path, dist: &Dist, flags: &str) -> Result<PathBuf, TaskError> {
    // Before the build, which takes long.
    let tools = CoverageTools::find()?;
    let folder = root.join(TRAINING);
    let records = folder.join("records");
    // Those of an earlier program have other functions.
    let _ = fs::remove_dir_all(&records);
    fs::create_dir_all(&records).map_err(|source| TaskError::Unwritable { path: records.clone(), source })?;
    let folder_text = folder.to_string_lossy();
    let flags = format!("{flags} {}", training::recording_flags(&records));
    build(root, dist, &["--target-dir", &folder_text], &flags)?;
    training::train(root, &program_in(&folder, dist), &records, &tools)
}

fn build(root: &Path, dist: &Dist, further: &[&str], flags: &str) -> Result<(), TaskError> {
    let mut arguments =
        vec!["build", "--package", "agentd-workspace", "--bin", "agentd", "--profile", &dist.profile];
    arguments.extend(["--config", FAST]);
    if let Some(target) = &dist.target {
        arguments.extend(["--target", target]);
    }
    arguments.extend(further);
    Step::cargo("build", &arguments).variable("RUSTFLAGS", flags.trim()).folder(root).run().map(drop)
}

/// This machine's target.
fn host() -> Result<String, TaskError> {
    let report = Step::new("host", "rustc", &["--version", "--verbose"]).output()?;
    let report = String::from_utf8_lossy(&report);
    let host = report.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| TaskError::StepFailed { step: "host".to_owned() })
}

/// The path of the built program.
fn program(root: &Path, dist: &Dist) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    program_in(&target, dist)
}

fn program_in(target: &Path, dist: &Dist) -> PathBuf {
    let target = dist.target.as_ref().map_or(target.to_owned(), |triple| target.join(triple));
    // The folder of the profile `dev` has another name.
    let folder = if dist.profile == "dev" { "debug" } else { &dist.profile };
    target.join(folder).join("agentd")
}

/// Puts the files of a release into a fresh folder.
fn put_together(root: &Path, stage: &Path, program: &Path) -> Result<(), TaskError> {
    // There is none before the first release.
    let _ = fs::remove_dir_all(stage);
    let completions = stage.join("completions");
    for folder in [&stage.join("man"), &completions, &stage.join("systemd")] {
        fs::create_dir_all(folder)
            .map_err(|source| TaskError::Unwritable { path: folder.clone(), source })?;
    }
    copy(program, &stage.join("agentd"))?;
    for page in PAGES {
        copy(&root.join(page), &stage.join(page))?;
    }
    let units = root.join("packaging/systemd");
    let unreadable = |source| TaskError::Unreadable { path: units.clone(), source };
    for unit in fs::read_dir(&units).map_err(unreadable)? {
        let unit = unit.map_err(unreadable)?;
        copy(&unit.path(), &stage.join("systemd").join(unit.file_name()))?;
    }
    let agentd = program.to_string_lossy();
    let pages = stage.join("man").to_string_lossy().into_owned();
    Step::new("manual pages", &agentd, &["man", "--write", &pages]).run()?;
    for (shell, file) in COMPLETIONS {
        let script = Step::new("completions", &agentd, &["completions", shell]).output()?;
        write(&completions.join(file), &script)?;
    }
    write(&stage.join("THIRD-PARTY"), third_party::notices(root)?.as_bytes())
}

fn copy(from: &Path, to: &Path) -> Result<(), TaskError> {
    let unwritable = |source| TaskError::Unwritable { path: to.to_owned(), source };
    fs::copy(from, to).map_err(unwritable).map(drop)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), TaskError> {
    fs::write(path, bytes).map_err(|source| TaskError::Unwritable { path: path.to_owned(), source })
}
