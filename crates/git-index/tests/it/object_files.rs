//! Names of files that git makes hard links of, and never writes into.
#![expect(clippy::disallowed_types, reason = "the tests run git")]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use git_index::{is_file_list, is_object_cache, is_object_file};

use crate::from_git::{git, has_git};

fn is_one(path: &str) -> bool {
    is_object_file(path.split('/').map(str::as_bytes))
}

#[test]
fn only_names_of_objects_are_those_of_files_that_are_never_written_to() {
    let (forty, rest) =
        ("0123456789abcdef0123456789abcdef01234567", "23456789abcdef0123456789abcdef01234567");
    let content = format!("{}{}", &forty[..32], &forty[..32]);
    let stored = [
        format!("objects/01/{rest}"),
        format!("objects/pack/pack-{forty}.pack"),
        format!("objects/pack/pack-{forty}.idx"),
        format!("objects/pack/pack-{content}.rev"),
        "objects/info/packs".to_owned(),
        "objects/info/commit-graph".to_owned(),
        format!("objects/info/commit-graphs/graph-{forty}.graph"),
        "objects/info/commit-graphs/commit-graph-chain".to_owned(),
        format!("lfs/objects/01/23/{content}"),
        format!("modules/sub/objects/01/{rest}"),
        format!("modules/lib/sub/objects/pack/pack-{forty}.mtimes"),
        format!("modules/sub/lfs/objects/01/23/{content}"),
        format!("worktrees/w/modules/sub/objects/01/{rest}"),
    ];
    for path in &stored {
        assert!(is_one(path), "{path}");
        // The same below a folder of another kind is another file.
        for folder in ["refs/heads", "logs/refs", "hooks", "modules/sub/refs/heads", "sequencer", "objects"] {
            assert!(!is_one(&format!("{folder}/{path}")), "{folder}/{path}");
        }
    }
    let others = [
        "config",
        "COMMIT_EDITMSG",
        "modules/objects/COMMIT_EDITMSG",
        "modules/objects/config",
        "refs/heads/objects",
        "objects",
        "objects/01",
        "objects/config",
        "objects/info/alternates",
        "objects/pack/multi-pack-index",
        "objects/pack/pack-x.pack",
        "objects/pack/tmp_pack_x",
        &format!("objects/pack/pack-{forty}"),
        &format!("objects/pack/pack-{forty}.pack.config"),
        &format!("objects/pack/pack-{forty}.hook"),
        &format!("objects/01/{rest}0"),
        &format!("objects/0x/{rest}"),
        &format!("OBJECTS/01/{rest}"),
        &format!("modules/sub/REFS/heads/objects/01/{rest}"),
        &format!("lfs/objects/01/24/{content}"),
        &format!("modules/objects/01/{rest}"),
        &format!("worktrees/w/objects/01/{rest}"),
    ];
    for path in others {
        assert!(!is_one(path), "{path}");
    }
}

/// The hard-linked files below a folder.
fn linked(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let of = |entry: fs::DirEntry| match entry.metadata().unwrap() {
        data if data.is_dir() => linked(&entry.path()),
        data if data.nlink() > 1 => vec![entry.path()],
        _ => Vec::new(),
    };
    entries.flat_map(of).collect()
}

#[test]
fn a_clone_of_this_machine_links_such_files_and_lists_of_packs() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let work = "git init -qb main r; cd r; for n in 1 2 3; do echo $n > f; git add f; git commit -qm $n; git repack -qd; done; \
                git multi-pack-index write; git commit-graph write --split --reachable; git update-server-info; \
                echo 4 > f; git commit -qam 4; git clone -q --local . ../copy";
    git(folder.path(), work);
    let git_folder = folder.path().join("copy/.git");
    let linked = linked(&git_folder);
    assert!(linked.len() > 9, "{linked:?}");
    for path in linked {
        let names: Vec<&[u8]> =
            path.strip_prefix(&git_folder).unwrap().iter().map(|name| name.as_bytes()).collect();
        assert!(is_object_file(names.iter().copied()) || is_file_list(names), "{}", path.display());
    }
}

#[test]
fn only_what_git_computes_from_objects_is_a_cache() {
    let is_cache = |path: &str| is_object_cache(path.split('/').map(str::as_bytes));
    let caches = [
        "objects/info/commit-graph",
        "objects/info/commit-graphs/commit-graph-chain",
        "objects/info/commit-graphs/graph-01.graph",
        "objects/pack/multi-pack-index",
        "objects/pack/multi-pack-index-01.bitmap",
        "objects/pack/multi-pack-index.d/multi-pack-index-chain",
        "objects/pack/pack-01.rev",
        "objects/pack/pack-01.bitmap",
        "objects/pack/pack-01.mtimes",
    ];
    for path in caches {
        for folder in ["", "modules/sub/", "modules/lib/sub/", "worktrees/w/modules/sub/"] {
            assert!(is_cache(&format!("{folder}{path}")), "{folder}{path}");
        }
        for folder in ["refs/heads/", "logs/refs/heads/", "modules/sub/refs/heads/", "hooks/"] {
            assert!(!is_cache(&format!("{folder}{path}")), "{folder}{path}");
        }
    }
    let others = [
        "objects/info/packs",
        "objects/info/alternates",
        "objects/pack/pack-01.idx",
        "objects/pack/pack-01.keep",
    ];
    for path in others {
        assert!(!is_cache(path), "{path}");
    }
}
