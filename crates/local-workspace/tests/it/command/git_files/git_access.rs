//! A command does not remove access to files that git obeys: git skips a hook that it cannot read, and fails at other
//! files.

use std::os::unix::fs::PermissionsExt;

use crate::fixture::user_shell::shell;
use crate::fixture::workspace::*;

/// Git could not read what comes, or could not write to what stays.
#[test]
fn what_git_needs_is_usable() {
    let cases = [
        ("install -m 000 /dev/null sub/.git/packed-refs", "sub/.git/packed-refs"),
        ("install -m 200 /dev/null sub/.git/MERGE_HEAD", "sub/.git/MERGE_HEAD"),
        ("install -m 000 /dev/null sub/.git/info/grafts", "sub/.git/info/grafts"),
        ("for n in 0 1 2 3; do mkdir -p -m 000 sub/.git/objects/f$n; done", "sub/.git/objects/f"),
        ("mkdir -m 500 sub/.git/refs/heads/a", "sub/.git/refs/heads/a"),
        ("chmod a-w sub/.git", "sub/.git"),
        ("chmod a-w sub/.git/objects", "sub/.git/objects"),
        ("chmod a-w sub/.git/refs", "sub/.git/refs"),
        ("chmod a-w sub/.git/logs/HEAD", "sub/.git/logs/HEAD"),
        ("chmod a-w sub/.git/index", "sub/.git/index"),
        ("chmod a-w bare/refs", "bare/refs"),
        ("install -m 444 /dev/null sub/.git/COMMIT_EDITMSG", "sub/.git/COMMIT_EDITMSG"),
        ("install -m 444 /dev/null sub/.git/FETCH_HEAD", "sub/.git/FETCH_HEAD"),
        ("install -m 444 /dev/null sub/.git/logs/refs/stash", "sub/.git/logs/refs/stash"),
        ("install -m 444 /dev/null sub/.git/logs/refs/heads/zz", "sub/.git/logs/refs/heads/zz"),
    ];
    for layered in LAYERS {
        let fixture = guarded();
        let root = fixture.root();
        assert!(shell(&root, "cd sub && rm -rf .git/hooks .git/COMMIT_EDITMSG").status.success());
        let workspace = fixture.open_layered(layered);
        for (script, path) in cases {
            let entry = root.join(path);
            let had = entry.exists().then(|| mode(&fixture, path));
            let warned = run(&workspace, &format!("{script}; echo y > y")).unwrap().warnings.join("\n");
            assert!(
                warned.contains(path) && warned.contains("could not read it or write to it"),
                "{script} ({layered:?}): {warned}"
            );
            assert_eq!(entry.exists().then(|| mode(&fixture, path)), had, "{script} ({layered:?}): {warned}");
            assert!(fixture.text("y").is_some(), "the control ({layered:?})");
        }
        // The control: the modes of objects, of shared repositories, and of what git replaces.
        for script in [
            "umask 077; cd sub; git branch b; git pack-refs --all",
            "umask 022; cd sub; git config core.sharedRepository 0640; git branch c; git commit-graph write --reachable",
            "cd sub; chmod 444 $(find .git/objects -type f)",
            "cd sub; install -m 444 /dev/null .git/MERGE_MSG",
        ] {
            let warned = run(&workspace, script).unwrap().warnings.join("\n");
            assert!(!warned.contains("could not read it"), "{script} ({layered:?}): {warned}");
        }
        let commit =
            "cd sub && git -c user.name=u -c user.email=u@x commit -q --allow-empty -m two && git fsck";
        assert!(shell(&root, commit).status.success(), "{layered:?}");
    }
}

/// A repository whose hook refuses commits, and a bare one.
fn guarded() -> Fixture {
    let fixture = Fixture::new();
    fixture.put("sub/file", "x\n");
    let script = "git init -q -b main sub && cd sub && git add . && \
                  git -c user.name=u -c user.email=u@x commit -q -m one && git init -q --bare -b main ../bare && \
                  mkdir -p .git/hooks && printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && \
                  printf '#!/bin/sh\\n' > ../bare/hooks/update && chmod +x ../bare/hooks/update";
    let made = shell(&fixture.root(), script);
    assert!(made.status.success(), "{made:?}");
    fixture
}

fn mode(fixture: &Fixture, path: &str) -> u32 {
    fixture.root().join(path).metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn access_to_what_git_obeys_is_not_taken() {
    let paths = [
        "sub/.git",
        "sub/.git/hooks",
        "sub/.git/info",
        "sub/.git/objects",
        "sub/.git/refs",
        "sub/.git/refs/heads",
        "sub/.git/config",
        "sub/.git/HEAD",
        "sub/.git/info/exclude",
        "sub/.git/index",
        "sub/.git/refs/heads/main",
        "sub/.git/hooks/pre-commit",
        "bare/hooks",
        "bare/config",
        "bare/hooks/update",
    ];
    for layered in LAYERS {
        let fixture = guarded();
        let workspace = fixture.open_layered(layered);
        for path in paths {
            let before = mode(&fixture, path);
            let changes =
                if fixture.root().join(path).is_dir() { &["000", "300", "600"][..] } else { &["000", "200"] };
            for change in changes {
                let response = run(&workspace, &format!("chmod {change} {path}; echo {change} > x")).unwrap();
                let warned = response.warnings.join("\n");
                assert!(warned.contains(path), "{path} {change} ({layered:?}): {response:?}");
                assert_eq!(mode(&fixture, path), before, "{path} {change} ({layered:?}): {warned}");
                assert_eq!(
                    fixture.text("x"),
                    Some(format!("{change}\n")),
                    "the control: {path} ({layered:?})"
                );
            }
        }
        // The hook is in force.
        let commit = "cd sub && git -c user.name=u -c user.email=u@x commit -q --allow-empty -m two";
        assert!(!shell(&fixture.root(), commit).status.success(), "{layered:?}");
        assert!(shell(&fixture.root(), "cd sub && git fsck").status.success(), "{layered:?}");
        // The control: modes that git gives, and elsewhere any.
        for (path, change) in [
            ("sub/.git/info", 0o770),
            ("sub/.git/objects", 0o700),
            ("sub/.git/info/exclude", 0o600),
            ("sub/.git/config", 0o640),
            ("sub/file", 0o200),
        ] {
            let warned = run(&workspace, &format!("chmod {change:o} {path}")).unwrap().warnings.join("\n");
            assert_eq!(mode(&fixture, path), change, "{path} ({layered:?}): {warned}");
            assert!(!warned.contains("not kept"), "{path} ({layered:?}): {warned}");
        }
        assert!(shell(&fixture.root(), "chmod 644 sub/file").status.success());
        let object = "chmod 644 $(find sub/.git/objects -type f | head -n1)";
        assert_eq!(run(&workspace, object).unwrap().warnings, [""; 0], "{layered:?}");
    }
}

#[test]
fn folder_of_hooks_in_the_workspace_that_is_closed_is_named() {
    for layered in LAYERS {
        let fixture = guarded();
        fixture.put(".githooks/pre-commit", "#!/bin/sh\n");
        let workspace = fixture.open_layered(layered);
        // The control: more access says nothing.
        let warned = run(&workspace, "chmod 711 .githooks; mkdir -p other; chmod 0 other")
            .unwrap()
            .warnings
            .join("\n");
        assert!(!warned.contains(".githooks"), "{layered:?}: {warned}");
        let warned = run(&workspace, "chmod 0 .githooks").unwrap().warnings.join("\n");
        assert!(
            warned.contains("edits files that other programs obey") && warned.contains("`.githooks`"),
            "{layered:?}: {warned}"
        );
        assert!(shell(&fixture.root(), "chmod 755 .githooks other").status.success());
    }
}
