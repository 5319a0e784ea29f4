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
        for path in [".git/info/exclude", ".git/COMMIT_EDITMSG", ".git/lfs/objects/ab/cd/abcd"] {
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
