//! Ordinary work in commands: build folders that are removed and made anew, folders that get another name, and git.

use std::process::Command;

use local_workspace::EngineConfig;
use rel_path::RelPath;

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

#[test]
fn submodules_are_listed_and_updated() {
    for layered in LAYERS {
        let fixture = prepared();
        let add = "git init -q -b main ../outside/module && cd ../outside/module && echo m > m && git add m && \
                   git -c user.name=u -c user.email=u@x commit -qm m && cd ../../workspace && \
                   git -c protocol.file.allow=always submodule --quiet add ../outside/module module && \
                   git -c user.name=u -c user.email=u@x commit -qm module";
        let added = Command::new("sh").args(["-c", add]).current_dir(fixture.root()).status().unwrap();
        assert!(added.success());
        let workspace = fixture.open_layered(layered);
        let script = "git submodule status && git status --porcelain && echo changed > module/m && git status --porcelain && \
                      git submodule --quiet update --force --no-fetch && git -C module checkout -q -- m";
        let response = run(&workspace, script).unwrap();
        assert_eq!(response.exit_code, 0, "{layered:?}: {response:?}");
        let lines: Vec<&str> = response.stdout.lines().collect();
        assert!(lines.len() == 2 && lines[0].contains(" module ("), "{layered:?}: {response:?}");
        assert_eq!(lines[1], " M module", "{layered:?}: {response:?}");
        assert_eq!(fixture.text("module/m").as_deref(), Some("m\n"), "{layered:?}");
    }
}

#[test]
fn a_state_folder_inside_is_empty_and_readable() {
    for layered in LAYERS {
        let fixture = prepared();
        fixture.put(".agentd/journal/db", "the state of the daemon\n");
        let config = EngineConfig {
            state_folder: Some(RelPath::parse(".agentd").unwrap()),
            output_folder: fixture.root().join(".agentd/output"),
            ..fixture.layered_config(layered)
        };
        let workspace = fixture.open_with(fixture.open_journal(), config).0;
        let has_own_files = workspace.sandbox_report().unwrap().fs == sandbox_exec::FileConfinement::Root;
        assert_eq!(run(&workspace, "true").is_ok(), has_own_files);
        if !has_own_files {
            continue;
        }
        for script in [
            "git status --porcelain",
            "find . > /dev/null",
            "! grep -r 'state of the daemon' . || exit 1; grep -rq more src",
            "tar cf /tmp/all.tar . && ! tar tf /tmp/all.tar | grep journal",
            "cp -r . /tmp/copy && test \"$(ls -A /tmp/copy/.agentd)\" = .gitignore",
            "git stash push -q --include-untracked && git clean -qfd",
        ] {
            let response = run(&workspace, script).unwrap();
            assert_eq!(
                (response.exit_code, response.stderr.as_str()),
                (0, ""),
                "{layered:?}: {script}: {response:?}"
            );
        }
        assert_eq!(fixture.text(".agentd/journal/db").as_deref(), Some("the state of the daemon\n"));
    }
}
