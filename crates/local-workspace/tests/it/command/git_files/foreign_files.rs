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
        // The control: files of git beside them, made in the same way.
        for path in [
            ".git/info/exclude",
            ".git/COMMIT_EDITMSG",
            ".git/lfs/objects/ab/cd/abcd",
            ".git/filter-repo/analysis/README",
        ] {
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
