//! The rules for references agree with git's.
#![expect(clippy::disallowed_types, reason = "the tests run git")]

use std::process::Command;

use git_index::{REFERENCE_BYTES, is_reference, is_reference_name, stays_in_references};

use crate::from_git::has_git;

fn git_accepts(name: &str) -> bool {
    Command::new("git").args(["check-ref-format", name]).output().unwrap().status.success()
}

#[test]
fn names_are_those_that_git_accepts() {
    if !has_git() {
        return;
    }
    let parts = [
        "main", "a.b", ".a", "a.", "..", ".", "", "a..b", "a.lock", ".lock", "lock", "a.LOCK", "@", "@{",
        "a@{1}", "{", "a b", "a\tb", "a~", "^", "a:b", "?", "*", "[", "]", "\\", "\u{7f}", "\u{1}", "ö",
        "-x", "a\n",
    ];
    for part in parts {
        for name in [
            format!("refs/{part}"),
            format!("refs/heads/{part}"),
            format!("refs/{part}/x"),
            format!("refs/a{part}"),
        ] {
            assert_eq!(is_reference_name(name.as_bytes()), git_accepts(&name), "{name:?}");
        }
    }
    // Git accepts other beginnings, which a symbolic reference need not have.
    assert!(
        ["HEAD", "logs/x", "refs", "Refs/heads/a"].iter().all(|name| !is_reference_name(name.as_bytes()))
    );
}

#[test]
fn content_is_read_as_git_reads_it() {
    let object = format!("{}\n", "a".repeat(40));
    for text in [
        "",
        &object,
        "ref: refs/heads/main\n",
        "ref:refs/heads/main",
        "ref: \t\r\nrefs/remotes/o/HEAD \n",
        "ref: refs/heads/.invalid\n",
        "ref",
    ] {
        assert!(stays_in_references(text.as_bytes()), "{text:?}");
    }
    for text in [
        "ref:",
        "ref: HEAD",
        "ref: refs/heads/.invalid/x\n",
        "ref: refs/heads/../../../hooks/x\n",
        "ref:refs/../x",
        "ref: refs/heads/a\0../x",
        "ref: refs/heads/a\n../x",
        "ref: /etc/x",
    ] {
        assert!(!stays_in_references(text.as_bytes()), "{text:?}");
    }
    let padded = |length: usize| [b"ref: ", vec![b' '; length].as_slice(), b"refs/heads/main"].concat();
    assert!(stays_in_references(&padded(100)));
    assert!(!stays_in_references(&padded(usize::try_from(REFERENCE_BYTES).unwrap())));
}

#[test]
fn references_are_recognised_by_their_names() {
    let is_one = |path: &str| is_reference(path.split('/').map(str::as_bytes));
    let are = [
        "HEAD",
        "head",
        "ORIG_HEAD",
        "worktrees/a/HEAD",
        "modules/a/b/FETCH_HEAD",
        "refs/stash",
        "AUTO_MERGE",
    ];
    let deeper = ["refs/heads/a/b", "worktrees/a/refs/bisect/bad", "modules/a/REFS/x"];
    let others =
        ["config", "refs", "COMMIT_EDITMSG", "logs/refs.x", "objects/aa/bb", "rebase-merge/message", "x"];
    assert!(are.iter().chain(&deeper).all(|path| is_one(path)));
    assert!(!others.iter().any(|path| is_one(path)));
}
