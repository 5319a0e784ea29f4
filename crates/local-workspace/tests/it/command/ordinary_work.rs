//! Ordinary work in commands: build folders that are removed and made anew, folders that get another name, and git.

use std::process::Command;

use crate::fixture::workspace::*;

/// A repository with two commits, a folder of code, and a build folder that git ignores.
fn prepared() -> Fixture {
    let fixture = Fixture::new();
    fixture.put(".gitignore", "target/\nnode_modules/\n");
    fixture.put("src/a", "a\n");
    fixture.put("src/deep/b", "b\n");
    let commits = "git init -q -b main . && git add . && git -c user.name=u -c user.email=u@x commit -qm one && \
                   echo more >> src/a && git -c user.name=u -c user.email=u@x commit -qam two";
    let committed = Command::new("sh").args(["-c", commits]).current_dir(fixture.root()).status().unwrap();
    assert!(committed.success());
    fixture.put("target/debug/program", "old\n");
    fixture.put("node_modules/package/index.js", "old\n");
    fixture
}

/// Runs a command with each kind of files, and checks what is left in the folder.
fn leaves(script: &str, expected: &[(&str, Option<&str>)]) {
    for layered in LAYERS {
        let fixture = prepared();
        let workspace = fixture.open_with(fixture.open_journal(), fixture.layered_config(layered)).0;
        let response = run(&workspace, script).unwrap();
        assert_eq!(response.exit_code, 0, "{layered:?}: {script}: {response:?}");
        for (path, text) in expected {
            assert_eq!(fixture.text(path).as_deref(), *text, "{layered:?}: {script}: {path}: {response:?}");
        }
    }
}

fn rename(old: &str, new: &str) -> String {
    format!("python3 -c \"import os; os.rename('{old}', '{new}')\"")
}

#[test]
fn build_folders_are_removed_and_made_anew() {
    let gone = [("target/debug/program", None), ("node_modules/package/index.js", None)];
    leaves("rm -rf target node_modules && test ! -e target", &gone);
    leaves("git clean -qxfd && test ! -e target && git status --porcelain", &gone);
    leaves(
        "rm -rf target && mkdir -p target/debug && echo new > target/debug/new",
        &[("target/debug/program", None), ("target/debug/new", Some("new\n"))],
    );
    leaves(
        "mkdir fresh && echo new > fresh/x && rm -rf node_modules && mv fresh node_modules",
        &[("node_modules/x", Some("new\n")), ("node_modules/package/index.js", None)],
    );
}

#[test]
fn folders_get_another_name() {
    leaves(
        &rename("src", "lib"),
        &[("src/a", None), ("lib/a", Some("a\nmore\n")), ("lib/deep/b", Some("b\n"))],
    );
    leaves("git mv src lib && git status --porcelain", &[("lib/deep/b", Some("b\n")), ("src/a", None)]);
    leaves(
        &rename("target", "kept"),
        &[("kept/debug/program", Some("old\n")), ("target/debug/program", None)],
    );
    // A build folder is a mount of its own: into it a folder is copied, as between file systems.
    leaves(
        "mv node_modules target/modules",
        &[("target/modules/package/index.js", Some("old\n")), ("target/debug/program", Some("old\n"))],
    );
}

#[test]
fn git_does_what_it_does_outside() {
    for script in [
        "git worktree list | grep -q main",
        "echo x > src/a && git stash -q && test \"$(git stash list | wc -l)\" = 1 && git stash pop -q && grep -q x src/a",
        "git checkout -q -b side HEAD~1 && echo s > s && git add s && git commit -qm s && git rebase -q main && git log --oneline | wc -l | grep -q 3",
        "git checkout -q -b side && echo s > s && git add s && git commit -qm s && git rebase -q -i --exec true HEAD~2",
        "git bisect start HEAD HEAD~1 >/dev/null && git bisect run sh -c '! grep -q more src/a' | grep -q 'first bad commit' && git bisect reset 2>&1 | grep -q main",
        "git tag v1 && git gc -q && git fsck && git cherry-pick --no-commit HEAD~1 --allow-empty -X theirs; git reset -q --hard",
    ] {
        leaves(script, &[("src/deep/b", Some("b\n")), ("target/debug/program", Some("old\n"))]);
    }
}
