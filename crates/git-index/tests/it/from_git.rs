//! Indexes that git writes are accepted, with the paths that git lists.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "the tests run git")]

use std::fs;
use std::path::Path;
use std::process::Command;

use git_index::{IndexError, ObjectFormat, check};
use tempfile::TempDir;

pub(crate) fn git(folder: &Path, script: &str) -> String {
    let ran = Command::new("sh")
        .args(["-ec", script])
        .current_dir(folder)
        .envs([("HOME", folder.as_os_str()), ("GIT_CONFIG_NOSYSTEM", "1".as_ref())])
        .envs(
            ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"]
                .map(|name| (name, "x")),
        )
        .output()
        .unwrap();
    assert!(ran.status.success(), "{script}: {ran:?}");
    String::from_utf8(ran.stdout).unwrap()
}

pub(crate) fn has_git() -> bool {
    let is_there = Command::new("git").arg("--version").output().is_ok();
    assert!(is_there || std::env::var_os("CI").is_none(), "git is missing");
    is_there
}

const FILES: &str = "mkdir -p a/deep/er b; for n in 1 2 3 4 5 6 7 8 9; do echo $n > a/$n; echo $n > a/deep/er/name$n; \
                     done; echo x > b/y; ln -s a/1 link; git add .; git commit -qm one";

/// Scripts that change a repository, each with the name of the index to check.
const WAYS: &[(&str, &str)] = &[
    ("true", "index"),
    ("git rm -rq --cached .", "index"),
    ("git config index.version 4; git update-index --index-version 4", "index"),
    ("git update-index --skip-worktree a/1; echo n > new; git add -N new", "index"),
    ("git update-index --split-index; git update-index --force-remove a/2; echo z > b/y; git add b", "index"),
    ("git update-index --split-index", "sharedindex"),
    ("git update-index --index-version 4 --split-index; echo z > a/3; echo z > a/4; git add a", "index"),
    ("git update-index --untracked-cache; git status", "index"),
    ("git sparse-checkout set --cone --sparse-index a/deep", "index"),
    ("git worktree add -q ../other", "worktrees/other/index"),
    (
        "git checkout -qb other; rm -r a/deep; ln -s 1 a/deep; git add -A; git commit -qm two; git checkout -q -; \
         echo z > a/deep/er/name1; git commit -qam three; git merge other || git status; git rev-parse MERGE_HEAD",
        "index",
    ),
    ("git stash -u; echo z > a/1; git stash; git stash pop", "index"),
    (
        "for n in 1 2 3; do cp -r a d$n; done; git add .; git config index.threads 3; \
      GIT_TEST_INDEX_THREADS=3 git update-index --index-version 4 --force-write-index",
        "index",
    ),
    // Folders whose names begin like others, and all kinds of entries.
    (
        "mkdir -p a-b a.b 'a b' c/c/c; for folder in a-b a.b 'a b' c c/c/c; do echo x > \"$folder/x\"; done; echo x > a0; chmod +x b/y; \
      git init -q sub; cd sub; git commit -q --allow-empty -m one; cd ..; git add . 2>/dev/null; git commit -qm two",
        "index",
    ),
    ("echo n > a/deep/new; git add -N a/deep/new; git commit -qm two --allow-empty; git status", "index"),
    (
        "git rm -rq a/deep; git commit -qm two; git mv b c; git commit -qm three; git reset -q --hard HEAD~1",
        "index",
    ),
    (
        "git checkout -qb other; echo o > b/y; git commit -qam two; git checkout -q -; echo m > a/1; git commit -qam three; \
      git rebase -q other; git cherry-pick -n HEAD; git reset -q",
        "index",
    ),
    ("git commit -q --allow-empty -m two; git rm -rq .; git commit -qm none", "index"),
    (
        "echo z > a/1; echo z > b/y; git commit -qm two -o b/y; git read-tree HEAD; git checkout -q HEAD~1 -- b",
        "index",
    ),
    ("git sparse-checkout set --cone --sparse-index b; echo z > b/y; git commit -qam two", "index"),
];

#[test]
fn indexes_that_git_writes_are_accepted() {
    if !has_git() {
        return;
    }
    for format in ["sha1", "sha256"] {
        for (script, name) in WAYS {
            let folder = TempDir::new().unwrap();
            let root = folder.path().join("root");
            fs::create_dir(&root).unwrap();
            git(&root, &format!("git init -q --object-format={format} . && {FILES}"));
            git(&root, script);
            let path = git(&root, &format!("ls .git/{name}* | head -1"));
            let bytes = fs::read(root.join(path.trim())).unwrap();
            let format = if format == "sha1" { ObjectFormat::Sha1 } else { ObjectFormat::Sha256 };
            let mut paths = Vec::new();
            let judged = check(&bytes, format, &mut |entry| paths.push(entry.path.to_vec()));
            // One of them has no cached tree left.
            let is_split = *name == "index" && script.contains("--split-index");
            assert!(
                judged == Ok(()) || is_split && judged == Err(IndexError::SplitTrees),
                "{script} ({format:?}): {judged:?}"
            );
            if *name == "index" && !script.contains("split") && !script.contains("sparse") {
                let listed = git(&root, "git ls-files --stage");
                let listed: Vec<_> =
                    listed.lines().filter_map(|line| Some(line.split_once('\t')?.1)).collect();
                let read: Vec<_> = paths.iter().map(|path| String::from_utf8_lossy(path)).collect();
                assert_eq!(read, listed, "{script} ({format:?})");
            }
        }
    }
}
