//! An undo does not revert what the user has committed or checked out since.

use local_workspace::{ObstacleKind, Undo, UndoError, UndoObstacle, Undone};

use crate::fixture::user_shell::shell;
use crate::fixture::workspace::*;
use crate::recover::used_repositories::{OpenFixture, is_as_before};

fn obstacles(undone: Result<Undone, UndoError>, case: &str) -> Vec<UndoObstacle> {
    match undone {
        Err(UndoError::Obstacles(obstacles)) => obstacles,
        other => panic!("{case}: {other:?}"),
    }
}

#[test]
fn an_index_stays_under_a_commit_that_the_user_has_made_since() {
    const STAGED: &str = "echo y > y && echo two > file && git add -A";
    const TREE: &str = "git worktree add -q wt -b b && echo wt > .gitignore";
    // What was there, what the command does, what the user does then, and whether the index stays.
    let cases = [
        ("true", STAGED, "COMMIT user", true),
        ("rm -rf .git/logs && git config core.logAllRefUpdates false", STAGED, "COMMIT user", true),
        ("true", STAGED, "COMMIT user && git pack-refs --all", true),
        ("true", STAGED, "git checkout -q --detach && COMMIT user", true),
        ("git checkout -q --orphan new && git rm -q --cached file", STAGED, "COMMIT user", true),
        (TREE, "cd wt && echo y > y && echo two > file && git add y file", "cd wt && COMMIT user", true),
        // The controls.
        ("true", STAGED, "true", false),
        ("true", STAGED, "git branch new && git tag new && touch -d '1 hour ago' file && git status", false),
        ("git tag v && git pack-refs --all", STAGED, "git tag -d v", false),
        (TREE, STAGED, "cd wt && COMMIT user", false),
        ("git pack-refs --all", STAGED, "true", false),
        ("true", "touch -d '1 hour ago' file && git status && echo y > y", "COMMIT user", false),
    ];
    for layered in LAYERS {
        for (prepare, command, use_by_user, stays) in cases {
            let opened = OpenFixture::new(layered, prepare);
            let run = opened.run(command);
            opened.user(use_by_user);
            let tree = if command.starts_with("cd wt") { "wt" } else { "." };
            let staged = format!("cd {tree} && git diff --cached --stat && git rev-parse HEAD");
            let had = opened.user(&staged);
            let case = format!("{prepare}; {command}; {use_by_user} ({layered:?})");
            let undone = opened.undo(run).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert_eq!(undone.not_undoable, if stays { &[".git"][..] } else { &[] }, "{case}");
            assert_eq!(undone.changed_since, undone.not_undoable, "{case}");
            assert!(!opened.fixture.root().join(tree).join("y").exists(), "{case}");
            if stays {
                assert_eq!(opened.user(&staged), had, "{case}");
                assert!(undone.kept_commits[0].restores_tracked, "{case}: {undone:?}");
                // So the next commit of the user does not revert the last one.
                opened.user(&format!("cd {tree} && echo o > o && git add o && COMMIT other"));
                let stored = opened.user(&format!("cd {tree} && git show --stat --format= HEAD"));
                assert!(stored.contains("o |") && !stored.contains("y |"), "{case}: {stored}");
            }
        }
    }
}

#[test]
fn an_index_comes_back_under_a_commit_that_an_undo_has_brought_back() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered, "true");
        let had = opened.user("git status --porcelain && git log --format=%s");
        let staged = opened.run("echo y > y && git add y");
        let committed = opened.run("COMMIT model");
        for run in [committed, staged] {
            let undone = opened.undo(run).unwrap_or_else(|error| panic!("{layered:?}: {error}"));
            assert_eq!(undone.not_undoable, [""; 0], "{layered:?}");
        }
        assert_eq!(opened.user("git status --porcelain && git log --format=%s"), had, "{layered:?}");
    }
}

/// A branch of the user, made long ago, with a commit that a command merges.
const SIDE: &str = "export GIT_COMM\"\"ITTER_DATE=@1500000000 && git checkout -q -b side && echo side > file && echo s > s && git add . && \
                    COMMIT sidework && git checkout -q main";

#[test]
fn files_are_not_reverted_on_another_branch_that_has_them_too() {
    const MERGE: &str = "git -c user.name=u -c user.email=u@x merge -q --no-edit side";
    // What was there, what the command does, what the user does then, and the branch to which the user is to return.
    let cases = [
        (SIDE.to_owned(), MERGE, "git checkout -q side", true),
        (format!("{SIDE} && echo m > m && git add m && COMMIT m"), MERGE, "git checkout -q side", true),
        // The controls: a branch that was made since, the branch of the command, and files that the other branch has not.
        (SIDE.to_owned(), MERGE, "git checkout -q -b mine", false),
        (SIDE.to_owned(), MERGE, "git branch mine && git checkout -q mine", false),
        (SIDE.to_owned(), MERGE, "COMMIT user", false),
        (SIDE.to_owned(), "COMMIT model && echo n > n", "git checkout -q side", false),
    ];
    for layered in LAYERS {
        for (prepare, command, use_by_user, is_refused) in &cases {
            let opened = OpenFixture::new(layered, prepare);
            let run = opened.run(command);
            opened.user(use_by_user);
            let case = format!("{prepare}; {command}; {use_by_user} ({layered:?})");
            let undone = opened.undo(run);
            if !is_refused {
                let undone = undone.unwrap_or_else(|error| panic!("{case}: {error}"));
                assert_eq!(undone.not_undoable, [".git"], "{case}");
                let made = if command.contains("model") { "n" } else { "s" };
                assert_eq!(opened.fixture.text(made), None, "{case}: {undone:?}");
                continue;
            }
            let obstacles = obstacles(undone, &case);
            let is_named = |obstacle: &UndoObstacle| matches!(&obstacle.why, ObstacleKind::OtherBranch { branch, .. } if &**branch == "main");
            assert!(obstacles.iter().any(is_named), "{case}: {obstacles:?}");
            assert_eq!(opened.user("git status --porcelain"), "", "{case}");
            opened.user("git checkout -q main");
            opened.undo(run).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert_eq!(opened.fixture.text("s"), None, "{case}");
            assert_eq!(opened.user("cat file"), "one\n", "{case}");
        }
    }
}

#[test]
fn a_branch_stays_that_is_checked_out_in_a_folder_of_any_name() {
    for layered in LAYERS {
        for folder in ["refs/proj", "a/refs/proj", "logs/refs/proj", "logs", "plain/proj"] {
            let made = format!(
                "mkdir -p {folder} && cd {folder} && git init -q -b main && echo a > a && git add a && COMMIT a"
            );
            for is_checked_out in [false, true] {
                let opened = OpenFixture::new(layered, &made);
                let run = opened.run(&format!("cd {folder} && git branch feat"));
                let case = format!("{folder} ({layered:?})");
                let branches = format!("git -C {folder} branch --list feat");
                if !is_checked_out {
                    // The control.
                    opened.undo(run).unwrap_or_else(|error| panic!("{case}: {error}"));
                    assert_eq!(opened.user(&branches), "", "{case}");
                    continue;
                }
                opened.user(&format!("git -C {folder} checkout -q feat"));
                let obstacles = obstacles(opened.undo(run), &case);
                let is_meant = |obstacle: &UndoObstacle| obstacle.why == ObstacleKind::CheckedOut;
                assert!(obstacles.iter().all(is_meant), "{case}: {obstacles:?}");
                assert_eq!(opened.user(&branches), "* feat\n", "{case}");
            }
        }
    }
}

#[test]
fn files_of_a_submodule_of_any_name_stay_on_another_branch() {
    for layered in LAYERS {
        for name in ["lib", "logs", "refs"] {
            let made = format!(
                "(git init -q -b main ../lib && cd ../lib && echo 1 > l && git add l && COMMIT l1 && echo 2 > l && COMMIT l2 -a) && \
                 git -c protocol.file.allow=always submodule --quiet add $PWD/../lib {name} && COMMIT sub"
            );
            let opened = OpenFixture::new(layered, &made);
            let run =
                opened.run(&format!("cd {name} && git checkout -q -b work HEAD~1 && echo loose > loose"));
            opened.user(&format!("cd {name} && echo u > u && git add u && COMMIT user"));
            let undone = opened.undo(run).unwrap_or_else(|error| panic!("{name} ({layered:?}): {error}"));
            assert_eq!(
                opened.fixture.text(&format!("{name}/l")).as_deref(),
                Some("1\n"),
                "{name}: {undone:?}"
            );
            assert_eq!(opened.user(&format!("git -C {name} status --porcelain")), "", "{name} ({layered:?})");
        }
    }
}

#[test]
fn a_reference_that_git_has_packed_is_not_as_before() {
    const MADE: &str =
        "git branch feat && git tag v2 && git checkout -q -b work && echo x > x && git add x && COMMIT x";
    // What the user does then, and whether the repository stays.
    let cases = [
        ("git gc -q", true),
        ("git pack-refs --all", true),
        ("git branch -q -d feat", false),
        ("true", false),
    ];
    for layered in LAYERS {
        for (use_by_user, stays) in cases {
            let opened = OpenFixture::new(layered, "git tag v1 && git pack-refs --all");
            let run = opened.run(MADE);
            opened.user(use_by_user);
            let case = format!("{use_by_user} ({layered:?})");
            let had = opened.user("git for-each-ref");
            let undone = opened.undo(run).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert_eq!(undone.not_undoable, if stays { &[".git"][..] } else { &[] }, "{case}");
            assert!(opened.fixture.text("x").is_none(), "{case}");
            assert!(
                !undone.already_as_before.iter().any(|path| path.contains("objects")),
                "{case}: {undone:?}"
            );
            let expected = if use_by_user.contains("-d") {
                &[".git/refs/heads/feat", ".git/logs/refs/heads/feat"][..]
            } else {
                &[]
            };
            assert!(
                undone.already_as_before.iter().all(|path| expected.contains(&&**path)),
                "{case}: {undone:?}"
            );
            if stays {
                assert_eq!(opened.user("git for-each-ref"), had, "{case}");
                let named: Vec<_> =
                    undone.kept_commits[0].branches.iter().map(|branch| &*branch.name).collect();
                assert_eq!(named, ["feat", "work"], "{case}");
            } else {
                assert_eq!(opened.user("git branch --format='%(refname:short)'"), "main\n", "{case}");
            }
            opened.check(".", &case);
        }
    }
}

#[test]
fn work_that_the_user_has_reverted_with_git_is_as_before() {
    const COMMITTED: &str = "echo x >> file && COMMIT x -a";
    const CONFLICT: &str = "git checkout -q -b c && echo c > file && COMMIT c -a && git checkout -q main && echo m > file && COMMIT m -a";
    // What was there, what the command does, what the user does then, and the number of commits on `main` if it is undone.
    let revert = "git -c user.name=u -c user.email=u@x revert --no-edit HEAD";
    let cases = [
        ("true", COMMITTED, "git reset -q --hard HEAD~1", None),
        ("true", COMMITTED, "git status && git reset -q --keep HEAD~1", None),
        ("true", COMMITTED, revert, None),
        // Nothing but the commit is left to undo, or what the merge has left for git itself.
        ("true", COMMITTED, "git checkout -q HEAD~1 -- file", Some("one\n")),
        (CONFLICT, "! git merge -q c > /dev/null", "git merge --abort", Some("m\none\n")),
    ];
    for layered in LAYERS {
        for (prepare, command, use_by_user, log) in cases {
            let opened = OpenFixture::new(layered, prepare);
            let (run, _) = opened.run_with_warnings(command);
            opened.user(use_by_user);
            let case = format!("{command}; {use_by_user} ({layered:?})");
            let had = opened.user("git log --format=%s && cat file");
            let undone = opened.undo(run);
            match log {
                None => {
                    assert!(is_as_before(&undone), "{case}: {undone:?}");
                    assert_eq!(opened.user("git log --format=%s && cat file"), had, "{case}");
                }
                Some(log) => {
                    assert_eq!(undone.unwrap().not_undoable, [""; 0], "{case}");
                    assert_eq!(opened.user("git log --format=%s"), log, "{case}");
                }
            }
            assert_eq!(opened.user("git status --porcelain"), "", "{case}");
        }
        // The control: a file that is not as before is undone, and the repository stays.
        let opened = OpenFixture::new(layered, "true");
        let run = opened.run("echo x >> file && echo n > n && COMMIT x -a");
        opened.user("git reset -q --hard HEAD~1");
        let undone = opened.undo(run).unwrap();
        assert_eq!((undone.not_undoable, opened.fixture.text("n")), (vec![".git".to_owned()], None));
    }
}

/// The files there, what the command does, what the user does then, the branches with the commits at which they were
/// before if those are named, the branch that may be reset, and whether tracked files are restored.
type KeptCase =
    (&'static str, &'static str, &'static str, &'static [(&'static str, bool)], Option<&'static str>, bool);

#[test]
fn what_is_said_of_kept_branches_is_so() {
    const TWO: &str = "echo two > file && COMMIT two -a";
    const REBASE: &str = "git checkout -q side && git -c user.name=u -c user.email=u@x rebase -q main && git checkout -q main && echo n > n";
    let side = "git checkout -q -b side && echo s > s && git add s && COMMIT s && git checkout -q main && echo two > file && COMMIT two -a";
    let cases: [KeptCase; 7] = [
        (side, REBASE, "git checkout -q side", &[("side", true)], None, false),
        (
            "true",
            "git checkout -q -b feat && echo x > file && COMMIT x -a && git checkout -q main && echo n > n",
            "git checkout -q feat",
            &[("feat", false)],
            None,
            false,
        ),
        (
            TWO,
            "git reset -q --hard HEAD~1 && echo n > n",
            "echo u > u && git add u && COMMIT user",
            &[("main", true)],
            None,
            true,
        ),
        (
            TWO,
            "git reset -q --hard HEAD~1 && echo n > n",
            "echo u > u && git add u",
            &[("main", true)],
            Some("main"),
            true,
        ),
        (
            TWO,
            "echo x > file && COMMIT amended -a --amend",
            "echo u > u && git add u",
            &[("main", true)],
            Some("main"),
            true,
        ),
        // The controls.
        ("true", TWO, "echo u > u && git add u", &[("main", false)], Some("main"), true),
        ("true", TWO, "COMMIT user", &[("main", false)], None, true),
    ];
    for layered in LAYERS {
        for (prepare, command, use_by_user, branches, reset, restores_tracked) in cases {
            let opened = OpenFixture::new(layered, prepare);
            let before = |name: &str| shell(&opened.fixture.root(), &format!("git rev-parse {name}")).stdout;
            let former: Vec<_> = branches.iter().map(|(name, _)| before(name)).collect();
            let run = opened.run(command);
            opened.user(use_by_user);
            let case = format!("{prepare}; {command}; {use_by_user} ({layered:?})");
            let undone = opened.undo(run).unwrap_or_else(|error| panic!("{case}: {error}"));
            let [kept] = &undone.kept_commits[..] else { panic!("{case}: {undone:?}") };
            let named: Vec<_> =
                kept.branches.iter().map(|branch| (&*branch.name, branch.left.is_some())).collect();
            assert_eq!(named, branches, "{case}");
            for (branch, former) in kept.branches.iter().zip(former) {
                let former = String::from_utf8(former).unwrap();
                assert!(branch.left.as_ref().is_none_or(|left| *left == former.trim()), "{case}: {kept:?}");
            }
            let resettable = kept.branches.iter().find(|branch| branch.reset_to.is_some());
            assert_eq!(resettable.map(|branch| &*branch.name), reset, "{case}: {kept:?}");
            assert_eq!(kept.restores_tracked, restores_tracked, "{case}: {kept:?}");
            if let Some(commit) = resettable.and_then(|branch| branch.reset_to.as_ref()) {
                opened.user(&format!("git reset -q {commit}"));
                assert_eq!(
                    opened.user("git status --porcelain -uno"),
                    "",
                    "{case}: the files are those of before"
                );
            }
        }
    }
}

#[test]
fn a_folder_that_is_a_link_now_is_named() {
    for command in ["echo r >> src/deep/a", "rm src/deep/a"] {
        let opened = OpenFixture::new(Layered::Yes, "mkdir -p src/deep && echo a > src/deep/a");
        let run = opened.run(command);
        opened.user("mv src real && ln -s real src");
        let named = obstacles(opened.undo(run), command);
        assert_eq!(named.len(), 1, "{named:?}");
        assert_eq!(named[0].to_string(), "`src/deep/a` cannot be changed: `src` is a link now");
        opened.user("rm src && mv real src");
        assert!(opened.workspace.can_undo(&Undo::Run(run)), "{command}");
        opened.undo(run).unwrap();
        assert_eq!(opened.fixture.text("src/deep/a").as_deref(), Some("a\n"), "{command}");
    }
}
