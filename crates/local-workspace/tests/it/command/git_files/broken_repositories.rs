//! A command leaves no repository in which the user's next git command fails, or reverts the work of the last one.

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

const MISSING: &str = "1234567890123456789012345678901234567890";

/// A repository of two commits with the repository of a submodule.
fn repository() -> Fixture {
    let fixture = Fixture::new();
    let script = format!(
        "git init -q -b main . && git config user.name u && git config user.email u@x && mkdir d && echo x > d/x && \
         echo /m > .gitignore && git add . && {COMMIT} one && {COMMIT} two && mkdir .git/modules && \
         git init -q -b main --separate-git-dir=.git/modules/m m && cd m && git config user.name u && git config user.email u@x && \
         {COMMIT} one"
    );
    git(&fixture, &script);
    fixture
}

#[test]
fn index_is_not_removed_together_with_a_commit() {
    let script = format!("echo y > d/y && git add d/y && {COMMIT} three && rm .git/index");
    let is_clean = "git diff --cached --exit-code HEAD";
    let plain = repository();
    git(&plain, &script);
    assert!(!shell(&plain.root(), is_clean).status.success(), "control");
    for layered in LAYERS {
        for script in [script.as_str(), "rm .git/index", "git worktree add -q side && rm .git/index"] {
            let fixture = repository();
            let workspace = fixture.open_layered(layered);
            let warned = run(&workspace, script).unwrap().warnings.join("\n");
            assert!(
                warned.contains("`.git/index`") && warned.contains("`git reset`"),
                "{script} ({layered:?}): {warned}"
            );
            git(&fixture, is_clean);
            git(&fixture, "git fsck && git status");
        }
        // The control: it is recreated, and removed with a working tree.
        let fixture = repository();
        let workspace = fixture.open_layered(layered);
        for script in [
            "rm .git/index && git reset -q",
            "git worktree add -q --detach side && git worktree add -q --detach other",
            "git worktree remove side && rm -rf other && git worktree prune",
            "git rm -q -r --cached . && git add .",
        ] {
            let response = run(&workspace, script).unwrap();
            assert_eq!(
                (response.exit_code, &response.warnings[..]),
                (0, &[][..]),
                "{script} ({layered:?}): {response:?}"
            );
        }
        git(&fixture, is_clean);
    }
}

#[test]
fn working_tree_goes_with_its_branch() {
    for layered in LAYERS {
        let fixture = repository();
        let workspace = fixture.open_layered(layered);
        let add = format!("git worktree add -q wt -b w && cd wt && {COMMIT} w");
        let warned = run(&workspace, &format!("{add}; chmod 000 ../.git/index")).unwrap().warnings.join("\n");
        assert!(warned.contains("`.git/refs/heads/w`"), "{layered:?}: {warned}");
        assert!(!fixture.root().join("wt").exists(), "{layered:?}: {warned}");
        assert_eq!(git(&fixture, "git worktree list | wc -l"), "1\n", "{layered:?}: {warned}");
        git(&fixture, "git status && git fsck");
        // The control.
        let response = run(&workspace, &format!("git worktree prune; {add}")).unwrap();
        assert!(response.exit_code == 0 && fixture.root().join("wt").exists(), "{layered:?}: {response:?}");
        assert_eq!(git(&fixture, "git -C wt log -1 --format=%s"), "w\n", "{layered:?}: {response:?}");
    }
}

#[test]
fn branch_called_like_an_index_is_none() {
    for layered in LAYERS {
        let fixture = repository();
        let workspace = fixture.open_layered(layered);
        let script = format!(
            "cd m && git checkout -q -b fresh && {COMMIT} fresh && echo {MISSING} > ../.git/modules/m/refs/heads/index"
        );
        let warned = run(&workspace, &script).unwrap().warnings.join("\n");
        assert!(warned.contains("`.git/modules/m/refs/heads/index`"), "{layered:?}: {warned}");
        assert_eq!(
            git(&fixture, "git -C m log -1 --format=%s fresh && git -C m status -s"),
            "fresh\n",
            "{warned}"
        );
    }
}

/// Commands that make a commit of which an object is not kept, or an index.
const WITHOUT_OBJECTS: &[&str] = &[
    "COMMIT x; chmod 000 $(file HEAD^{tree})",
    "COMMIT x; rm -f $(file HEAD^{tree})",
    "COMMIT x; rm -f $(file HEAD:d)",
    "COMMIT x; rm -f $(file HEAD:d/new)",
    "COMMIT x; COMMIT y; rm -f $(file HEAD~)",
    "COMMIT x; git tag -a -m t t; git reset -q --hard HEAD~; rm -f $(file t^{commit})",
    "COMMIT x; git pack-refs --all; rm -f $(file HEAD^{tree})",
    "git add d; rm -f $(file :d/new)",
    "git add d; chmod 000 $(file :d/new)",
    "git worktree add -q wt; cp d/new wt/d/new; cd wt; git add d; rm -f ../$(file :d/new)",
];

#[test]
fn commits_and_indexes_are_kept_with_all_objects_that_they_need() {
    let spelled = |script: &str| {
        let commit = "git add d; git -c user.name=u -c user.email=u@x commit -q --allow-empty -m";
        format!(
            "file() {{ git rev-parse $1 | sed 's:..:.git/objects/&/:'; }}; echo new > d/new; {}",
            script.replace("COMMIT", commit)
        )
    };
    // Git makes the tree of an index anew when it looks at that, so the look at all comes first.
    let look = "git fsck --connectivity-only --no-reflogs && for tree in . $(ls -d wt 2>/dev/null); do git -C $tree log --all --format=%T -- && git -C $tree write-tree && \
                git -C $tree status; done && git gc -q";
    for script in WITHOUT_OBJECTS {
        let plain = repository();
        // Root may read it all the same, and would not fail.
        let _ = shell(&plain.root(), &spelled(&script.replace("chmod 000", "rm -f")));
        assert!(!shell(&plain.root(), look).status.success(), "control: {script}");
        for layered in LAYERS {
            let fixture = repository();
            let workspace = fixture.open_layered(layered);
            let response = run(&workspace, &spelled(script)).unwrap();
            let warned = response.warnings.join("\n");
            assert!(warned.contains("that is not kept"), "{script} ({layered:?}): {response:?}");
            let looked = shell(&fixture.root(), look);
            assert!(looked.status.success(), "{script} ({layered:?}): {looked:?}: {warned}");
        }
    }
}

/// The end of a pack is a checksum, which its index has, too.
#[test]
fn pack_is_that_of_its_index() {
    let damages = ["truncate -s 50 $p", "head -c 50 /dev/zero >> $p", "echo x > $p"];
    let look = "git fsck --no-reflogs && git log --all";
    for damage in damages {
        let script =
            format!("{COMMIT} three; git gc -q; p=$(ls .git/objects/pack/*.pack); chmod u+w $p; {damage}");
        let plain = repository();
        git(&plain, &script);
        assert!(!shell(&plain.root(), look).status.success(), "control: {damage}");
        for layered in LAYERS {
            let fixture = repository();
            let workspace = fixture.open_layered(layered);
            let warned = run(&workspace, &script).unwrap().warnings.join("\n");
            assert!(warned.contains("not the one of its index"), "{damage} ({layered:?}): {warned}");
            git(&fixture, look);
            // The control.
            let response = run(&workspace, &format!("{COMMIT} four; git gc -q && git repack -qad")).unwrap();
            assert_eq!(
                (response.exit_code, &response.warnings[..]),
                (0, &[][..]),
                "{layered:?}: {response:?}"
            );
            git(&fixture, look);
        }
    }
}

/// An index that git cannot read holds nothing, and gives no reason to believe in an object.
#[test]
fn pack_index_that_git_cannot_read_is_refused() {
    let pack = "stem=.git/objects/pack/pack-$(git pack-objects -q .git/objects/pack/pack < /dev/null); chmod u+w $stem.*";
    let damages = [
        "{ printf garbage; tail -c 40 $stem.idx; } > t; cat t > $stem.idx",
        "{ head -c 1000 $stem.idx; printf '\\000\\000\\000\\007'; tail -c +1005 $stem.idx; } > t; cat t > $stem.idx",
        "truncate -s 65M $stem.idx; truncate -s 17M $stem.pack",
    ];
    for damage in damages {
        let script = format!("{pack}; {damage}; echo {MISSING} > .git/refs/heads/main");
        let plain = repository();
        git(&plain, &script);
        assert!(!shell(&plain.root(), "git log").status.success(), "control: {damage}");
        for layered in LAYERS {
            let fixture = repository();
            let workspace = fixture.open_layered(layered);
            let warned = run(&workspace, &script).unwrap().warnings.join("\n");
            for part in [".idx`", "whose index git could not read", "`.git/refs/heads/main`"] {
                assert!(warned.contains(part), "{damage} ({layered:?}): {part}: {warned}");
            }
            let looked = shell(&fixture.root(), "git log --all && git gc && git fsck");
            let text = String::from_utf8_lossy(&looked.stderr);
            assert!(looked.status.success() && !text.contains("index file"), "{damage}: {looked:?}");
        }
    }
}

#[test]
fn branch_names_a_commit() {
    for layered in LAYERS {
        for (more, object) in [("true", "HEAD:d"), ("true", "HEAD:d/x"), ("true", "HEAD^{tree}")] {
            for (script, path) in [
                ("o=$(git rev-parse OBJECT) && echo $o > .git/refs/heads/main", ".git/refs/heads/main"),
                ("o=$(git rev-parse OBJECT) && echo $o > .git/HEAD", ".git/HEAD"),
                (
                    "o=$(git rev-parse OBJECT); git pack-refs --all; sed -i \"s:.* refs/heads/main:$o refs/heads/main:\" .git/packed-refs",
                    ".git/packed-refs",
                ),
            ] {
                let script = script.replace("OBJECT", object);
                let fixture = repository();
                git(&fixture, more);
                let workspace = fixture.open_layered(layered);
                let warned = run(&workspace, &script).unwrap().warnings.join("\n");
                assert!(
                    warned.contains(path) && warned.contains("names no commit"),
                    "{script} ({layered:?}): {warned}"
                );
                git(&fixture, &format!("git fsck && {COMMIT} three"));
            }
        }
        // The control: a tag may name anything.
        let fixture = repository();
        let workspace = fixture.open_layered(layered);
        let response = run(
            &workspace,
            "git tag tree HEAD^{tree} && git tag -a -m t blob HEAD:d/x && git branch other HEAD~",
        )
        .unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
    }
    let plain = repository();
    git(&plain, "o=$(git rev-parse HEAD:d) && echo $o > .git/refs/heads/main");
    assert!(!shell(&plain.root(), &format!("{COMMIT} three")).status.success(), "control");
}

/// The objects come in all forms in which git makes them.
#[test]
fn indexes_of_ordinary_work_are_kept() {
    let scripts = [
        "echo 1 > d/1 && git add d && git commit -qm 1 && git gc -q",
        "echo 2 > d/2 && git add -N d/2 && git status",
        "git add d && git stash -q && git stash pop -q && git reset -q --hard",
        "git sparse-checkout set d && git sparse-checkout disable; git status",
        "git checkout -q -b side && echo s > d/x && git commit -qam s && git checkout -q main && echo m > d/x && \
         git commit -qam m && ! git merge -q side && git checkout -q --ours d/x && git commit -qam merged",
        "git rm -q -r --cached d && git commit -q -m removed && git add d && git commit -qm again",
        "git read-tree --empty && git add . && git commit -q --allow-empty -m e",
        "git checkout -q --orphan empty && git rm -q -rf . && git commit -q --allow-empty -m empty && git checkout -q main",
        "git commit-tree -m t 4b825dc642cb6eb9a060e54bf8d69288fbee4904 > t && git branch made $(cat t)",
        "git update-index --index-version 4 && git mv d e && git commit -qm moved && git repack -qad",
        "git init -q sub && git -C sub commit -q --allow-empty -m s && git add sub 2>/dev/null && git commit -qm sub",
        "git clone -q --bare --no-local --depth 1 file://$PWD b.git; git -C b.git log -1",
    ];
    for layered in LAYERS {
        let fixture = repository();
        let workspace = fixture.open_layered(layered);
        for script in scripts {
            let response = run(&workspace, script).unwrap();
            let warned = response.warnings.join("\n");
            assert!(
                response.exit_code == 0 && !warned.contains("that is not kept"),
                "{script} ({layered:?}): {response:?}"
            );
        }
        git(&fixture, "git fsck && git status && git log --all");
    }
}
