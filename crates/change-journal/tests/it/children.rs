//! Owns running a test of this binary in a process of its own, which may be killed or confined.
//!
//! The children are ignored tests: they do nothing unless the variable says in which folder to work.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER_VARIABLE: &str = "CHANGE_JOURNAL_CHILD_FOLDER";

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

/// Runs the ignored tests `names` one after the other in namespaces of their own, with a file system of `kib`
/// KiB mounted over `folder`. With `then_read_only`, it is read-only for the last test.
pub(crate) fn in_small_file_system(names: &[&str], kib: u32, folder: &Path, then_read_only: bool) {
    let mut script = format!("mount -t tmpfs -o size={kib}k none \"$FOLDER\"");
    for (name, number) in names.iter().zip(1..) {
        if then_read_only && number == names.len() {
            script.push_str(" && mount -o remount,bind,ro \"$FOLDER\"");
        }
        script.push_str(&format!(" && \"$BINARY\" --exact {name} --ignored --nocapture"));
    }
    // The superuser needs no user namespace, which may be forbidden where this runs.
    let is_superuser = Command::new("unshare")
        .args(["--mount", "true"])
        .output()
        .is_ok_and(|output| output.status.success());
    let output = Command::new("unshare")
        .args(if is_superuser { &["--mount"][..] } else { &["--map-root-user", "--mount"] })
        .args(["sh", "-c", &script])
        .env("FOLDER", folder)
        .env("BINARY", env::current_exe().unwrap())
        .env(FOLDER_VARIABLE, folder)
        .output()
        .expect("this test needs the program unshare");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "this test needs namespaces; the child said:\n{text}");
    assert_eq!(text.matches("1 passed").count(), names.len(), "not every child ran:\n{text}");
}
