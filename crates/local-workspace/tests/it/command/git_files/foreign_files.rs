//! Files in a repository's folder that git itself does not keep there.

use crate::fixture::user_shell::shell;
use crate::fixture::workspace::*;

#[test]
fn files_that_git_does_not_keep_are_not_adopted() {
    let foreign = [
        ".git/tool.toml",
        ".git/a/settings",
        ".git/objects/a/settings",
        ".git/modules/a/tool.toml",
        ".git/rebase-merge/a/settings",
        ".git/info/tool.toml",
    ];
    for layered in LAYERS {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(layered);
        assert_eq!(run(&workspace, "git init -q .").unwrap().warnings, [""; 0]);
        for path in foreign {
            let command = format!("mkdir -p $(dirname {path}) && echo x > {path}");
            let warned = run(&workspace, &command).unwrap().warnings.join("\n");
            assert!(warned.contains("none of git's own files"), "{path} ({layered:?}): {warned}");
            assert!(fixture.text(path).is_none(), "{path} ({layered:?})");
        }
        // The control: git's files next to them, made in the same way.
        for path in [".git/COMMIT_EDITMSG", ".git/lfs/objects/ab/cd/abcd", ".git/filter-repo/analysis/README"]
        {
            let response =
                run(&workspace, &format!("mkdir -p $(dirname {path}) && echo x > {path}")).unwrap();
            assert_eq!(response.warnings, [""; 0], "{path} ({layered:?})");
            assert_eq!(fixture.text(path).as_deref(), Some("x\n"), "{path} ({layered:?})");
        }
        // What was there before may go.
        assert!(shell(&fixture.root(), "echo x > .git/tool.toml").status.success());
        assert_eq!(run(&workspace, "rm .git/tool.toml").unwrap().warnings, [""; 0]);
        assert!(fixture.text(".git/tool.toml").is_none(), "{layered:?}");
    }
}

/// Without a layer it could be the lock of the user's own git.
#[test]
fn locks_of_ended_git_processes_stay_on_the_layer() {
    let fixture = Fixture::new();
    let workspace = fixture.open_layered(Layered::Yes);
    assert_eq!(run(&workspace, "git init -q . && echo x > file").unwrap().warnings, [""; 0]);
    let locked = run(&workspace, "touch .git/index.lock .git/refs/heads/main.lock; git add file").unwrap();
    assert_eq!(locked.exit_code, 128, "the control: git obeys it: {locked:?}");
    let warned = locked.warnings.join("\n");
    assert!(warned.contains("the lock of a git process that has ended"), "{warned}");
    assert!(!warned.contains("would obey"), "{warned}");
    let kept = "echo x > .git/gc.log; mkdir .git/a.lock; rmdir .git/a.lock; echo 1 > .git/gc.pid";
    let warned = run(&workspace, kept).unwrap().warnings.join("\n");
    assert!(warned.starts_with("not kept: `.git/gc.pid`") && !warned.contains("would obey"), "{warned}");
    assert_eq!(fixture.text(".git/gc.log").as_deref(), Some("x\n"), "the control");
    let after = run(&workspace, "git add file && git commit -qm one").unwrap();
    assert_eq!((after.exit_code, &after.warnings[..]), (0, &[][..]), "{after:?}");
}

/// It may be that of the user's git, and stays.
#[test]
fn lock_that_is_left_without_a_layer_is_named() {
    let fixture = Fixture::new();
    let workspace = fixture.open_layered(Layered::No);
    let warned = run(&workspace, "git init -q . && echo x > file && git add file").unwrap().warnings;
    assert_eq!(warned, [""; 0], "the control");
    let warned = run(&workspace, "touch .git/index.lock").unwrap().warnings.join("\n");
    assert!(
        warned.starts_with("git changes nothing while these locks are there: `.git/index.lock`"),
        "{warned}"
    );
    let after = run(&workspace, "rm .git/index.lock && git commit -qm one").unwrap();
    assert_eq!((after.exit_code, &after.warnings[..]), (0, &[][..]), "{after:?}");
}

/// With each of them, every command of git that reads a reference fails.
#[test]
fn references_that_git_cannot_read_are_not_adopted() {
    const COMMIT: &str = "git -c user.name=u -c user.email=u@x commit -q --allow-empty -m";
    let replaced = |folder: &str| format!("rm -rf {folder}; echo x > {folder}");
    let cases = [
        ("echo garbage > .git/packed-refs".to_owned(), ".git/packed-refs", "cannot read"),
        ("echo garbage > .git/shallow".to_owned(), ".git/shallow", "cannot read"),
        ("echo garbage > .git/HEAD".to_owned(), ".git/HEAD", "cannot read"),
        ("echo garbage > .git/refs/heads/main".to_owned(), ".git/refs/heads/main", "cannot read"),
        (replaced(".git/refs/heads"), ".git/refs/heads", "keeps a folder"),
        (replaced(".git/refs/tags"), ".git/refs/tags", "keeps a folder"),
        (replaced(".git/logs/refs"), ".git/logs/refs", "keeps a folder"),
        (replaced(".git/logs/refs/heads"), ".git/logs/refs/heads", "keeps a folder"),
    ];
    let uses = format!("git status && git fsck && git tag x && git branch -f b && {COMMIT} two");
    for (script, path, why) in cases {
        let prepare = format!("git init -q -b main . && {COMMIT} one && git tag t");
        let plain = Fixture::new();
        assert!(shell(&plain.root(), &format!("{prepare} && {{ {script}; }}")).status.success());
        assert!(!shell(&plain.root(), &uses).status.success(), "control: {script}");
        for layered in LAYERS {
            let fixture = Fixture::new();
            assert!(shell(&fixture.root(), &prepare).status.success());
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, &format!("{script}; echo y > y")).unwrap();
            let warned = response.warnings.join("\n");
            assert!(warned.contains(path) && warned.contains(why), "{script} ({layered:?}): {response:?}");
            assert!(fixture.text("y").is_some(), "the control: {layered:?}");
            // What the command removed may be gone.
            let after =
                shell(&fixture.root(), &format!("git status && {COMMIT} two && git tag x && git fsck"));
            assert!(after.status.success(), "{script} ({layered:?}): {after:?}");
        }
    }
    for layered in LAYERS {
        let fixture = Fixture::new();
        let workspace = fixture.open_layered(layered);
        for script in [
            format!(
                "git init -q -b main . && {COMMIT} one && git tag t && git pack-refs --all && git branch b"
            ),
            format!("git init -q --ref-format=reftable tables && cd tables && {COMMIT} one && git branch b"),
            format!(
                "git init -q --object-format=sha256 long && cd long && {COMMIT} one && git pack-refs --all && git checkout -q --detach"
            ),
            "git worktree add -q linked && git stash list".to_owned(),
        ] {
            let response = run(&workspace, &script).unwrap();
            let warned = response.warnings.join("\n");
            assert!(!warned.contains("not kept"), "{script} ({layered:?}): {warned}");
        }
        for folder in [".", "tables", "long"] {
            let used = shell(&fixture.root(), &format!("cd {folder} && git log -1 && git fsck"));
            assert!(used.status.success(), "{folder} ({layered:?}): {used:?}");
        }
    }
}
