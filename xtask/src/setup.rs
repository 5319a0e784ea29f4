//! Programs that the test suite and the benchmarks use and that a bare machine may lack.

use std::path::{Path, PathBuf};

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
    install_clients(&target_folder());
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

/// A Python package that the tests of real clients use.
struct Client {
    /// The name to import.
    module: &'static str,
    /// What pip installs, with its version.
    package: &'static str,
    purpose: &'static str,
}

const CLIENTS: [Client; 2] = [
    Client { module: "mcp", package: "mcp==2.3.0", purpose: "tests of MCP with a real client" },
    Client {
        module: "websockets",
        package: "websockets==17.4",
        purpose: "tests of the llm4s dialect with a real client",
    },
];

/// Installs the clients that the tests of servers use, below the target folder. What cannot be had is said; the tests that
/// need it say that they were skipped.
fn install_clients(target: &Path) {
    let folder = target.join("clients/python");
    let python = folder.join("bin/python");
    let is_there = |client: &Client| {
        let import = format!("import {}", client.module);
        Step::new("client", &python.to_string_lossy(), &["-c", &import]).output().is_ok()
    };
    let missing: Vec<_> = CLIENTS.iter().filter(|client| !is_there(client)).collect();
    if !missing.is_empty() && is_installed("python3") {
        let place = folder.to_string_lossy().into_owned();
        let made = Step::new("venv", "python3", &["-m", "venv", &place]).run();
        let mut pip = vec!["-m", "pip", "install", "--quiet"];
        pip.extend(missing.iter().map(|client| client.package));
        // Whether it worked is seen by looking for it.
        let _ = made.and_then(|_| Step::new("pip", &python.to_string_lossy(), &pip).run());
    }
    for client in &CLIENTS {
        let Client { package, purpose, .. } = client;
        if is_there(client) {
            println!("present: Python package {package}");
        } else {
            println!("missing: Python package {package} ({purpose}; needs python3 with venv and pip)");
        }
    }
}

/// Where cargo puts what it builds.
fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| crate::root().join("target"), PathBuf::from)
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
