//! Clients that people have, on the built program. `cargo xtask setup` installs them under the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::{Project, Ran, program};
use crate::skip::skip;

/// The Python with the package `mcp`, if it is installed.
fn python() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
    let python = target.join("clients/python/bin/python");
    python.is_file().then_some(python)
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/clients").join(name)
}

#[test]
fn the_python_package_completes_a_task_in_both_eras() {
    let Some(python) = python() else {
        return skip(
            "the_python_package_completes_a_task_in_both_eras",
            "`cargo xtask setup` installs the Python package mcp",
        );
    };
    for (mode, version) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let project = Project::new();
        project.write("a.txt", "one\ntwo\nthree\n");
        let mut command = Command::new(&python);
        command.arg(fixture("mcp_stdio.py")).arg(program()).arg(project.workspace()).arg(mode);
        let ran = Ran::of(command.output().unwrap()).ok();
        assert_eq!(ran.stdout.trim(), version, "{ran}");
    }
}
