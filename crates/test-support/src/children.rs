//! Tests of a binary that run in a process of their own, which may be killed, limited or confined.
//!
//! The children are ignored tests: they do nothing unless a variable gives the folder in which to work.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER_VARIABLE: &str = "TEST_SUPPORT_CHILD_FOLDER";

/// Returns the folder that the parent gave to this child; `None` if the test was started on its own.
#[must_use]
pub fn folder_of_child() -> Option<PathBuf> {
    env::var_os(FOLDER_VARIABLE).map(PathBuf::from)
}

/// Returns the command that runs the ignored test `name` of this binary with `folder`.
#[must_use]
pub fn child(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture"]).env(FOLDER_VARIABLE, folder);
    command
}

/// A file system of limited size, mounted over a folder in a namespace of its own.
#[derive(Clone, Copy, Debug)]
pub struct SmallFileSystem<'a> {
    /// Options of the mount, such as `size=512k`.
    pub options: &'a str,
    /// The folder over which it is mounted.
    pub over: &'a Path,
    /// True if it becomes read-only before the last child.
    pub then_read_only: bool,
}

impl SmallFileSystem<'_> {
    /// Runs the ignored tests `names` of this binary one after the other with `folder`. Fails the test if one of them
    /// fails or does not run.
    pub fn run(&self, names: &[&str], folder: &Path) {
        // A mount lasts as long as the namespace, so one shell makes it and runs all children.
        let mut script = "mount -t tmpfs -o \"$OPTIONS\" none \"$OVER\"".to_owned();
        for (name, number) in names.iter().zip(1..) {
            if self.then_read_only && number == names.len() {
                script.push_str(" && mount -o remount,bind,ro \"$OVER\"");
            }
            script.push_str(&format!(" && \"$BINARY\" --exact {name} --ignored --nocapture"));
        }
        // The superuser needs no user namespace, which may be forbidden where this runs.
        let is_superuser = rustix::process::geteuid().is_root();
        let output = Command::new("unshare")
            .args(if is_superuser { &["--mount"][..] } else { &["--map-root-user", "--mount"] })
            .args(["sh", "-c", &script])
            .env("OPTIONS", self.options)
            .env("OVER", self.over)
            .env("BINARY", env::current_exe().unwrap())
            .env(FOLDER_VARIABLE, folder)
            .output()
            .expect("this test needs the program unshare");
        let [out, error] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        assert!(output.status.success(), "this test needs namespaces; the child printed:\n{out}{error}");
        // A misspelled name runs no test, and the binary reports success.
        assert_eq!(out.matches("1 passed").count(), names.len(), "not every child ran:\n{out}{error}");
    }
}
