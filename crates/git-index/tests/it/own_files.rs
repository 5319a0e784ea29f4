//! The names of the files that git keeps in a repository's folder.
#![expect(clippy::disallowed_types, reason = "the tests run git")]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use git_index::{is_file_only, is_folder_only, is_own_file};

use crate::from_git::{git, has_git};

/// Work that leaves every kind of file, in the folder `r` with two commits, or in others next to it.
const WORK: &[&str] = &[
    "git commit -q --allow-empty -m x; git tag -am note t; git branch feature/ä; git stash -q || true",
    "git config rerere.enabled true; git checkout -qb other HEAD~; echo z > f; git commit -qam other; git merge main || true",
    "git checkout -qb other HEAD~; echo z > f; git commit -qam other; git rebase main || true",
    "git checkout -qb other HEAD~; echo z > f; git commit -qam other; git rebase --apply main || true",
    "git format-patch -1 --stdout > ../p; git reset -q --hard HEAD~; echo y > f; git commit -qam y; git am ../p || true",
    "git checkout -qb other HEAD~; echo z > f; git commit -qam z; git cherry-pick main~ main || true",
    "git bisect start HEAD HEAD~ -- f; git bisect log > /dev/null",
    "git notes add -m x; git update-ref refs/notes/o refs/notes/commits; git notes add -fm y; git notes --ref o add -fm z; git notes merge o || true",
    "git worktree add -q ../w; git worktree lock ../w; cd ../w; echo w > f; git commit -qam w; git rebase main || true; git sparse-checkout set --no-cone f",
    "git -c protocol.file.allow=always submodule add -q ../r/.git lib/sub; git commit -qm sub; git submodule update -q; git submodule foreach -q 'git gc -q'",
    "git repack -qadb; git commit-graph write --split --reachable; git multi-pack-index write --bitmap || true; git fsck --lost-found",
    "git commit-graph write --reachable; git gc -q; git maintenance run --task=loose-objects --task=incremental-repack",
    "git update-index --split-index; git sparse-checkout set --no-cone f; git replace HEAD HEAD~; git pack-refs --all",
    "git fetch -q ../r; git remote add o ../r; git fetch -q o; git remote set-head o -a; git update-server-info; git commit -q --amend -m z",
    "git clone -q --depth 1 file://$PWD ../shallow; git clone -q --bare . ../bare; git init -q --object-format=sha256 ../sha256; cd ../sha256; git commit -q --allow-empty -m x",
    "git init -q --ref-format=reftable ../tables && cd ../tables && git commit -q --allow-empty -m x && git branch b && git pack-refs || true",
];

/// The files below a folder, and the folders.
fn entries(folder: &Path) -> [Vec<PathBuf>; 2] {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            let [inner_files, inner_folders] = entries(&entry.path());
            files.extend(inner_files);
            folders.extend(inner_folders.into_iter().chain([entry.path()]));
        } else {
            files.push(entry.path());
        }
    }
    [files, folders]
}

#[test]
fn files_that_git_makes_are_its_own() {
    if !has_git() {
        return;
    }
    for work in WORK {
        let folder = tempfile::tempdir().unwrap();
        let begin =
            "git init -qb main r; cd r; for n in 1 2 3; do echo $n > f; git add f; git commit -qm $n; done";
        git(folder.path(), &format!("{begin}; {work}"));
        let repositories = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let git_folders =
            repositories.map(|path| if path.ends_with("bare") { path } else { path.join(".git") });
        let mut count = 0;
        for git_folder in git_folders.filter(|path| path.is_dir()) {
            let [files, folders] = entries(&git_folder);
            for file in files {
                let names = file.strip_prefix(&git_folder).unwrap().iter().map(OsStrExt::as_bytes);
                assert!(is_own_file(names.clone()), "{work}: {}", file.display());
                // Tables of references have this file next to them.
                let is_next_to_tables = git_folder.join("reftable").exists() && file.ends_with("refs/heads");
                assert!(!is_folder_only(names) || is_next_to_tables, "{work}: {}", file.display());
                count += 1;
            }
            for folder in folders {
                let names = folder.strip_prefix(&git_folder).unwrap().iter().map(OsStrExt::as_bytes);
                assert!(!is_file_only(names), "{work}: {}", folder.display());
            }
        }
        assert!(count > 20, "{work}: {count} files");
    }
}

#[test]
fn other_files_are_not() {
    for path in [
        ".exrc",
        ".git",
        "modules/x/.git",
        "modules/x/.idea/workspace.xml",
        "modules/config/.GIT/config",
        "rebase-merge/.exrc",
        "Config",
        "con\u{200b}fig",
        "hook\u{17f}/pre-commit",
        "modules/x/hook\u{17f}/pre-commit",
        "worktrees/w/config",
        "worktrees/w/modules",
        "objects/foo/r/HEAD",
        "objects/ab/config",
        "objects/pack/x/HEAD",
        "foo/HEAD",
        "gitweb/httpd.conf",
        "lazygit.yml",
        "safe",
        "logs",
        "refs",
    ] {
        assert!(!is_own_file(path.split('/').map(str::as_bytes)), "{path}");
    }
    assert!(!is_own_file([]));
    // The control, with files of the same kinds.
    for path in [
        "config",
        "modules/a/b/config",
        "modules/config/config",
        "worktrees/w/config.worktree",
        "worktrees/w/modules/s/hooks/x.sample",
        "objects/ab/0123456789abcdef0123456789abcdef012345",
        "index.lock",
        "refs/heads/x.lock",
        "annex/objects/ab/cd/SHA256E-s1--0123/SHA256E-s1--0123",
        "git-crypt/keys/default",
        "filter-repo/analysis/README",
    ] {
        assert!(is_own_file(path.split('/').map(str::as_bytes)), "{path}");
    }
}

#[test]
fn folders_are_distinguished_from_files() {
    let is_file = |path: &str| is_file_only(path.split('/').map(str::as_bytes));
    for path in [
        "config",
        "CONFIG",
        "Head",
        "index",
        "index.lock",
        "packed-refs",
        "hooks/pre-commit",
        "hooks/pre-commit.sample",
        "info/attributes",
        "objects/info/alternates",
        "objects/ab/0123456789abcdef0123456789abcdef012345",
        "objects/pack/pack-0123.idx",
        "rebase-merge/git-rebase-todo",
        "logs/HEAD",
        "logs/refs/heads/x.lock",
        "refs/heads/main.lock",
        "commondir",
        "worktrees/w/commondir",
        "worktrees/w/HEAD",
        "NOTES_MERGE_REF",
        "NOTES_MERGE_WORKTREE.lock",
    ] {
        assert!(is_file(path), "{path}");
    }
    // The control: folders of git, and names that may be both.
    for path in [
        "hooks",
        "info",
        "logs/refs",
        "logs/refs/heads/config",
        "refs/heads/config",
        "refs/heads/main",
        "objects/ab",
        "objects/pack",
        "worktrees",
        "worktrees/config",
        "modules/config",
        "modules/a/config",
        "NOTES_MERGE_WORKTREE",
        "filter-repo/analysis",
        "lfs/objects",
        "annex/objects/config",
        "x",
    ] {
        assert!(!is_file(path), "{path}");
    }
    assert!(!is_file_only([]));
}

#[test]
fn files_are_distinguished_from_folders() {
    let is_one = |path: &str| is_folder_only(path.split('/').map(str::as_bytes));
    for path in [
        "refs/heads",
        "REFS/Tags",
        "refs/remotes",
        "logs/refs",
        "logs/refs/heads",
        "worktrees/w/logs/refs",
        "modules/a/refs/heads",
        "modules/a/b/logs/refs/tags",
    ] {
        assert!(is_one(path), "{path}");
    }
    for path in [
        "refs/stash",
        "logs/refs/stash",
        "refs/heads/refs/heads",
        "refs/heads/tags",
        "logs/HEAD",
        "x/refs/heads",
    ] {
        assert!(!is_one(path), "{path}");
    }
}
