//! A home that is kept between commands, over the user's download caches.

mod caches;
mod concurrency;
mod keeping;
mod limits;
mod tools;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sandbox_exec::{KeptHome, Outcome};

use crate::fixture::{Fixture, stderr, stdout};

/// A fixture with a kept home, and a user's home with caches and credentials next to them.
fn kept() -> Fixture {
    let mut fixture = Fixture::contained();
    let home = fixture.root().join("home");
    for (name, text) in [
        (".cargo/registry/cache/a.crate", "crate a\n"),
        (".npm/_cacache/content/a", "package a\n"),
        (".cache/pip/http/a", "wheel a\n"),
        ("go/pkg/mod/a@v1/a.go", "package a\n"),
    ] {
        write(&home.join(name), text);
    }
    for name in [".npmrc", ".cargo/credentials.toml", ".m2/settings.xml", ".gradle/gradle.properties"] {
        write(&home.join(name), crate::fixture::CANARY);
    }
    fixture.policy.kept_home = Some(KeptHome::new(fixture.root().join("kept")));
    fixture
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Runs a command that must succeed in its kept home, and returns its output.
fn output(fixture: &Fixture, text: &str) -> String {
    let command = sandbox_exec::ShellCommand::new(text).unwrap();
    let running = fixture.launcher.spawn(&fixture.policy, &command).unwrap();
    assert_eq!(running.home_fault(), None);
    said(&running.wait().unwrap())
}

fn said(outcome: &Outcome) -> String {
    assert!(outcome.ending.is_success(), "{}: {}{}", outcome.ending, stdout(outcome), stderr(outcome));
    stdout(outcome)
}

/// Everything about a tree that a command could change: path, inode, mode, times and contents.
fn fingerprint(tree: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    let mut pending: Vec<PathBuf> = vec![tree.to_owned()];
    while let Some(path) = pending.pop() {
        let data = fs::symlink_metadata(&path).unwrap();
        let contents = if data.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        lines.push(format!(
            "{} {} {:o} {}.{} {}.{} {contents:?}",
            path.display(),
            data.ino(),
            data.mode(),
            data.mtime(),
            data.mtime_nsec(),
            data.ctime(),
            data.ctime_nsec(),
        ));
        if data.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    lines.sort();
    lines
}
