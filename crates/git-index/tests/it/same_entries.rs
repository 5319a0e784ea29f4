//! Indexes that differ only in what git remembers of the files.
#![expect(clippy::disallowed_methods, reason = "the test reads indexes that git wrote")]

use std::fs;

use git_index::{ObjectFormat, has_same_entries};

use crate::from_git::{git, has_git};

/// Scripts, each with whether they leave the entries as they are.
const SCRIPTS: &[(&str, bool)] = &[
    ("touch -d '1 hour ago' a b; git status", true),
    ("git update-index --index-version 4", true),
    ("git update-index --untracked-cache; git status", true),
    ("git read-tree HEAD", true),
    ("true", true),
    ("echo new > a; git add a", false),
    ("echo c > c; git add c", false),
    ("echo c > c; git add -N c", false),
    ("git rm -q --cached b", false),
    ("git rm -q --cached a b", false),
    ("git mv b c", false),
    ("git update-index --chmod=+x a", false),
    ("git update-index --skip-worktree a", false),
    ("git update-index --assume-unchanged a", false),
    ("git update-index --split-index", false),
    ("printf x >> .git/index", false),
];

#[test]
fn split_indexes_are_never_the_same() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), "git init -q; echo a > a; echo b > b; git add .; git update-index --split-index");
    let index = fs::read(folder.path().join(".git/index")).unwrap();
    assert!(!has_same_entries(&index, &index, ObjectFormat::Sha1));
    git(folder.path(), "git update-index --no-split-index");
    let index = fs::read(folder.path().join(".git/index")).unwrap();
    assert!(has_same_entries(&index, &index, ObjectFormat::Sha1), "the control");
}

#[test]
fn what_git_status_writes_anew_does_not_count() {
    if !has_git() {
        return;
    }
    for (script, is_same) in SCRIPTS {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), "git init -q; echo a > a; echo b > b; git add .; git commit -qm one");
        let index = || fs::read(folder.path().join(".git/index")).unwrap();
        let before = index();
        git(folder.path(), script);
        let same = |one: &[u8], other: &[u8]| has_same_entries(one, other, ObjectFormat::Sha1);
        assert_eq!((same(&before, &index()), same(&index(), &before)), (*is_same, *is_same), "{script}");
    }
}
