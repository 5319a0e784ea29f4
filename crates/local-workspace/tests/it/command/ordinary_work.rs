//! Ordinary work in commands: build folders that are removed and made anew, folders that get another name, and git.

use std::fs;
use std::process::Command;

use change_journal::ChangeNumber;
use local_workspace::{EngineConfig, Undo};
use rel_path::RelPath;

use crate::fixture::user_shell::shell;
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

/// Git turns on settings of the working tree for it, removes files, and notes that in the index.
#[test]
fn sparse_checkout_is_adopted_as_a_whole_and_undone() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        fixture.put("sub/a/x", "a\n");
        fixture.put("sub/b/y", "b\n");
        let commit = "cd sub && git init -q -b main . && git add . && git -c user.name=u -c user.email=u@x commit -qm one";
        assert!(shell(&fixture.root(), commit).status.success());
        let settings = fixture.text("sub/.git/config");
        let journal = fixture.open_journal();
        let workspace = fixture.open_with(journal.clone(), fixture.layered_config(layered)).0;
        let response = run(&workspace, "cd sub && git sparse-checkout set a").unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
        let listed =
            shell(&fixture.root(), "cd sub && git sparse-checkout list && git status --porcelain && ls");
        assert_eq!(String::from_utf8_lossy(&listed.stdout), "a\na\n", "{layered:?}");
        let last = journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap().pop().unwrap().run;
        workspace.undo(&Caller::once().call(), &Undo::Run(last)).unwrap();
        assert_eq!(fixture.text("sub/.git/config"), settings, "{layered:?}");
        assert_eq!(fixture.text("sub/b/y").as_deref(), Some("b\n"), "{layered:?}");
        let status = shell(&fixture.root(), "cd sub && git status --porcelain && git fsck");
        assert_eq!(String::from_utf8_lossy(&status.stdout), "", "{layered:?}");
        // The control: settings of the user that would come into force keep it from being turned on.
        fixture.put("sub/.git/config.worktree", "[core]\n\thooksPath = hooks\n");
        let warned = run(&workspace, "cd sub && git config extensions.worktreeConfig true")
            .unwrap()
            .warnings
            .join("\n");
        assert!(warned.contains("sets extensions.worktreeconfig"), "{layered:?}: {warned}");
        assert_eq!(fixture.text("sub/.git/config"), settings, "{layered:?}");
        // So do those of the same command, which are refused as well.
        fs::remove_file(fixture.root().join("sub/.git/config.worktree")).unwrap();
        let script =
            "cd sub && git config extensions.worktreeConfig true && git config --worktree core.hooksPath x";
        let warned = run(&workspace, script).unwrap().warnings.join("\n");
        assert!(
            warned
                .contains("`sub/.git/config.worktree` (sets core.hookspath; if that is wanted, ask the user"),
            "{layered:?}: {warned}"
        );
        assert!(fixture.text("sub/.git/config.worktree").is_none(), "{layered:?}");
    }
}

/// As an ordinary user, a hard link in a layer has another inode number than its file, and git gives up.
#[test]
fn clone_by_hard_links_is_made_or_says_how_it_can_be() {
    for layered in LAYERS {
        let fixture = Fixture::new();
        let commit =
            "git init -q -b main . && git add . && git -c user.name=u -c user.email=u@x commit -qm one";
        fixture.put("file", "x\n");
        assert!(shell(&fixture.root(), commit).status.success());
        let workspace = fixture.open_layered(layered);
        let response = run(&workspace, "git clone -q . copy").unwrap();
        let receipts: Vec<&str> =
            response.denied.iter().filter_map(|denied| denied.allow.as_deref()).collect();
        match response.exit_code {
            0 => assert_eq!(receipts, [""; 0], "{layered:?}"),
            _ => assert_eq!(receipts, ["clone with --no-hardlinks"], "{layered:?}: {response:?}"),
        }
        assert!(response.exit_code == 0 || !fixture.root().join("copy").exists(), "{layered:?}");
        // The control: so it is made by every user.
        let response = run(&workspace, "git clone -q --no-hardlinks . other && git -C other fsck").unwrap();
        assert_eq!((response.exit_code, &response.denied[..]), (0, &[][..]), "{layered:?}: {response:?}");
        assert_eq!(fixture.text("other/file").as_deref(), Some("x\n"), "{layered:?}");
    }
}
