//! The programs of workflows that come from the languages' own packages, in one folder that commands can see.

use std::path::{Path, PathBuf};

use crate::Step;

/// Outside of the home and of the repository, because confined commands see the folder as they see other installed programs.
const FOLDER: &str = "/opt/agentd-workflows";

/// Debian's packages with the programs of workflows.
pub(crate) const DEBIAN_PACKAGES: [&str; 18] = [
    "build-essential",
    "cargo",
    "chromium",
    "cmake",
    "curl",
    "default-jdk-headless",
    "git",
    "gnupg",
    "golang-go",
    "gradle",
    "maven",
    "nodejs",
    "npm",
    "openssh-client",
    "postgresql",
    "python3-venv",
    "redis-server",
    "rustc",
];

const PYTHON_PACKAGES: [&str; 3] = ["pytest==9.2.0", "pytest-xdist==3.8.0", "uv==0.13.9"];
const NODE_PACKAGES: [&str; 1] = ["pnpm@12.21.0"];

/// Returns the folders of programs, to be searched before those of the machine.
pub(super) fn tool_folders() -> Vec<PathBuf> {
    // Python's folder has a `python3` of its own, so only its links to programs are offered.
    let folder = Path::new(FOLDER);
    vec![folder.join("bin"), folder.join("node/node_modules/.bin")]
}

/// Installs the languages' packages, and says what is there.
pub(crate) fn install_workflow_tools() {
    let folder = Path::new(FOLDER);
    let (python, node, bin) = (folder.join("python"), folder.join("node"), folder.join("bin"));
    let venv = ["-m", "venv", "--clear", &text(&python)];
    let pip = [&["-m", "pip", "install", "--quiet"], PYTHON_PACKAGES.as_slice()].concat();
    let is_python = Step::new("venv", "/usr/bin/python3", &venv).run().is_ok()
        && Step::new("pip", &text(&python.join("bin/python")), &pip).run().is_ok();
    report(is_python, &PYTHON_PACKAGES);
    let npm = ["install", "--no-package-lock", "--prefix", &text(&node)];
    let is_node = Step::new("npm", "npm", &[&npm[..], &NODE_PACKAGES].concat()).run().is_ok();
    report(is_node, &NODE_PACKAGES);
    for program in ["pytest", "uv"] {
        let target = text(&python.join("bin").join(program));
        let link = ["--symbolic", "--force", "--no-target-directory", &target, &text(&bin.join(program))];
        // A link that is missing shows as a workflow that is not run.
        let _ = std::fs::create_dir_all(&bin);
        let _ = Step::new("link", "ln", &link).run();
    }
}

fn report(is_installed: bool, packages: &[&str]) {
    let word = if is_installed { "present" } else { "missing" };
    for package in packages {
        println!("{word}: {package}");
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
