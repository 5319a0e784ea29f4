//! Settings of a repository that a command leaves, and by which the user's git would run programs, lose data or fail.
//!
//! Each is tried plainly first, where git shows what it does.

use crate::fixture::user_shell::shell;
use crate::fixture::workspace::*;

const COMMIT: &str = "git -c user.name=u -c user.email=u@x commit -q --allow-empty -m";

/// A repository of the user with one commit, and beside the workspace one whose hook touches `canary`.
fn prepared() -> Fixture {
    let fixture = Fixture::new();
    fixture.put("file", "x\n");
    let script = format!(
        "git init -q -b main . && git add file && {COMMIT} one && cd ../outside && git init -q --bare r.git && \
         printf '#!/bin/sh\\ntouch {}\\n' > r.git/hooks/pre-receive && chmod +x r.git/hooks/pre-receive",
        canary(&fixture).display()
    );
    git(&fixture, &script);
    fixture
}

fn canary(fixture: &Fixture) -> std::path::PathBuf {
    fixture.outside().join("canary")
}

fn git(fixture: &Fixture, script: &str) -> String {
    let ran = shell(&fixture.root(), script);
    assert!(ran.status.success(), "{script}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// Adds lines to the settings. `OUT` stands for the path of the folder beside the workspace.
fn adding(fixture: &Fixture, lines: &str) -> String {
    let lines = lines.replace("OUT", &fixture.outside().display().to_string());
    format!("cat >> .git/config <<'END'\n{lines}\nEND")
}

/// Settings by which `git push` goes to the repository beside the workspace, and the setting that is named.
const PUSHES: &[(&str, &str)] = &[
    ("[branch \"main\"]\nremote = OUT/r.git\nmerge = refs/heads/main", "branch.main.remote"),
    // Git ignores the settings of such a remote.
    (
        "[remote \"OUT/r.git\"]\nurl = https://example.org/x.git\n[branch \"main\"]\nremote = OUT/r.git\nmerge = refs/heads/main",
        "r.git.url",
    ),
    (
        "[remote \"OUT/r.git\"]\nurl = https://example.org/x.git\n[branch \"main\"]\npushRemote = OUT/r.git\nmerge = refs/heads/main",
        "r.git.url",
    ),
    (
        "[remote \"OUT/r.git\"]\nurl = https://example.org/x.git\n[remote]\npushDefault = OUT/r.git",
        "r.git.url",
    ),
    // It cuts values at the beginning of a comment.
    (
        "[remote \"../outside/r.git#up\"]\nurl = https://example.org/x.git\n[branch \"main\"]\nremote = ../outside/r.git#up\n\
         merge = refs/heads/main",
        "branch.main.remote",
    ),
    (
        "[remote \"../outside/r.git;x\"]\nurl = https://example.org/x.git\n[remote]\npushDefault = ../outside/r.git;x",
        "remote.pushdefault",
    ),
    // An empty address takes away the one before.
    (
        "[remote \"../outside/r.git\"]\nurl = https://example.org/x.git\nurl =\n[branch \"main\"]\npushRemote = ../outside/r.git\n\
         merge = refs/heads/main",
        "remote.../outside/r.git.url",
    ),
];

#[test]
fn push_goes_to_no_repository_of_this_machine() {
    let push = "git -c push.default=current push -q";
    for (lines, named) in PUSHES {
        let plain = prepared();
        git(&plain, &adding(&plain, lines));
        let printed = shell(&plain.root(), push);
        assert!(canary(&plain).exists(), "control: {lines}: {printed:?}");
        for layered in LAYERS {
            let fixture = prepared();
            let workspace = fixture.open_layered(layered);
            let before = fixture.text(".git/config");
            let response = run(&workspace, &adding(&fixture, lines)).unwrap();
            let warned = response.warnings.join("\n");
            if response.exit_code == 0 {
                assert!(
                    warned.contains("`.git/config`") && warned.contains(named),
                    "{lines} ({layered:?}): {warned}"
                );
            }
            assert_eq!(fixture.text(".git/config"), before, "{lines} ({layered:?}): {warned}");
            shell(&fixture.root(), push);
            assert!(!canary(&fixture).exists(), "{lines} ({layered:?}): {warned}");
        }
    }
    // The control: a remote on another machine, in quotes and with a comment.
    let fixture = prepared();
    let workspace = fixture.open();
    let lines = "[remote \"team/o\"]\nurl = \"https://example.org/x.git\"\n[branch \"main\"]\nremote = \"team/o\" # ours";
    let warned = run(&workspace, &adding(&fixture, lines)).unwrap().warnings.join("\n");
    assert!(warned.contains("branch.main.remote = team/o") && !warned.contains("not kept"), "{warned}");
    assert_eq!(git(&fixture, "git config branch.main.remote"), "team/o\n", "{warned}");
}

/// Commands that give a repository another format, `DIR` standing for its folder. In the last two, git sees no branch, and the files
/// of the branches are gone.
const OTHER_FORMATS: &[&str] = &[
    "git config -f DIR/config core.repositoryformatversion 1",
    "git config -f DIR/config extensions.refStorage reftable",
    "git config -f DIR/config core.repositoryformatversion 1 && git config -f DIR/config --unset extensions.mine && \
     git config -f DIR/config extensions.refStorage reftable && git init -q --ref-format=reftable new && \
     cp -r new/.git/reftable DIR/ && rm -r DIR/refs/heads/* && echo 'ref: refs/heads/.invalid' > DIR/HEAD",
    "git config -f DIR/config core.repositoryformatversion 1 && git config -f DIR/config --unset extensions.mine && \
     git config -f DIR/config extensions.refStorage reftable && git init -q --ref-format=reftable new && \
     cp -r new/.git/reftable DIR/ && rm DIR/refs/heads/main",
];

#[test]
fn repository_of_the_user_keeps_its_format_and_its_branches() {
    // Git ignores the extension in the format of the repository, and fails at it in the next one.
    let prepared = |folder: &str| {
        let fixture = prepared();
        git(
            &fixture,
            "git init -q --bare bare.git && git push -q bare.git main && git -C bare.git symbolic-ref HEAD refs/heads/main",
        );
        git(&fixture, &format!("git config -f {folder}/config extensions.mine x"));
        fixture
    };
    for folder in [".git", "bare.git"] {
        let look = format!("git --git-dir={folder} rev-parse --verify main");
        for script in OTHER_FORMATS {
            let script = script.replace("DIR", folder);
            let plain = prepared(folder);
            git(&plain, &look);
            git(&plain, &script);
            assert!(!shell(&plain.root(), &look).status.success(), "control: {script}");
            for layered in LAYERS {
                let fixture = prepared(folder);
                let main = git(&fixture, &look);
                let workspace = fixture.open_layered(layered);
                let response = run(&workspace, &script).unwrap();
                let warned = response.warnings.join("\n");
                if response.exit_code == 0 {
                    assert!(
                        warned.contains(&format!("{folder}/config`")),
                        "{script} ({layered:?}): {warned}"
                    );
                }
                assert_eq!(git(&fixture, &look), main, "{script} ({layered:?}): {warned}");
                git(&fixture, &format!("git --git-dir={folder} gc -q --prune=now && {look}"));
            }
        }
    }
    // The control: the version alone, where no extension comes into force, and a new repository.
    let fixture = prepared(".git");
    git(&fixture, "git config --unset extensions.mine");
    let workspace = fixture.open();
    let script = "git config core.repositoryformatversion 1 && git init -q --ref-format=reftable new";
    let response = run(&workspace, script).unwrap();
    assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{response:?}");
    assert_eq!(git(&fixture, "git -C new rev-parse --show-ref-format"), "reftable\n");
}
