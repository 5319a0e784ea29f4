//! Mounts of the host inside the workspace: commands read them, and write to build folders only.
//!
//! Each test runs itself again in its own mount namespace, so that no mount is left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sandbox_exec::{Denied, Ending, Level, Outcome};

use crate::fixture::{Fixture, stderr, stdout};
use crate::layer::{layered, renew};

const INSIDE: &str = "SANDBOX_EXEC_INNER_MOUNTS_TEST";

/// True in the namespace; otherwise runs the test there, and fails as it does.
fn is_in_namespace(name: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" };
    let test = format!("inner_mounts::{name}");
    // Inside, its fixture cannot be removed: it contains mounts.
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .arg(flags)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &test, "--nocapture"])
        .env(INSIDE, "1")
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let [text, error] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success() && text.contains("1 passed"), "{text}{error}");
    false
}

/// Binds a folder from next to the workspace over a folder or file in it.
fn bind(fixture: &Fixture, source: &str, target: &str) -> PathBuf {
    let (source, target) = (fixture.outside(source), fixture.workspace().join(target));
    let mounted = Command::new("mount").arg("--bind").args([&source, &target]).status().unwrap();
    assert!(mounted.success());
    target
}

/// Mounts a repository, a folder and a file, a build folder, and a folder deep in another build folder.
fn prepare(mut fixture: Fixture) -> Fixture {
    let made = ["gitdir/hooks", "data", "modules", "volume"];
    made.iter().for_each(|name| fs::create_dir_all(fixture.outside(name)).unwrap());
    fs::write(fixture.outside("gitdir/config"), "").unwrap();
    fs::write(fixture.outside("data/old"), "old\n").unwrap();
    fs::write(fixture.outside("one-file"), "old\n").unwrap();
    let workspace = fixture.workspace();
    for name in [".git", "deep/data", "node_modules", "target/deep", "plain", "cache"] {
        fs::create_dir_all(workspace.join(name)).unwrap();
    }
    fs::write(workspace.join("one-file"), "").unwrap();
    bind(&fixture, "gitdir", ".git");
    bind(&fixture, "data", "deep/data");
    bind(&fixture, "one-file", "one-file");
    bind(&fixture, "modules", "node_modules");
    bind(&fixture, "volume", "target/deep");
    bind(&fixture, "volume", "cache");
    fixture.policy.writable_mounts = ["node_modules", "target"].map(|name| workspace.join(name)).into();
    fixture.policy.writable.push(workspace.join("cache"));
    fixture
}

/// Runs a command on a layer of its own, if the policy has one.
fn run(fixture: &mut Fixture, number: usize, text: &str) -> Outcome {
    if let Some(layer) = fixture.policy.layer.take() {
        renew(fixture, &format!("layer-{number}"));
        let new = fixture.policy.layer.take().unwrap().with_uncovered(layer.uncovered);
        fixture.policy = fixture.policy.clone().with_layer(new);
    }
    fixture.run(text)
}

/// Checks what a command may write.
fn check(fixture: &mut Fixture) {
    let refused =
        [".git/hooks/pre-commit", ".git/config", "deep/data/tasks.json", "deep/data/old", "one-file"];
    for (number, path) in refused.into_iter().enumerate() {
        let outcome = run(fixture, number, &format!("cat deep/data/old; echo written > '{path}'"));
        assert!(!outcome.ending.is_success(), "{path} was written");
        assert_eq!(stdout(&outcome), "old\n", "what is mounted is seen");
        assert!(stderr(&outcome).contains("Read-only file system"), "{path}: {}", stderr(&outcome));
        let receipts: Vec<String> = outcome.denied.iter().map(Denied::to_string).collect();
        let is_named = |line: &String| line.contains(path) && line.contains("it is a mount of its own");
        assert!(receipts.iter().any(is_named), "{path}: {receipts:?}");
    }
    assert_eq!(fs::read(fixture.outside("gitdir/config")).unwrap(), b"");
    assert_eq!(fs::read_dir(fixture.outside("gitdir/hooks")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(fixture.outside("data")).unwrap().count(), 1);
    for name in ["data/old", "one-file"] {
        assert_eq!(fs::read_to_string(fixture.outside(name)).unwrap(), "old\n");
    }
    let wide = run(fixture, 10, "chmod 777 deep/data/old; touch -d @0 deep/data/old; rm -f deep/data/old");
    assert!(!wide.ending.is_success() && fixture.outside("data/old").exists());
    // The controls: outside of a mount, in mounts that are or are inside build folders, and in paths of the policy.
    let written = [
        ("plain/x", None),
        ("node_modules/x", Some("modules/x")),
        ("target/deep/x", Some("volume/x")),
        ("cache/y", Some("volume/y")),
    ];
    for (number, (path, mounted)) in written.into_iter().enumerate() {
        let outcome = run(fixture, 20 + number, &format!("echo written > {path} && cat {path}"));
        assert_eq!((outcome.ending, stdout(&outcome).as_str()), (Ending::Exited(0), "written\n"), "{path}");
        assert!(mounted.is_none_or(|mounted| fixture.outside(mounted).exists()), "{path}");
    }
}

#[test]
fn a_command_writes_to_no_mount_but_build_folders() {
    if is_in_namespace("a_command_writes_to_no_mount_but_build_folders") {
        check(&mut prepare(Fixture::contained()));
    }
}

#[test]
fn a_command_on_a_layer_writes_to_no_mount_but_build_folders() {
    if is_in_namespace("a_command_on_a_layer_writes_to_no_mount_but_build_folders") {
        let mut fixture = prepare(layered());
        let layer = fixture.policy.layer.take().unwrap();
        let uncovered = ["node_modules", "target"].map(|name| fixture.workspace().join(name)).into();
        fixture.policy =
            fixture.policy.clone().with_git_writable().with_layer(layer.with_uncovered(uncovered));
        let outcome = run(&mut fixture, 30, "echo x > plain/x && echo x > target/x");
        assert!(outcome.ending.is_success(), "{}", stderr(&outcome));
        assert!(!fixture.workspace().join("plain/x").exists(), "the layer has caught it");
        assert!(fixture.workspace().join("target/x").exists(), "a build folder is written through");
        check(&mut fixture);
    }
}

#[test]
fn no_command_carries_a_mount_elsewhere() {
    if is_in_namespace("no_command_carries_a_mount_elsewhere") {
        for mut fixture in [prepare(Fixture::contained()), prepare(layered())] {
            // With a new name the writable mount in the build folder would be the hooks of a repository.
            for (number, folder) in ["target", "deep"].into_iter().enumerate() {
                let outcome =
                    run(&mut fixture, 40 + number, &format!("mkdir -p sub && mv {folder} sub/.git"));
                assert!(!outcome.ending.is_success(), "{folder}");
                if fixture.policy.layer.is_none() {
                    let receipts: Vec<String> = outcome.denied.iter().map(Denied::to_string).collect();
                    let is_named =
                        |line: &String| line.contains(folder) && line.contains("it contains a mount");
                    assert!(receipts.iter().any(is_named), "{folder}: {receipts:?}");
                }
            }
            for mounted in ["target/deep", "deep/data"] {
                assert!(mounts_of(&fixture).contains(mounted), "{mounted}");
            }
            // The controls: a folder without mounts, and within one that has some.
            let outcome = run(
                &mut fixture,
                50,
                "mv plain other && mkdir deep/x && mv deep/x deep/y && ls -d other deep/y",
            );
            assert_eq!(stdout(&outcome), "deep/y\nother\n", "{}", stderr(&outcome));
        }
    }
}

/// The mounts in the workspace, as the host has them.
fn mounts_of(fixture: &Fixture) -> String {
    let list = fs::read_to_string("/proc/self/mountinfo").unwrap();
    list.replace(&format!("{}/", fixture.workspace().display()), " ")
}

#[test]
fn what_the_host_has_mounted_read_only_stays_so() {
    if is_in_namespace("what_the_host_has_mounted_read_only_stays_so") {
        let mut fixture = prepare(Fixture::contained());
        let make_read_only = |folder: &Path| {
            let status = Command::new("mount").args(["-o", "remount,bind,ro"]).arg(folder).status().unwrap();
            assert!(status.success());
        };
        make_read_only(&fixture.workspace().join("node_modules"));
        assert!(!fixture.run("echo x > node_modules/x").ending.is_success());
        assert!(fixture.run("echo x > plain/x").ending.is_success());
        // The same for the workspace itself.
        let workspace = fixture.workspace();
        let own = Command::new("mount").arg("--rbind").args([&workspace, &workspace]).status().unwrap();
        assert!(own.success());
        make_read_only(&workspace);
        fixture.policy.writable.clear();
        assert_eq!(stdout(&fixture.run("cat deep/data/old")), "old\n");
        assert!(!fixture.run("echo x > plain/y").ending.is_success());
    }
}

#[test]
fn a_write_by_a_name_of_a_folder_that_was_entered_is_named_too() {
    if is_in_namespace("a_write_by_a_name_of_a_folder_that_was_entered_is_named_too") {
        let fixture = prepare(Fixture::contained());
        let outcome = fixture.run("cd deep/data && touch new");
        let receipts: Vec<String> = outcome.denied.iter().map(Denied::to_string).collect();
        assert!(receipts.iter().any(|line| line.contains("deep/data")), "{receipts:?}");
        let removal = fixture.run("rmdir deep/data");
        let receipts: Vec<String> = removal.denied.iter().map(Denied::to_string).collect();
        assert!(receipts.iter().any(|line| line.contains("deep/data")), "{receipts:?}");
    }
}

#[test]
fn where_mounts_cannot_be_made_read_only_they_are_named() {
    if is_in_namespace("where_mounts_cannot_be_made_read_only_they_are_named") {
        let fixture = prepare(Fixture::at_level(Level::Landlock));
        let command = sandbox_exec::ShellCommand::new("true").unwrap();
        let running = fixture.launcher.spawn(&fixture.policy, &command).unwrap();
        let named = running.unprotected().to_vec();
        running.wait().unwrap();
        let workspace = fixture.workspace();
        for name in [".git", "deep/data", "one-file"] {
            assert!(named.contains(&workspace.join(name)), "{named:?}");
        }
        for name in ["node_modules", "target/deep", "cache"] {
            assert!(!named.contains(&workspace.join(name)), "{named:?}");
        }
    }
}
