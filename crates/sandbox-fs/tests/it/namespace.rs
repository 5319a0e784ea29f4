//! Ignored tests of this binary that run in a separate mount namespace, so that no mount outlives them.

use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "SANDBOX_FS_CHILD_FOLDER";

/// Returns the folder that [`run`] gave to this child; `None` if the test was started by itself.
pub(crate) fn folder_of_child() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// Runs the shell command `mount` in `folder` and then the ignored test `name`, both in a namespace of their own.
/// The test is skipped, and fails under `CI`, where the system allows no namespaces.
pub(crate) fn run(name: &str, mount: &str, folder: &Path) {
    // The superuser needs no user namespace, which may be forbidden where this runs.
    let flags: &[&str] =
        if rustix::process::geteuid().is_root() { &["--mount"] } else { &["--map-root-user", "--mount"] };
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(flags).current_dir(folder).env(FOLDER, folder);
        command.env("BINARY", std::env::current_exe().unwrap());
        command
    };
    if !unshare().arg("true").status().is_ok_and(|status| status.success()) {
        let under_ci = std::env::var_os("CI").is_some_and(|ci| !ci.is_empty());
        assert!(!under_ci, "{name} needs the program unshare and namespaces");
        println!("SKIPPED {name}: it needs the program unshare and namespaces");
        return;
    }
    let script = format!("{mount} && \"$BINARY\" --exact {name} --ignored --nocapture");
    let output = unshare().args(["sh", "-c", &script]).output().unwrap();
    let [out, error] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    // A misspelled name runs no test, and the binary reports success.
    assert!(output.status.success() && out.contains("1 passed"), "the child printed:\n{out}{error}");
}
