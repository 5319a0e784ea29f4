//! Clients that people have, on the built program. `cargo xtask setup` installs them under the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::{Project, Ran, program};
use crate::skip::skip;
use crate::web_server::WebServer;

/// The Python with a package, if it is installed.
fn python(module: &str) -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
    let python = target.join("clients/python/bin/python");
    let import = Command::new(&python).args(["-c", &format!("import {module}")]).output();
    import.is_ok_and(|output| output.status.success()).then_some(python)
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/clients").join(name)
}

#[test]
fn the_python_package_completes_a_task_in_both_eras() {
    let Some(python) = python("mcp") else {
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

#[test]
fn the_python_package_for_websockets_goes_through_a_whole_flow() {
    let Some(python) = python("websockets") else {
        return skip(
            "the_python_package_for_websockets_goes_through_a_whole_flow",
            "`cargo xtask setup` installs the Python package websockets",
        );
    };
    let project = Project::new();
    project.write("a.txt", "one\ntwo\nthree\n");
    let server = WebServer::start(&project, &[]);
    let mut command = Command::new(&python);
    command.arg(fixture("llm4s_flow.py")).arg(format!("ws://{}/ws", server.address));
    command.arg(server.token.as_deref().unwrap());
    let ran = Ran::of(command.output().unwrap()).ok();
    assert_eq!(ran.stdout, "files\ncommands\ncancelling\nodd frames\n", "{ran}");
    assert_eq!(project.read("a.txt"), "zero\none\nTWO\n");
}
