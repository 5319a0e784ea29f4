//! Files that git computes from its objects are not adopted from a command: git would believe them, and works without.

use std::fs;

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

/// A script that makes a graph of commits, and gives no commit in it a parent.
const FORGE_GRAPH: &str = "git commit-graph write --reachable; graph=.git/objects/info/commit-graph; chmod u+w $graph; \
     count=$(git rev-list --all | wc -l); chunks=$(od -An -tu1 -j6 -N1 $graph); \
     start=$((8 + (chunks + 1) * 12 + 1024 + 20 * count + 20)); i=0; while [ $i -lt $count ]; do \
     printf '\\160\\0\\0\\0\\160\\0\\0\\0\\0\\0\\0\\4' | dd of=$graph conv=notrunc bs=1 seek=$((start + 36 * i)) status=none; \
     i=$((i + 1)); done";

/// A repository of three commits, each with a pack of its own, without logs.
fn repository() -> Fixture {
    let fixture = Fixture::new();
    fixture.put("file", "x\n");
    let script = format!(
        "git init -q -b main . && git add . && {COMMIT} one && git repack -dq && {COMMIT} two && git repack -dq && \
         {COMMIT} three && git repack -dq && rm -r .git/logs"
    );
    git(&fixture, &script);
    fixture
}

fn packs(fixture: &Fixture) -> Vec<String> {
    let entries = fs::read_dir(fixture.root().join(".git/objects/pack")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn forged_graph_of_commits_is_not_adopted() {
    let gc = "git gc -q --prune=now; git -c core.commitGraph=false log --format=%s";
    let all = "three\ntwo\none\n";
    for has_graph in [false, true] {
        let prepared = || {
            let fixture = repository();
            if has_graph {
                git(&fixture, "git commit-graph write --reachable");
            }
            fixture
        };
        let plain = prepared();
        git(&plain, FORGE_GRAPH);
        assert_ne!(String::from_utf8(shell(&plain.root(), gc).stdout).unwrap(), all, "control");
        for layered in LAYERS {
            let fixture = prepared();
            let graph = fixture.root().join(".git/objects/info/commit-graph");
            let had = fs::read(&graph).ok();
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, &format!("{FORGE_GRAPH}; {COMMIT} four")).unwrap();
            assert_eq!(
                (response.exit_code, &response.warnings[..]),
                (0, &[][..]),
                "{layered:?}: {response:?}"
            );
            let has = fs::read(&graph).ok();
            assert_eq!(has, had.filter(|_| layered == Layered::Yes), "{layered:?}");
            assert_eq!(git(&fixture, gc), format!("four\n{all}"), "{layered:?}");
        }
    }
}

#[test]
fn damaged_files_next_to_packs_are_not_adopted() {
    let garbage = "for file in .git/objects/pack/*.idx; do echo x > ${file%.idx}.bitmap; rm -f ${file%.idx}.rev; \
                   echo x > ${file%.idx}.rev; echo x > ${file%.idx}.mtimes; done; mkdir -p .git/objects/info/commit-graphs; \
                   echo x > .git/objects/info/commit-graphs/commit-graph-chain; echo x > .git/objects/info/commit-graph; \
                   echo x > .git/objects/pack/pack-0123456789012345678901234567890123456789.idx; \
                   git multi-pack-index write; list=.git/objects/pack/multi-pack-index; chmod u+w $list; \
                   fanout=$(($(od -An -tu1 -j6 -N1 $list) * 12 + 24)); \
                   printf '\\377' | dd of=$list conv=notrunc bs=1 seek=$fanout status=none";
    let user = "git status && git log && git gc -q && git fsck";
    let plain = repository();
    let _ = shell(&plain.root(), garbage);
    assert!(!shell(&plain.root(), user).status.success(), "control");
    for layered in LAYERS {
        let fixture = repository();
        let had = packs(&fixture);
        let workspace = fixture.open_layered(layered);
        let response = run(&workspace, garbage).unwrap();
        assert_eq!(response.warnings, [""; 0], "{layered:?}");
        let has: Vec<_> = packs(&fixture).into_iter().filter(|name| !name.ends_with(".rev")).collect();
        let had: Vec<_> = had.into_iter().filter(|name| !name.ends_with(".rev")).collect();
        assert_eq!(has, had, "{layered:?}");
        git(&fixture, user);
    }
}

#[test]
fn work_of_git_with_graphs_and_lists_is_kept() {
    let scripts = [
        "COMMIT four; git commit-graph write --reachable --split; COMMIT five; git commit-graph write --reachable --split",
        "git repack -adq --write-midx --write-bitmap-index",
        "COMMIT six; git -c fetch.writeCommitGraph=true -c gc.writeCommitGraph=true gc -q",
        "git multi-pack-index write; git commit-graph write --reachable",
        "git worktree add -q ../w && rm -rf ../w && git worktree prune",
        "git branch objects/pack/multi-pack-index && git branch objects/info/commit-graph && git branch a/x.rev",
        "git clone -q --no-hardlinks . copy && git -C copy remote remove origin && git -C copy -c gc.writeCommitGraph=true gc -q",
    ];
    for layered in LAYERS {
        for has_caches in [false, true] {
            let fixture = repository();
            if has_caches {
                git(
                    &fixture,
                    "git multi-pack-index write; git commit-graph write --reachable --split; \
                     git -c user.name=u -c user.email=u@x commit -q --allow-empty -m user; \
                     git commit-graph write --reachable --split=no-merge",
                );
            }
            let workspace = fixture.open_layered(layered);
            for script in scripts {
                let response = run(&workspace, &script.replace("COMMIT", COMMIT)).unwrap();
                let is_fault = |line: &String| !line.starts_with("changed, not undoable: ");
                let faults: Vec<_> = response.warnings.iter().filter(|line| is_fault(line)).collect();
                assert_eq!((response.exit_code, faults), (0, vec![]), "{script} ({layered:?}): {response:?}");
                git(&fixture, "git fsck && git status");
            }
            let log =
                git(&fixture, "git log --format=%s && git gc -q && git -C copy gc -q && git -C copy fsck");
            assert!(log.starts_with("six\nfive\nfour\n") && log.ends_with("three\ntwo\none\n"), "{log}");
            let messages = shell(&fixture.root(), "git log 2>&1 >/dev/null");
            assert_eq!(String::from_utf8(messages.stdout).unwrap(), "", "{layered:?}");
            git(&fixture, "git rev-parse objects/pack/multi-pack-index objects/info/commit-graph a/x.rev");
        }
    }
}
