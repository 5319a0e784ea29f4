//! Programs that the test suite and the benchmarks use and that a bare machine may lack.

mod cargo_tools;
pub(crate) mod client_packages;

use std::ffi::OsStr;
use std::path::Path;

use self::cargo_tools::{install_cargo_tools, install_dist_tools, missing_cargo_tools};
use self::client_packages::{install_clients, install_outside_peers, missing_clients};
use crate::coverage::{coverage_package, has_coverage_tools};
use crate::workflows::{install_workflow_tools, missing_debian_packages};
use crate::{Step, TaskError};

/// A program and what it is for.
struct Program {
    name: &'static str,
    purpose: &'static str,
    /// The package that has it, by the name that Debian gives it.
    package: &'static str,
}

const PROGRAMS: [Program; 14] = [
    Program { name: "git", purpose: "tests of worktrees and of protected folders", package: "git" },
    Program {
        name: "strace",
        purpose: "tests that look at the system calls of the daemon",
        package: "strace",
    },
    Program { name: "Xvfb", purpose: "tests of the clipboard of a desktop", package: "xvfb" },
    Program { name: "xclip", purpose: "tests of the clipboard of a desktop", package: "xclip" },
    Program { name: "tmux", purpose: "tests of the view of the review queue at a terminal", package: "tmux" },
    Program { name: "chromium", purpose: "tests of the page in a browser", package: "chromium" },
    Program { name: "chromedriver", purpose: "tests of the page in a browser", package: "chromium-driver" },
    Program { name: "nats-server", purpose: "tests of agents over many machines", package: "nats-server" },
    Program {
        name: "ip",
        purpose: "the test of the fleet guide, in network namespaces",
        package: "iproute2",
    },
    Program { name: "openssl", purpose: "the same, for certificates", package: "openssl" },
    Program {
        name: "rsync",
        purpose: "a refused copy over ssh, of `cargo xtask soak denied`",
        package: "rsync",
    },
    Program { name: "go", purpose: "the test of Go inside of the sandbox", package: "golang-go" },
    Program {
        name: "rg",
        purpose: "the search that `cargo xtask bench files` measures beside ours",
        package: "ripgrep",
    },
    Program {
        name: "bwrap",
        purpose: "the sandbox that `cargo xtask bench exec` measures beside ours",
        package: "bubblewrap",
    },
];

/// Installs what is missing, where that can be done with the machine's own package manager as root; else says what is
/// missing. Running it twice changes nothing more.
///
/// # Errors
///
/// [`TaskError::ProgramsMissing`] if anything is still missing and `CI` is set: there tests do not skip.
pub fn setup() -> Result<(), TaskError> {
    let packages: Vec<&str> = missing_programs().map(|program| program.package).collect();
    if !packages.is_empty() && is_root() && is_installed("apt-get") {
        install(&packages);
    }
    for program in PROGRAMS.iter().filter(|program| is_installed(program.name)) {
        println!("present: {}", program.name);
    }
    install_cargo_tools();
    install_clients();
    for program in missing_programs() {
        println!("missing: {} ({}; install the package {})", program.name, program.purpose, program.package);
    }
    require_packages()
}

/// Installs the peers that stand beside ours in the measures over material of others; see `cargo xtask outside`. They are large,
/// and no test needs them.
pub fn setup_outside() {
    install_outside_peers();
}

/// Installs the programs of the everyday workflows; see `cargo xtask workflows`. They are large, and no test needs them.
pub fn setup_workflows() {
    let missing = missing_debian_packages();
    if !missing.is_empty() && is_root() && is_installed("apt-get") {
        install(&missing);
    }
    for package in missing_debian_packages() {
        println!("missing: Debian's package {package}");
    }
    if is_root() {
        install_workflow_tools();
    }
}

/// Installs the programs that read the counters of instrumented tests; see `cargo xtask coverage`. No test needs them.
///
/// # Errors
///
/// Those of the compiler, whose version of LLVM names the package.
pub fn setup_coverage() -> Result<(), TaskError> {
    let package = coverage_package()?;
    if !has_coverage_tools() && is_root() && is_installed("apt-get") {
        install(&[&package]);
    }
    if has_coverage_tools() {
        println!("present: llvm-profdata and llvm-cov");
    } else {
        println!("missing: {package}; the component `llvm-tools` of the toolchain serves as well");
    }
    Ok(())
}

/// Installs the programs that make a release; see `cargo xtask dist`. No test needs them.
///
/// # Errors
///
/// As [`setup_coverage`], whose programs are among them.
pub fn setup_dist() -> Result<(), TaskError> {
    if !is_installed("lintian") && is_root() && is_installed("apt-get") {
        install(&["lintian"]);
    }
    install_dist_tools();
    setup_coverage()
}

/// Returns an error if `CI` is set and a program or client that the tests use is missing. Without `CI`, such tests are
/// skipped by name.
///
/// # Errors
///
/// [`TaskError::ProgramsMissing`], with all that is missing.
pub(crate) fn require_packages() -> Result<(), TaskError> {
    if std::env::var_os("CI").is_none_or(|ci| ci.is_empty()) {
        return Ok(());
    }
    let programs = missing_programs().map(|program| program.name.to_owned());
    let programs: Vec<String> = programs.chain(missing_cargo_tools()).chain(missing_clients()).collect();
    if programs.is_empty() { Ok(()) } else { Err(TaskError::ProgramsMissing { programs }) }
}

fn missing_programs() -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter().filter(|program| !is_installed(program.name))
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
    is_installed_in(program, &std::env::var_os("PATH").unwrap_or_default())
}

/// Tells whether a program is on a search path.
pub(crate) fn is_installed_in(program: &str, search_path: &OsStr) -> bool {
    std::env::split_paths(search_path).any(|folder| is_executable(&folder.join(program)))
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

/// Tells whether this process is root's.
pub(crate) fn is_root() -> bool {
    let output = Step::new("user", "id", &["-u"]).output();
    output.is_ok_and(|bytes| bytes.trim_ascii() == b"0")
}
