//! Files that hide changes from the user's next `git status`, or keep git from recording them, are adopted and reported.

use crate::fixture::user_shell::{COMMIT, git};
use crate::fixture::workspace::*;

/// A repository with a few files.
fn repository() -> Fixture {
    let fixture = Fixture::new();
    let script = format!(
        "git init -q -b main . && git config user.name u && git config user.email u@x && mkdir d e && \
         for name in a b d/x e/y; do echo 1 > $name; done && git add . && {COMMIT} one"
    );
    git(&fixture, &script);
    fixture
}

const REPORT: &str = "changed which changes git notices or records";

/// A command, and the parts of the report.
const CASES: &[(&str, &[&str])] = &[
    ("echo 2 > a && git update-index --assume-unchanged a", &["`.git/index`", "no changes of 'a'"]),
    ("echo 2 > d/x && git update-index --skip-worktree d/x b", &["'d/x'", "'b'"]),
    (
        "echo conftest.py >> .git/info/exclude && echo x > conftest.py",
        &["`.git/info/exclude`", "no new files"],
    ),
    ("git config core.checkStat minimal", &["`.git/config`", "core.checkstat = minimal"]),
    ("git config core.trustctime false", &["core.trustctime = false"]),
    ("git config core.ignorecase true", &["core.ignorecase = true"]),
    ("git config core.logAllRefUpdates false", &["core.logallrefupdates = false"]),
];

#[test]
fn what_hides_changes_is_reported() {
    for layered in LAYERS {
        for (script, parts) in CASES {
            let fixture = repository();
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, script).unwrap();
            // Without a layer, commands cannot write to the settings.
            if layered == Layered::No && script.starts_with("git config") {
                continue;
            }
            let warned = response.warnings.join("\n");
            for part in parts.iter().chain([&REPORT]) {
                assert!(warned.contains(part), "{script} ({layered:?}): {part}: {response:?}");
            }
            // Once is enough.
            let response = run(&workspace, "git add -A && git status").unwrap();
            assert!(!response.warnings.join("\n").contains(REPORT), "{script} ({layered:?}): {response:?}");
        }
        // The control: what hides nothing, and files that are not in the folder.
        let fixture = repository();
        let workspace = fixture.open_layered(layered);
        for script in [
            "echo 2 > a && git add a && git commit -qm two",
            "git update-index --no-assume-unchanged a",
            "git init -q new && git -C new config core.checkStat minimal && echo x >> new/.git/info/exclude",
        ] {
            let response = run(&workspace, script).unwrap();
            assert_eq!(
                (response.exit_code, &response.warnings[..]),
                (0, &[][..]),
                "{script} ({layered:?}): {response:?}"
            );
        }
        if layered == Layered::Yes {
            let response = run(&workspace, "git sparse-checkout set d").unwrap();
            assert!(response.exit_code == 0 && !fixture.root().join("e/y").exists(), "{response:?}");
            assert!(!response.warnings.join("\n").contains(REPORT), "{response:?}");
        }
    }
}
