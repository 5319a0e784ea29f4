//! A reference is adopted only with its object: on the disk and staying there, or adopted with it. Git fails in every command at one
//! without.

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

const MISSING: &str = "1234567890123456789012345678901234567890";

/// Makes a new commit the one of `main` without its object, or with one that is not adopted.
const CASES: &[(&str, &str)] = &[
    // What is refused is the object, whose mode takes the right to read it.
    ("COMMIT x; chmod 000 OBJECT", ".git/refs/heads/main"),
    ("COMMIT x; git repack -qa; rm -f .git/objects/pack/*.pack OBJECT", ".git/refs/heads/main"),
    ("COMMIT x; git repack -qad; chmod 000 .git/objects/pack/*.pack; rm -f OBJECT", ".git/refs/heads/main"),
    ("COMMIT x; git pack-refs --all; rm -f OBJECT", ".git/packed-refs"),
    ("COMMIT x; git checkout -q --detach; rm -f OBJECT", ".git/HEAD"),
    (
        "mkdir -p $(echo MISSING | sed 's:..:.git/objects/&/:'); echo MISSING > .git/refs/heads/main",
        ".git/refs/heads/main",
    ),
    (
        "mkdir -p .git/objects/info; echo /x > .git/objects/info/alternates; for b in main b1; do echo MISSING > .git/refs/heads/$b; done",
        ".git/refs/heads/b1",
    ),
    ("echo MISSING > .git/modules/m/refs/heads/main", ".git/modules/m/refs/heads/main"),
    ("echo MISSING > .git/worktrees/side/HEAD", ".git/worktrees/side/HEAD"),
    ("echo MISSING > .git/modules/m/worktrees/w/HEAD", ".git/modules/m/worktrees/w/HEAD"),
];

/// A repository of three commits with a submodule's and a working tree.
fn repository() -> Fixture {
    let fixture = Fixture::new();
    fixture.put(".gitignore", "side/\nm/\ncl/\n");
    let script = format!(
        "git init -q -b main . && git config user.name u && git config user.email u@x && git add . && {COMMIT} one && {COMMIT} two && \
         {COMMIT} three && git branch b1 && git worktree add -q side && mkdir .git/modules && \
         git init -q -b main --separate-git-dir=.git/modules/m m && cd m && git config user.name u && git config user.email u@x && \
         {COMMIT} one && git worktree add -q --detach w"
    );
    git(&fixture, &script);
    fixture
}

fn spelled(script: &str) -> String {
    let object = "$(git rev-parse HEAD | sed 's:..:.git/objects/&/:')";
    script.replace("COMMIT", COMMIT).replace("OBJECT", object).replace("MISSING", MISSING)
}

/// Fails if a reference of a repository has no object.
const LOGS: &str = "git log -1 && git log -1 b1 && git -C side log -1 && git -C m log -1 --all && git -C m/w log -1 && git status && git gc -q";

#[test]
fn reference_without_an_object_that_is_adopted_is_refused() {
    for (script, named) in CASES {
        // Root may read it all the same, and would not fail.
        let plain = repository();
        let _ = shell(&plain.root(), &spelled(&script.replace("chmod 000", "rm -f")));
        assert!(!shell(&plain.root(), LOGS).status.success(), "control: {script}");
        for layered in LAYERS {
            let fixture = repository();
            let workspace = fixture.open_layered(layered);
            let warned = run(&workspace, &spelled(script)).unwrap().warnings.join("\n");
            for part in
                [&format!("`{named}`"), "an object that the repository does not have, or that is not kept"]
            {
                assert!(warned.contains(part), "{script} ({layered:?}): {part}: {warned}");
            }
            let logs = shell(&fixture.root(), LOGS);
            assert!(logs.status.success(), "{script} ({layered:?}): {logs:?}: {warned}");
        }
    }
}

#[test]
fn references_of_ordinary_work_are_adopted_with_their_objects() {
    let scripts = [
        "COMMIT x && git gc -q && COMMIT y && git repack -qad && git pack-refs --all",
        "git tag -am t t && git pack-refs --all && COMMIT z && git prune-packed && git gc -q --prune=now",
        "git fetch -q other && git branch --no-track theirs other/main && git push -q other main:mine",
        "git worktree add -q --detach more && git -C more -c user.name=u -c user.email=u@x commit -q --allow-empty -m w && \
         git tag w $(git -C more rev-parse HEAD)",
        "COMMIT m && cd m && COMMIT two && git gc -q && cd w && COMMIT three && git tag in-w",
        "git clone -q --no-hardlinks . cl && git -C cl remote remove origin && cd cl && COMMIT c && git gc -q",
        "git clone -q --shared --dissociate file://$PWD sh && git -C sh remote remove origin",
        "git init -q new && git -C new fetch -q .. main:main && git -C new branch copy main",
        "git multi-pack-index write && COMMIT p && git repack -qd",
    ];
    for layered in LAYERS {
        let fixture = repository();
        git(
            &fixture,
            &format!(
                "git init -q --bare -b main other.git && git push -q ./other.git main && git remote add other ./other.git && \
             git clone -q other.git ../outside/o && cd ../outside/o && {COMMIT} theirs && git push -q"
            ),
        );
        let workspace = fixture.open_layered(layered);
        for script in scripts {
            let response = run(&workspace, &spelled(script)).unwrap();
            let is_fault = |line: &String| !line.starts_with("changed, not undoable: ");
            let faults: Vec<_> = response.warnings.iter().filter(|line| is_fault(line)).collect();
            assert_eq!((response.exit_code, faults), (0, vec![]), "{script} ({layered:?}): {response:?}");
        }
        git(&fixture, &format!("{LOGS} && git rev-parse theirs w t"));
        for folder in ["m", "cl", "sh", "new", "other.git"] {
            git(&fixture, &format!("git -C {folder} log --all --format=%s && git -C {folder} fsck"));
        }
    }
}

/// They may be any, as the user has objects elsewhere.
#[test]
fn borrowed_objects_of_the_user_count() {
    for layered in LAYERS {
        let fixture = repository();
        git(&fixture, "git clone -q --shared . cl && git -C cl branch old HEAD~2");
        let workspace = fixture.open_layered(layered);
        let script =
            format!("cd cl && git branch -f old HEAD~1 && {COMMIT} four && git pack-refs --all && git gc -q");
        let response = run(&workspace, &script).unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
        assert_eq!(git(&fixture, "git -C cl log --format=%s old && git -C cl fsck"), "two\none\n");
        // A command that makes them the repository's own takes the list with it, and then they have to be there.
        let own = "cd cl && git repack -qad && rm .git/objects/info/alternates && git branch own HEAD";
        let response = run(&workspace, own).unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{layered:?}: {response:?}");
        let missing = format!("cd cl && echo {MISSING} > .git/refs/heads/old");
        let warned = run(&workspace, &missing).unwrap().warnings.join("\n");
        assert!(warned.contains("`cl/.git/refs/heads/old`"), "{layered:?}: {warned}");
        git(&fixture, "git -C cl log own old && git -C cl fsck");
    }
}

#[test]
fn new_repository_with_borrowed_objects_is_refused_as_a_whole() {
    for layered in LAYERS {
        for script in [
            "git clone -q --shared . cl",
            "git clone -q --reference . file://$PWD cl",
            "git clone -q --shared . cl && git -C cl remote remove origin && cd cl && COMMIT four",
        ] {
            let fixture = repository();
            let workspace = fixture.open_layered(layered);
            let warned = run(&workspace, &spelled(script)).unwrap().warnings.join("\n");
            for part in ["`cl`", "takes objects from another one", "`--dissociate`"] {
                assert!(warned.contains(part), "{script} ({layered:?}): {part}: {warned}");
            }
            // Not even the files, next to which the clone could not be recreated.
            assert!(!fixture.root().join("cl").exists(), "{script} ({layered:?}): {warned}");
            git(&fixture, &format!("{LOGS} && git status"));
        }
        // In a folder that was there, what was there stays.
        let fixture = repository();
        fixture.put("cl/mine", "x\n");
        let workspace = fixture.open_layered(layered);
        let warned = run(&workspace, "git clone -q --shared --no-checkout . c && mv c/.git cl/.git").unwrap();
        let warned = warned.warnings.join("\n");
        assert!(warned.contains("`cl/.git`") && warned.contains("takes objects"), "{layered:?}: {warned}");
        assert_eq!(fixture.text("cl/mine").as_deref(), Some("x\n"), "{layered:?}");
        assert!(!fixture.root().join("cl/.git").exists(), "{layered:?}: {warned}");
    }
}

/// Beside a pack of the user's, a command can make the file that says that its objects lead to some elsewhere.
#[test]
fn missing_objects_count_unless_the_settings_of_the_user_name_a_source() {
    let promise = "for pack in .git/objects/pack/*.pack; do touch ${pack%.pack}.promisor; done";
    let refer = format!("echo {MISSING} > .git/refs/heads/zz");
    let plain = repository();
    git(&plain, &format!("git gc -q && {promise} && {refer}"));
    assert!(!shell(&plain.root(), "git gc -q").status.success(), "control");
    for layered in LAYERS {
        let fixture = repository();
        git(&fixture, "git gc -q");
        let workspace = fixture.open_layered(layered);
        let _ = run(&workspace, promise).unwrap();
        let warned = run(&workspace, &refer).unwrap().warnings.join("\n");
        assert!(warned.contains("`.git/refs/heads/zz`"), "{layered:?}: {warned}");
        git(&fixture, LOGS);
        // The control: git would fetch the object then.
        git(&fixture, "git config remote.o.url file:///nowhere && git config remote.o.promisor true");
        let response = run(&workspace, &refer).unwrap();
        assert_eq!(response.warnings, [""; 0], "{layered:?}: {response:?}");
    }
}
