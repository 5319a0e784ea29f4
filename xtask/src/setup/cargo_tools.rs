//! Programs for cargo's users, from the registry, in pinned versions.

use crate::Step;
use crate::setup::is_installed;

/// A program that cargo installs, with the reason.
struct CargoTool {
    /// The program, which is the package's name, too.
    name: &'static str,
    version: &'static str,
    purpose: &'static str,
    /// Further arguments of the installation.
    arguments: &'static [&'static str],
}

/// The programs that the checks use.
const CHECK_TOOLS: [CargoTool; 4] = [
    CargoTool {
        name: "mdbook",
        version: "0.5.4",
        purpose: "the book",
        // Neither its server nor its watcher is of use here; they are most of its dependencies.
        arguments: &["--no-default-features", "--features", "search"],
    },
    CargoTool {
        name: "cargo-machete",
        version: "0.9.2",
        purpose: "the check for dependencies that nothing uses",
        arguments: &[],
    },
    CargoTool {
        name: "cargo-deny",
        version: "0.20.2",
        purpose: "the check of dependencies' licences, sources and names",
        arguments: &[],
    },
    CargoTool { name: "cargo-fuzz", version: "0.13.2", purpose: "the fuzz targets", arguments: &[] },
];

/// The programs of tasks that run for long, which the checks do not start: without them a machine of the checks lacks nothing.
const LONG_TOOLS: [CargoTool; 1] =
    [CargoTool { name: "cargo-mutants", version: "27.1.0", purpose: "mutants", arguments: &[] }];

/// The programs that make a release.
const DIST_TOOLS: [CargoTool; 1] =
    [CargoTool { name: "cargo-deb", version: "3.8.0", purpose: "Debian packages", arguments: &[] }];

/// Installs the programs of the checks and of long tasks that are missing, without optimizing them, which would take most of the time.
pub(crate) fn install_cargo_tools() {
    for tool in CHECK_TOOLS.iter().chain(&LONG_TOOLS) {
        install(tool);
    }
}

/// Installs the programs that make a release.
pub(crate) fn install_dist_tools() {
    for tool in &DIST_TOOLS {
        install(tool);
    }
}

/// Returns the programs of the checks that are not installed, each as a package with its version.
pub(crate) fn missing_cargo_tools() -> Vec<String> {
    let missing = CHECK_TOOLS.iter().filter(|tool| !is_installed(tool.name));
    missing.map(|tool| format!("{}@{}", tool.name, tool.version)).collect()
}

fn install(tool: &CargoTool) {
    if !is_installed(tool.name) {
        let package = format!("{}@{}", tool.name, tool.version);
        let mut arguments = vec!["install", "--locked", "--quiet", "--debug", &package];
        arguments.extend(tool.arguments);
        // Whether it worked is seen by looking for the program.
        let _ = Step::cargo("install", &arguments).variable("CARGO_PROFILE_DEV_DEBUG", "0").run();
    }
    if is_installed(tool.name) {
        println!("present: {}", tool.name);
    } else {
        println!("missing: {} ({}; cargo installs it)", tool.name, tool.purpose);
    }
}
