//! Programs that the test suite and the benchmarks use and that a bare machine may lack.

use std::path::Path;

use crate::client_packages::install_clients;
use crate::{Step, TaskError};

/// A program and what it is for.
struct Program {
    name: &'static str,
    purpose: &'static str,
    /// The package that has it, by the name that Debian gives it; `None` if it is only reported.
    package: Option<&'static str>,
}

const PROGRAMS: [Program; 5] = [
    Program { name: "git", purpose: "tests of worktrees and of protected folders", package: Some("git") },
    Program {
        name: "strace",
        purpose: "tests that look at the system calls of the daemon",
        package: Some("strace"),
    },
    Program {
        name: "rg",
        purpose: "the search that `cargo xtask bench files` measures beside ours",
        package: Some("ripgrep"),
    },
    Program {
        name: "bwrap",
        purpose: "the sandbox that `cargo xtask bench exec` measures beside ours",
        package: Some("bubblewrap"),
    },
    Program {
        name: "cargo-deny",
        purpose: "the licence and source check of `cargo xtask ci`",
        package: None,
    },
];

/// Installs what is missing, where that can be done with the machine's own package manager as root; else says what is
/// missing. Running it twice changes nothing more.
///
/// # Errors
///
/// [`TaskError::ProgramsMissing`] if a program is still missing and `CI` is set: there tests do not skip.
pub fn setup() -> Result<(), TaskError> {
    let missing: Vec<&Program> = PROGRAMS.iter().filter(|program| !is_installed(program.name)).collect();
    for program in PROGRAMS.iter().filter(|program| is_installed(program.name)) {
        println!("present: {}", program.name);
    }
    let packages: Vec<&str> = missing.iter().filter_map(|program| program.package).collect();
    if !packages.is_empty() && is_root() && is_installed("apt-get") {
        install(&packages);
    }
    install_clients();
    let still_missing: Vec<&Program> =
        missing.iter().copied().filter(|program| !is_installed(program.name)).collect();
    for program in &still_missing {
        let advice = match program.package {
            Some(package) => format!("install the package {package}"),
            None => "optional".to_owned(),
        };
        println!("missing: {} ({}; {advice})", program.name, program.purpose);
    }
    let required: Vec<String> = still_missing
        .iter()
        .filter(|program| program.package.is_some())
        .map(|program| program.name.to_owned())
        .collect();
    if !required.is_empty() && std::env::var_os("CI").is_some() {
        return Err(TaskError::ProgramsMissing { programs: required });
    }
    Ok(())
}

/// Tries to install packages. Whether it worked is seen by looking for the programs.
fn install(packages: &[&str]) {
    let mut arguments = vec!["install", "--yes", "--no-install-recommends"];
    arguments.extend(packages);
    let step = Step::new("install", "apt-get", &arguments).variable("DEBIAN_FRONTEND", "noninteractive");
    if step.run().is_err() {
        // The lists of a fresh machine are empty, or too old.
        if Step::new("update", "apt-get", &["update"]).run().is_ok() {
            // A second failure shows in the list of what is missing.
            let _ = step.run();
        }
    }
}

/// Tells whether a program is on the search path.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_executable(&folder.join(program)))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file() || file.with_extension("exe").is_file()
}

fn is_root() -> bool {
    let output = Step::new("user", "id", &["-u"]).output();
    output.is_ok_and(|bytes| bytes.trim_ascii() == b"0")
}
