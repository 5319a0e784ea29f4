//! A repository or working tree that cannot be kept where a command has moved it stays where it was, as a whole.

use crate::fixture::tree::tree;
use crate::fixture::user_shell::{COMMIT, git};
use crate::fixture::workspace::*;

/// A repository of the user with others in its folder: `sub` has settings and a hook that no command could make, `borrowing`
/// takes objects from the one around it, `plain` has nothing of the kind, and `tree` is a working tree.
fn repository() -> Fixture {
    let fixture = Fixture::new();
    fixture.put(".gitignore", "*\n");
    let script = format!(
        "git init -q -b main . && {COMMIT} one && for name in sub plain; do git init -q -b main $name && echo x > $name/file && \
         git -C $name add -f file && (cd $name && {COMMIT} one); done && git -C sub config alias.st status && \
         git -C sub remote add up ../elsewhere && printf '#!/bin/sh\\nexit 1\\n' > sub/.git/hooks/pre-commit && \
         chmod +x sub/.git/hooks/pre-commit && git clone -q --reference . file://$PWD borrowing && \
         git -C borrowing remote remove origin && git worktree add -q --detach tree && echo mine > tree/mine"
    );
    git(&fixture, &script);
    fixture
}

#[test]
fn repository_that_cannot_be_kept_elsewhere_stays_as_it_was() {
    let cases = [
        ("mv sub moved", "`sub`"),
        ("mv borrowing moved", "`borrowing`"),
        ("mv tree moved", "`tree`"),
        ("mkdir deep && mv sub deep/moved", "`sub`"),
        ("cp -a sub moved && rm -rf sub", "`sub`"),
    ];
    for layered in LAYERS {
        for (script, named) in cases {
            let fixture = repository();
            let before = tree(&fixture);
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, script).unwrap();
            let warned = response.warnings.join("\n");
            assert_eq!(response.exit_code, 0, "{script} ({layered:?}): {response:?}");
            assert!(warned.contains(named), "{script} ({layered:?}): {warned}");
            let names = |tree: &[(String, u32, Vec<u8>)]| -> Vec<String> {
                let own = tree.iter().map(|(name, ..)| name.clone());
                own.filter(|name| name != "deep" && name != "deep/").collect()
            };
            assert_eq!(names(&tree(&fixture)), names(&before), "{script} ({layered:?}): {warned}");
            assert_eq!(git(&fixture, "git -C sub config alias.st"), "status\n", "{script} ({layered:?})");
            git(
                &fixture,
                "git -C sub fsck && git -C borrowing log && git -C tree status && ! git worktree list | grep prunable",
            );
        }
    }
}

#[test]
fn repositories_are_moved_and_removed() {
    for layered in LAYERS {
        let fixture = repository();
        let workspace = fixture.open_layered(layered);
        for script in [
            "mv plain moved && git -C moved log main",
            "git worktree move tree moved-tree && git -C moved-tree status",
            // Not the same: its settings name a folder of this machine.
            "rm -rf sub && git clone -q --no-hardlinks . other",
            "rm -rf borrowing",
        ] {
            let response = run(&workspace, script).unwrap();
            let warned = response.warnings.join("\n");
            assert!(
                response.exit_code == 0 && !warned.contains("may be the same"),
                "{script} ({layered:?}): {response:?}"
            );
        }
        git(
            &fixture,
            "git -C moved log main && git -C moved-tree status && git -C other log && test ! -e sub -a ! -e plain",
        );
        git(&fixture, "test ! -e borrowing && ! git worktree list | grep prunable");
    }
}

/// Neither the journal nor git could bring its objects back.
#[test]
fn submodule_with_objects_too_large_to_be_restored_stays() {
    for (size, is_kept) in [(17_000_000, true), (1_000, false)] {
        for script in ["rm -rf .git/modules/s", "rm -rf .git/modules", "rm -rf s .git/modules/s"] {
            let fixture = Fixture::new();
            let make = format!(
                "git init -q -b main . && {COMMIT} one && mkdir .git/modules && git init -q -b main --separate-git-dir=.git/modules/s s && \
                 cd s && head -c {size} /dev/urandom > big && git add big && {COMMIT} big && git repack -qad"
            );
            git(&fixture, &make);
            let workspace = fixture.open();
            let response = run(&workspace, script).unwrap();
            let warned = response.warnings.join("\n");
            assert_eq!(warned.contains("too large to be restored"), is_kept, "{script}: {warned}");
            assert_eq!(fixture.root().join(".git/modules/s").exists(), is_kept, "{script}: {warned}");
            if is_kept {
                git(
                    &fixture,
                    "git --git-dir=.git/modules/s --work-tree=. log && git --git-dir=.git/modules/s fsck",
                );
            }
        }
    }
}
