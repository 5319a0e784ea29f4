//! Contents of Git LFS and git-annex are not lost by a command, and conflicts are not resolved in the user's name unseen.

use std::fs;

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

const LARGE: [&str; 2] = [
    ".git/lfs/objects/ab/cd/abcd012345678901234567890123456789012345678901234567890123456789",
    ".git/annex/objects/1k/2m/SHA256E-s17000000--x.bin/SHA256E-s17000000--x.bin",
];

#[test]
fn contents_of_lfs_and_annex_that_could_not_be_restored_stay() {
    let content = vec![7; 17_000_000];
    let prepared = || {
        let fixture = Fixture::new();
        git(&fixture, &format!("git init -q -b main . && {COMMIT} one && git init -q sub"));
        for name in LARGE {
            fixture.put(name, &content);
            fixture.put(&format!("sub/{name}"), &content);
        }
        fixture.put(".git/lfs/objects/01/23/small", "small\n");
        std::thread::sleep(std::time::Duration::from_millis(100));
        fixture
    };
    for script in ["rm -rf .git/lfs/objects/ab .git/annex/objects", "for f in FILES; do echo x > $f; done"] {
        let fixture = prepared();
        let workspace = fixture.open();
        let response = run(&workspace, &script.replace("FILES", &LARGE.join(" "))).unwrap();
        let warned = response.warnings.join("\n");
        assert_eq!(response.exit_code, 0, "{script}: {response:?}");
        for part in LARGE.into_iter().chain(["too large to be restored", "git lfs prune"]) {
            assert!(warned.contains(part), "{script}: {part}: {warned}");
        }
        for name in LARGE {
            assert_eq!(fs::read(fixture.root().join(name)).unwrap(), content, "{script}: {name}");
        }
    }
    // The control: small contents go and can be brought back, large ones come, and go with their repository.
    let fixture = prepared();
    let workspace = fixture.open();
    let new = ".git/lfs/objects/ff/ff/ffff012345678901234567890123456789012345678901234567890123456789";
    let script = format!(
        "rm -rf .git/lfs/objects/01 sub; mkdir -p $(dirname {new}); head -c 17000000 /dev/zero > {new}; touch {}",
        LARGE.join(" ")
    );
    let response = run(&workspace, &script).unwrap();
    let is_fault = |line: &&String| !line.starts_with("changed, not undoable: ");
    assert_eq!(response.warnings.iter().filter(is_fault).count(), 0, "{response:?}");
    let there = |name: &str| fixture.root().join(name).exists();
    assert!(
        there(new) && there(LARGE[0]) && !there(".git/lfs/objects/01/23/small") && !there("sub"),
        "{response:?}"
    );
}

/// A key, with which the user's next commit would be encrypted, and contents that `git switch` puts into the folder.
#[test]
fn contents_and_keys_are_not_replaced() {
    let content = ".git/lfs/objects/ab/cd/abcd012345678901234567890123456789012345678901234567890123456789";
    let key = ".git/annex/objects/1k/2m/SHA256E-s5--x.bin/SHA256E-s5--x.bin";
    let names = [content, key, ".git/git-crypt/keys/default"];
    for layered in LAYERS {
        let fixture = Fixture::new();
        git(&fixture, &format!("git init -q -b main . && {COMMIT} one"));
        for name in names {
            fixture.put(name, "mine\n");
        }
        let workspace = fixture.open_layered(layered);
        for name in names {
            let warned = run(&workspace, &format!("echo evil > {name}")).unwrap().warnings.join("\n");
            assert!(warned.contains(&format!("`{name}`")), "{layered:?}: {warned}");
            assert!(warned.contains("another one never takes its name"), "{layered:?}: {warned}");
            assert_eq!(fixture.text(name).as_deref(), Some("mine\n"), "{layered:?}: {name}");
        }
        // Otherwise another one could come in the next command.
        let warned = run(&workspace, &format!("rm {}", names[2])).unwrap().warnings.join("\n");
        assert!(warned.contains("another one never takes its name"), "{layered:?}: {warned}");
        // The control: others come, contents go, and their times change.
        let script = format!(
            "echo x > .git/git-crypt/keys/other && touch {content} && rm {key} && mkdir -p .git/lfs/tmp && echo x > .git/lfs/tmp/x && \
             cp {content} {content}.new && mv {content}.new {content}"
        );
        let response = run(&workspace, &script).unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
    }
}

/// A repository in which a branch and `main` change the same line.
fn conflict() -> Fixture {
    let fixture = Fixture::new();
    fixture.put("f1", "one\n");
    let script = format!(
        "git init -q -b main . && git config user.name u && git config user.email u@x && git add . && {COMMIT} one && \
         git checkout -q -b b1 && echo theirs > f1 && git commit -qam theirs && git checkout -q main && echo ours > f1 && \
         git commit -qam ours"
    );
    git(&fixture, &script);
    fixture
}

#[test]
fn recorded_resolution_is_named_and_not_staged() {
    let enable = "git config rerere.enabled true";
    let forge = "git merge -q b1; for d in .git/rr-cache/*; do echo EVIL > $d/postimage; done; git merge --abort; rm -f .git/MERGE_RR";
    let merge = "git merge b1 2>&1; git diff --cached --name-only --diff-filter=M";
    let plain = conflict();
    let _ = shell(&plain.root(), &format!("{enable}; git config rerere.autoupdate true; {forge}"));
    let merged = String::from_utf8(shell(&plain.root(), merge).stdout).unwrap();
    assert!(merged.contains("Staged 'f1' using previous resolution."), "control: {merged}");
    for layered in LAYERS {
        let fixture = conflict();
        let workspace = fixture.open_layered(layered);
        // Without a layer a command cannot write them.
        if layered == Layered::Yes {
            let warned = run(&workspace, "git config rerere.autoupdate true").unwrap().warnings.join("\n");
            assert!(warned.contains("sets rerere.autoupdate"), "{warned}");
        }
        git(&fixture, enable);
        let warned = run(&workspace, forge).unwrap().warnings.join("\n");
        assert!(
            warned.contains("resolves the same conflict") && warned.contains("/postimage`"),
            "{layered:?}: {warned}"
        );
        let merged = String::from_utf8(shell(&fixture.root(), merge).stdout).unwrap();
        assert!(!merged.contains("Staged") && !merged.ends_with("f1\n"), "{layered:?}: {merged}");
        // A changed one is named again.
        let again = "for d in .git/rr-cache/*; do echo OTHER > $d/postimage; done";
        let warned = run(&workspace, again).unwrap().warnings.join("\n");
        assert!(warned.contains("/postimage`"), "{layered:?}: {warned}");
        // The control: a conflict that is left, and a branch with such a name.
        let fixture = conflict();
        git(&fixture, enable);
        let workspace = fixture.open_layered(layered);
        let work = "git merge -q b1; git merge --abort; git branch rr-cache/x/postimage";
        let response = run(&workspace, work).unwrap();
        assert_eq!(response.warnings, [""; 0], "{layered:?}");
        git(&fixture, "test -f .git/rr-cache/*/preimage && git rev-parse rr-cache/x/postimage");
    }
}
