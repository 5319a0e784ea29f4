//! Settings of a repository that a command leaves, and by which the user's git would run programs, lose data or fail.
//!
//! Each is tried plainly first, where git shows what it does.

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

/// A repository of the user with one commit, and next to the workspace one whose hook touches `canary`.
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

/// Adds lines to the settings. `OUT` stands for the path of the folder next to the workspace.
fn adding(fixture: &Fixture, lines: &str) -> String {
    let lines = lines.replace("OUT", &fixture.outside().display().to_string());
    format!("cat >> .git/config <<'END'\n{lines}\nEND")
}

/// Settings by which `git push` goes to the repository next to the workspace, and the setting that is named.
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

/// Settings at which git fails, and a command of git that does.
const FAILING: &[(&str, &str)] = &[
    ("[core]\ncompression = \"0#x\"", "git status"),
    ("[core]\ncompression = 08", "git status"),
    ("[core]\nabbrev = \"auto;\"", "git status"),
    ("[core]\nfileMode = 09", "git status"),
    ("[color]\nui = 08", "git status"),
    ("[core]\ncommentChar = \"\\n\"", "git status"),
    ("[core]\nsafecrlf = true\nautocrlf = true", "echo y > y && git add y"),
    ("[push]\ndefault = Simple", "git status"),
    ("[branch]\nautoSetupRebase = Always", "git status"),
    ("[branch]\nautoSetupMerge = Always", "git status"),
    ("[status]\nshowUntrackedFiles = Normal", "git status"),
    ("[diff]\ncolorMoved = Zebra", "git diff"),
    ("[commit]\ncleanup = Strip", "COMMIT two"),
    ("[log]\ndate = ISO", "git log"),
    ("[branch]\nsort = Refname", "git branch"),
    ("[tag]\nsort = junk", "git tag"),
    ("[remote\"o\"]\nurl = h:x", "git status"),
    ("TRACKED\nfetch = \"+refs/heads/*:refs/remotes/o/*#a b\"", "git status"),
    ("TRACKED\nfetch = ^0123456789012345678901234567890123456789", "git status"),
    ("TRACKED\npush = refs/heads/x:", "git status"),
];

/// The beginning of the settings of a remote to which a branch is compared.
const TRACKED: &str = "[branch \"main\"]\nremote = o\nmerge = refs/heads/main\n[remote \"o\"]\nurl = h:x";

#[test]
fn settings_at_which_git_fails_are_refused() {
    let made = |lines: &str, number: usize| {
        let lines = lines.replace("TRACKED", TRACKED);
        format!(
            "git init -q -b main {number} && (cd {number} && {COMMIT} one) && cat >> {number}/.git/config <<'END'\n{lines}\nEND\n"
        )
    };
    let script: String = FAILING.iter().enumerate().map(|(number, (lines, _))| made(lines, number)).collect();
    let script =
        format!("{script}{}", made("TRACKED\nfetch = +refs/heads/*:refs/remotes/o/*", FAILING.len()));
    let plain = Fixture::new();
    git(&plain, &script);
    for (number, (lines, command)) in FAILING.iter().enumerate() {
        let ran = shell(&plain.root(), &format!("cd {number} && {}", command.replace("COMMIT", COMMIT)));
        assert!(!ran.status.success(), "control: {lines}: {ran:?}");
    }
    let fixture = Fixture::new();
    let response = run(&fixture.open(), &script).unwrap();
    assert_eq!(response.exit_code, 0, "{response:?}");
    for (number, (lines, _)) in FAILING.iter().enumerate() {
        assert!(!fixture.root().join(format!("{number}/.git/config")).exists(), "{lines}");
        assert!(fixture.root().join(format!("{number}/.git/HEAD")).exists(), "{lines}");
    }
    // The control: git compares the branch to that of a sound remote.
    git(&fixture, &format!("cd {} && git status && git config remote.o.url", FAILING.len()));
}

#[test]
fn branches_and_remotes_go_with_the_settings_of_other_programs() {
    let fixture = prepared();
    git(
        &fixture,
        "git branch b && git branch c && git remote add o h:x && git config remote.o.gh-resolved base && \
         git config branch.b.vscode-merge-base origin/main && git config branch.c.gh-merge-base main && \
         git config gitflow.branch.c.base main && git config alias.st status",
    );
    // Without a layer, commands cannot write to the settings.
    let workspace = fixture.open();
    let script = "git branch -q -D b && git branch -m c d && git remote rename o p && git config --remove-section gitflow.branch.c";
    let warned = run(&workspace, script).unwrap().warnings.join("\n");
    assert!(!warned.contains("not kept"), "{warned}");
    let settings = fixture.text(".git/config").unwrap();
    for (part, is_there) in [("\"p\"", true), ("\"d\"", true), ("\"b\"", false), ("gitflow", false)] {
        assert_eq!(settings.contains(part), is_there, "{part}: {settings}");
    }
    // The control: a setting of the user.
    let warned = run(&workspace, "git config --unset alias.st").unwrap().warnings.join("\n");
    assert!(warned.contains("(removes alias.st; if that is wanted, ask the user"), "{warned}");
    assert_eq!(git(&fixture, "git config alias.st"), "status\n");
}

#[test]
fn clone_of_a_folder_of_the_workspace_is_kept_without_its_remote() {
    for layered in LAYERS {
        let fixture = prepared();
        let workspace = fixture.open_layered(layered);
        let response = run(&workspace, "git clone -q --no-hardlinks . one").unwrap();
        assert_eq!(response.exit_code, 0, "{layered:?}: {response:?}");
        let warned = response.warnings.join("\n");
        assert!(warned.contains("`one/.git/config` (sets remote.origin.url; "), "{layered:?}: {warned}");
        assert!(warned.contains("`git remote remove`"), "{layered:?}: {warned}");
        let response =
            run(&workspace, "git clone -q --no-hardlinks . two && git -C two remote remove origin").unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
        git(&fixture, "git -C two config core.repositoryformatversion && git -C two log -1 main");
    }
}
