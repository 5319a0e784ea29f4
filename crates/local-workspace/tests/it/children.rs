//! Tests of this binary that run in a process of their own, which may be limited or confined.
//!
//! The children are ignored tests: they do nothing unless the variable says in which folder to work.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER_VARIABLE: &str = "LOCAL_WORKSPACE_CHILD_FOLDER";

/// The folder that the parent gave to this child.
pub(crate) fn folder_of_child() -> Option<PathBuf> {
    env::var_os(FOLDER_VARIABLE).map(PathBuf::from)
}

/// Runs the ignored test `name` of this binary with `folder`.
pub(crate) fn child(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture"]).env(FOLDER_VARIABLE, folder);
    command
}

/// Runs the ignored test `name` in namespaces of its own, where a file system with these mount options lies over the
/// workspace of `folder`.
pub(crate) fn in_small_file_system(name: &str, options: &str, folder: &Path) {
    let script = "mount -t tmpfs -o \"$OPTIONS\" none \"$FOLDER/workspace\" && \
                  \"$BINARY\" --exact \"$NAME\" --ignored --nocapture";
    // The superuser needs no user namespace, which may be forbidden where this runs.
    let is_superuser = rustix::process::geteuid().is_root();
    let output = Command::new("unshare")
        .args(if is_superuser { &["--mount"][..] } else { &["--map-root-user", "--mount"] })
        .args(["sh", "-c", script])
        .env("OPTIONS", options)
        .env("NAME", name)
        .env("FOLDER", folder)
        .env("BINARY", env::current_exe().unwrap())
        .env(FOLDER_VARIABLE, folder)
        .output()
        .expect("this test needs the program unshare");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "this test needs namespaces; the child said:\n{text}");
    assert!(text.contains("1 passed"), "the child did not run:\n{text}");
}
