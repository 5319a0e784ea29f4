//! Facts about a project for its first message: the commands that build and test it, and its virtual environments.
//!
//! Every text is a constant of this module, chosen by files of the workspace: in this section, a model would read text from the
//! workspace as an instruction.

use wap_core::{Call, Workspace};

use super::Context;
use crate::adapter::read_start;

/// Files in the root, and the commands that they imply.
const BY_MANIFEST: [(&str, &[&str]); 6] = [
    ("Cargo.toml", &["cargo build", "cargo test"]),
    ("go.mod", &["go build ./...", "go test ./..."]),
    ("pom.xml", &["mvn -q compile", "mvn -q test"]),
    ("gradlew", &["./gradlew build", "./gradlew test"]),
    ("CMakeLists.txt", &["cmake -B build && cmake --build build", "ctest --test-dir build"]),
    ("Gemfile", &["bundle exec rake"]),
];

/// Targets of a Makefile and scripts of a package that are recognised as commands.
const TARGETS: [&str; 4] = ["build", "check", "lint", "test"];

/// Files that imply pytest, and files of a Python project.
const PYTEST: [&str; 3] = ["pytest.ini", "conftest.py", "tests/conftest.py"];
const PYTHON: [&str; 3] = ["pyproject.toml", "setup.py", "requirements.txt"];

/// The usual folders of Python virtual environments.
const ENVIRONMENTS: [&str; 3] = [".venv", "venv", "env"];

/// Returns sentences about the project: commands that build and test it, and virtual environments.
///
/// Files that cannot be read count as missing.
#[must_use]
pub fn project_facts<W: Workspace + ?Sized>(
    workspace: &W,
    call: &Call<'_>,
    context: &Context,
) -> Vec<String> {
    let is_there = |path: &str| context.listing.iter().any(|entry| entry.path == path);
    let text = |path: &str| {
        let response = is_there(path).then(|| read_start(workspace, call, path, 2_000).ok()).flatten();
        response.map(|response| response.content).unwrap_or_default()
    };
    let mut commands: Vec<String> = Vec::new();
    for (manifest, of_manifest) in BY_MANIFEST {
        if is_there(manifest) {
            commands.extend(of_manifest.iter().map(|command| (*command).to_owned()));
        }
    }
    let manager = match (is_there("pnpm-lock.yaml"), is_there("yarn.lock")) {
        (true, _) => "pnpm",
        (_, true) => "yarn",
        _ => "npm",
    };
    let package = text("package.json");
    commands.extend(
        TARGETS
            .iter()
            .filter(|target| package.contains(&format!("\"{target}\":")))
            .map(|target| format!("{manager} run {target}")),
    );
    let makefile = text("Makefile");
    commands.extend(
        TARGETS
            .iter()
            .filter(|target| makefile.lines().any(|line| line.starts_with(&format!("{target}:"))))
            .map(|target| format!("make {target}")),
    );
    let environment = ENVIRONMENTS.iter().find(|folder| {
        // Ignored files are not listed, so the file is read.
        read_start(workspace, call, &format!("{folder}/pyvenv.cfg"), 1).is_ok()
    });
    let python = environment.map_or_else(|| "python3".to_owned(), |folder| format!("{folder}/bin/python"));
    let uses_pytest = PYTEST.iter().any(|path| is_there(path)) || text("pyproject.toml").contains("pytest");
    if uses_pytest {
        commands.push(format!("{python} -m pytest"));
    } else if PYTHON.iter().any(|path| is_there(path)) {
        commands.push(format!("{python} -m unittest"));
    }
    let mut facts = Vec::new();
    if !commands.is_empty() {
        facts.push(format!("Recognised build and test commands: {}.", commands.join("; ")));
    }
    if environment.is_some() {
        facts.push(format!("There is a Python virtual environment: use {python}."));
    }
    facts
}
