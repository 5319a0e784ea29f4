//! An undo removes nothing that the user's own work in a repository now needs.

use std::collections::BTreeSet;

use change_journal::{ChangeNumber, Journal, RunNumber};
use local_workspace::{LocalWorkspace, ObstacleKind, Undo, UndoError, Undone};

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

pub(super) struct OpenFixture {
    pub(super) fixture: Fixture,
    journal: Journal,
    pub(super) workspace: LocalWorkspace,
}

impl OpenFixture {
    pub(super) fn new(layered: Layered, prepare: &str) -> OpenFixture {
        let fixture = Fixture::new();
        let prepare = prepare.replace("COMMIT", COMMIT);
        let made =
            format!("git init -q -b main . && echo one > file && git add file && {COMMIT} one && {prepare}");
        git(&fixture, &made);
        let journal = fixture.open_journal();
        let workspace = fixture.open_with(journal.clone(), fixture.layered_config(layered)).0;
        OpenFixture { fixture, journal, workspace }
    }

    /// Runs a command of the model and returns its run.
    pub(super) fn run(&self, script: &str) -> RunNumber {
        let (run, warnings) = self.run_with_warnings(script);
        assert_eq!(warnings, [""; 0], "{script}");
        run
    }

    pub(super) fn run_with_warnings(&self, script: &str) -> (RunNumber, Vec<String>) {
        let response = run(&self.workspace, &script.replace("COMMIT", COMMIT)).unwrap();
        assert_eq!(response.exit_code, 0, "{script}: {response:?}");
        let changes = self.journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap();
        (changes.last().unwrap().run, response.warnings)
    }

    pub(super) fn user(&self, script: &str) -> String {
        git(&self.fixture, &script.replace("COMMIT", COMMIT))
    }

    pub(super) fn undo(&self, run: RunNumber) -> Result<Undone, UndoError> {
        self.workspace.undo(&Caller::once().call(), &Undo::Run(run))
    }

    /// Checks that git of the user finds nothing missing.
    pub(super) fn check(&self, folder: &str, case: &str) {
        for command in ["rev-parse HEAD", "fsck --no-progress", "log --all --oneline", "gc --quiet"] {
            let ran = shell(&self.fixture.root().join(folder), &format!("git {command}"));
            let said = String::from_utf8_lossy(&ran.stderr);
            let is_whole = ran.status.success() && !said.contains("missing") && !said.contains("broken");
            assert!(is_whole, "{case}: git {command}: {ran:?}");
        }
    }
}

/// Stores objects with an index of its own, as tools that keep checkpoints do.
const STORED: &str = "echo new > new && cp .git/index /tmp/index && export GIT_INDEX_FILE=/tmp/index && git add -A && git write-tree > /dev/null";

const COMMITTED: &str = "echo new > new && git add new && COMMIT model";

#[test]
fn objects_stay_that_later_commits_branches_and_worktrees_need() {
    // What the command does, what the user does then, the folder in which git has to find everything.
    let cases = [
        (STORED, "git add new && COMMIT user", "."),
        (COMMITTED, "git branch keep", "."),
        (COMMITTED, "git tag keep", "."),
        (COMMITTED, "git worktree add -q -b keep ../side && cd ../side && COMMIT user", "../side"),
        ("COMMIT model && git gc --quiet --prune=now", "git branch keep", "."),
    ];
    for layered in LAYERS {
        for (command, use_by_user, folder) in cases {
            let opened = OpenFixture::new(layered, "git config gc.auto 0");
            let run = opened.run(command);
            opened.user(use_by_user);
            let case = format!("{command}; {use_by_user} ({layered:?})");
            opened.undo(run).unwrap_or_else(|error| panic!("{case}: {error}"));
            opened.check(folder, &case);
            let _ = std::fs::remove_dir_all(opened.fixture.root().join("../side"));
        }
    }
}

#[test]
fn an_unused_repository_goes_with_its_objects_and_a_used_one_stays_whole() {
    const MADE: &str = "git init -q -b main sub && cd sub && echo 1 > 1 && git add 1 && COMMIT one";
    let used = ["git -C sub branch keep", "cd sub && COMMIT user", "git -C sub fetch -q .. main:theirs"];
    for layered in LAYERS {
        // The control.
        let opened = OpenFixture::new(layered, "true");
        let run = opened.run(MADE);
        opened.undo(run).unwrap();
        assert!(!opened.fixture.root().join("sub").exists(), "{layered:?}");
        for use_by_user in used {
            let opened = OpenFixture::new(layered, "true");
            let run = opened.run(MADE);
            opened.user(use_by_user);
            let undone = opened.undo(run).unwrap();
            assert_eq!(undone.not_undoable, ["sub/.git"], "{use_by_user} ({layered:?})");
            opened.check("sub", use_by_user);
        }
    }
}

#[test]
fn a_bare_repository_keeps_what_a_branch_of_the_user_needs() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered, "git clone -q --bare . r.git");
        let run = opened.run("COMMIT model && git push -q r.git main:new");
        opened.user("git -C r.git branch keep new");
        opened.undo(run).unwrap();
        opened.check("r.git", "a branch in r.git");
        assert_eq!(opened.user("git -C r.git log -1 --format=%s keep"), "model\n");
        assert_eq!(
            opened.user("git -C r.git branch --list new"),
            "",
            "the control: what the command has made is gone"
        );
    }
}

#[test]
fn no_branch_comes_back_whose_commit_is_gone() {
    const DELETED: &str = "echo w > w && git branch -q -D side && git reflog expire --expire=now --all";
    for layered in LAYERS {
        for is_collected in [false, true] {
            let opened =
                OpenFixture::new(layered, "git checkout -q -b side && COMMIT two && git checkout -q main");
            let run = opened.run(DELETED);
            if is_collected {
                opened.user("git gc --quiet --prune=now");
            }
            let undone = opened.undo(run).unwrap();
            assert_eq!(
                undone.not_undoable.iter().any(|path| path == ".git"),
                is_collected,
                "{undone:?} ({layered:?})"
            );
            assert!(!opened.fixture.root().join("w").exists(), "{layered:?}");
            let branches = opened.user("git branch --format='%(refname:short)'");
            assert_eq!(branches, if is_collected { "main\n" } else { "main\nside\n" }, "{layered:?}");
            opened.check(".", "a branch that was deleted");
        }
    }
}

#[test]
fn a_folder_with_a_file_called_head_is_no_repository() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered, "true");
        let run = opened.run("mkdir docs && echo x > docs/HEAD && echo y > beside");
        opened.user("echo mine > docs/mine");
        let undone = opened.undo(run).unwrap();
        assert_eq!(undone.kept_folders, ["docs"], "{layered:?}");
        let is_there = |path: &str| opened.fixture.root().join(path).exists();
        assert_eq!(["docs/HEAD", "beside", "docs/mine"].map(is_there), [false, false, true], "{layered:?}");
    }
}

#[test]
fn a_working_tree_stays_whole_that_the_user_has_worked_in() {
    for layered in LAYERS {
        for use_by_user in ["true", "git add s", "git add s && COMMIT user"] {
            let opened = OpenFixture::new(layered, "true");
            let run = opened.run("git worktree add -q wt -b w && echo n > n");
            if use_by_user == "true" {
                // The control.
                assert_eq!(opened.undo(run).unwrap().not_undoable, [""; 0], "{layered:?}");
                assert!(!opened.fixture.root().join("wt").exists(), "{layered:?}");
                continue;
            }
            opened.user(&format!("cd wt && echo s > s && {use_by_user}"));
            let before = opened.user("cd wt && git status --porcelain && git ls-files && git rev-parse HEAD");
            assert_eq!(opened.undo(run).unwrap().not_undoable, [".git", "wt"], "{use_by_user} ({layered:?})");
            let after = opened.user("cd wt && git status --porcelain && git ls-files && git rev-parse HEAD");
            assert_eq!(after, before, "{use_by_user} ({layered:?})");
            assert!(!opened.fixture.root().join("n").exists(), "{layered:?}");
            opened.check("wt", use_by_user);
        }
    }
}

/// Makes two branches with other files, the first of which is checked out.
const BRANCHES: &str = "git checkout -q -b feat && echo f > f.txt && echo feat > file && git add . && COMMIT feat && git checkout -q main && \
                        echo m > m && git add m && COMMIT m";

#[test]
fn files_of_a_branch_do_not_come_into_another_one() {
    const USED: &str = "echo mine > mine && git add mine && COMMIT user";
    // What the command does, what the user does then, and whether all files come back that it has changed.
    let cases = [
        ("git checkout -q feat", USED, false),
        ("git checkout -q --detach feat", USED, false),
        ("git checkout -q feat && echo more > f.txt && COMMIT model -a", USED, false),
        (
            "echo two > file && COMMIT two -a && git checkout -q feat && echo z > file && COMMIT z -a",
            "git checkout -q main && git checkout -q feat",
            false,
        ),
        ("rm -rf .git/logs && git -c core.logAllRefUpdates=false checkout -q feat", USED, false),
        // The controls: these have the files of the commit that was checked out.
        ("git checkout -q -b new && echo two > file && COMMIT two -a", USED, true),
        ("git checkout -q --detach && echo two > file && COMMIT two -a", USED, true),
        ("echo two > file && COMMIT two -a", USED, true),
        ("git checkout -q feat && git checkout -q main && echo two > file", "echo i > i && git add i", true),
    ];
    for layered in LAYERS {
        for (command, use_by_user, comes_back) in cases {
            for leftover in ["true", "echo n > n && mkdir d && echo n > d/n"] {
                let opened = OpenFixture::new(layered, BRANCHES);
                let run = opened.run(&format!("{command} && {leftover}"));
                opened.user(use_by_user);
                let had = opened.user("git status --porcelain -uno && cat file");
                let case = format!("{command}; {use_by_user}; {leftover} ({layered:?})");
                let undone = opened.undo(run);
                let is_alone = leftover == "true";
                assert_eq!(undone.is_err(), !comes_back && is_alone, "{case}: {undone:?}");
                if comes_back {
                    let undone = undone.unwrap();
                    assert_eq!(undone.not_undoable, [".git"; 1], "{case}");
                    assert_eq!(undone.kept_commits[0].other_checkout, None, "{case}");
                    assert_eq!(opened.fixture.text("file").as_deref(), Some("one\n"), "{case}");
                    continue;
                }
                assert_eq!(opened.user("git status --porcelain -uno && cat file"), had, "{case}");
                let former = match undone {
                    Ok(undone) => undone.kept_commits[0].other_checkout.clone().unwrap().former,
                    Err(UndoError::Obstacles(obstacles)) => {
                        obstacles.iter().find_map(|obstacle| match &obstacle.why {
                            ObstacleKind::OtherCheckout(checkout) => checkout.former.clone(),
                            _ => None,
                        })
                    }
                    Err(error) => panic!("{case}: {error}"),
                };
                assert_eq!(former.as_deref(), Some("main"), "{case}");
                if is_alone && !command.contains("model") && !command.contains("z") {
                    // There, the files of before belong, and git has restored them.
                    opened.user("git checkout -q main");
                    assert!(is_as_before(&opened.undo(run)), "{case}");
                    assert_eq!(opened.user("git status --porcelain"), "", "{case}");
                }
                assert_eq!(
                    ["n", "d"].map(|path| opened.fixture.root().join(path).exists()),
                    [false; 2],
                    "{case}"
                );
            }
        }
    }
}

/// Returns whether an undo is refused because everything is already as it was before.
pub(super) fn is_as_before(undone: &Result<Undone, UndoError>) -> bool {
    let Err(UndoError::Obstacles(obstacles)) = undone else { return false };
    obstacles.iter().all(|obstacle| obstacle.why == ObstacleKind::AsBefore)
}

#[test]
fn after_a_return_to_the_former_branch_only_other_files_are_undone() {
    const MERGE: &str =
        "git checkout -q main && git -c user.name=u -c user.email=u@x merge -q --no-edit feat";
    // What the command does next to a checkout, what the user does then, and a file with its content after the undo.
    let cases = [
        ("true", "git checkout -q main", ("file", "one\n")),
        ("true", MERGE, ("file", "feat\n")),
        ("true", MERGE, ("f.txt", "f\n")),
        ("true", "git checkout -q main && echo mine >> file", ("file", "one\nmine\n")),
        ("echo more > f.txt && COMMIT model -a", MERGE, ("f.txt", "more\n")),
        // The control: an edit of the command that git has carried along.
        ("echo model >> both", "git checkout -q main", ("both", "b\n")),
    ];
    let prepare = format!("echo b > both && git add both && COMMIT both && {BRANCHES}");
    for layered in LAYERS {
        for (work, use_by_user, (path, content)) in cases {
            for leaves_file in [true, false] {
                let opened = OpenFixture::new(layered, &prepare);
                let leftover = if leaves_file { "mkdir d && echo n > d/n" } else { "true" };
                let run = opened.run(&format!("git checkout -q feat && {work} && {leftover}"));
                opened.user(use_by_user);
                let had = opened.user("git status --porcelain -uno");
                let case = format!("{work}; {use_by_user}; {leftover} ({layered:?})");
                let undone = opened.undo(run);
                assert_eq!(opened.fixture.text(path).as_deref(), Some(content), "{case}: {undone:?}");
                assert!(!opened.fixture.root().join("d").exists(), "{case}: {undone:?}");
                if !leaves_file && path != "both" {
                    assert!(is_as_before(&undone), "{case}: {undone:?}");
                    continue;
                }
                let undone = undone.unwrap_or_else(|error| panic!("{case}: {error}"));
                assert_eq!(undone.not_undoable, [".git"], "{case}");
                assert!(undone.kept_commits[0].is_back, "{case}");
                let left = opened.user("git status --porcelain -uno");
                assert_eq!(left, if path == "both" { "" } else { &had }, "{case}");
                // A redo brings back only what the undo has removed.
                opened.undo(RunNumber(undone.run)).unwrap_or_else(|error| panic!("{case}: {error}"));
                assert_eq!(opened.user("git status --porcelain -uno"), had, "{case}");
                assert_eq!(opened.fixture.root().join("d/n").exists(), leaves_file, "{case}");
            }
        }
    }
}

#[test]
fn a_renamed_branch_is_not_another_checkout() {
    // The command, and whether the files of before belong to what it has left.
    let cases = [
        ("git branch -m main trunk && echo two > file", true),
        ("git branch -m main new && git branch -m new trunk && echo two > file && COMMIT two -a", true),
        ("git branch -m main trunk && git checkout -q feat", false),
    ];
    for (command, comes_back) in cases {
        // Without a layer, git cannot replace its settings.
        let opened = OpenFixture::new(Layered::Yes, BRANCHES);
        let run = opened.run(&format!("{command} && echo n > n"));
        opened.user("echo mine > mine && git add mine && COMMIT user");
        let undone = opened.undo(run).unwrap_or_else(|error| panic!("{command}: {error}"));
        assert_eq!(undone.not_undoable, [".git"], "{command}");
        assert_eq!(undone.kept_commits[0].other_checkout.is_none(), comes_back, "{command}");
        let expected = if comes_back { "one\n" } else { "feat\n" };
        assert_eq!(opened.fixture.text("file").as_deref(), Some(expected), "{command}");
    }
}

#[test]
fn files_of_a_branch_do_not_come_into_another_one_of_a_submodule() {
    const LIBRARY: &str = "(git init -q -b main ../lib && cd ../lib && echo 1 > l && git add l && COMMIT l1 && echo 2 > l && echo g > g && \
                           git add . && COMMIT l2) && git -c protocol.file.allow=always submodule --quiet add $PWD/../lib sub && \
                           COMMIT sub && git -C sub branch old HEAD~1 && git -C sub checkout -q old";
    // What the user does after the command, and the line in the submodule after the undo.
    let cases = [("true", "1\n"), ("cd sub && echo mine > mine && git add mine && COMMIT user", "2\n")];
    for layered in LAYERS {
        for (use_by_user, line) in cases {
            let opened = OpenFixture::new(layered, &LIBRARY.replace("COMMIT", COMMIT));
            let run = opened.run("git -C sub checkout -q main && echo n > n");
            opened.user(use_by_user);
            let case = format!("{use_by_user} ({layered:?})");
            let undone = opened.undo(run).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert!(!opened.fixture.root().join("n").exists(), "{case}");
            assert_eq!(opened.fixture.text("sub/l").as_deref(), Some(line), "{case}");
            assert_eq!(opened.user("git -C sub status --porcelain -uno"), "", "{case}");
            let checkouts: Vec<_> =
                undone.kept_commits.iter().filter_map(|kept| kept.other_checkout.as_ref()).collect();
            let named: Vec<_> =
                checkouts.iter().map(|other| (other.former.as_deref(), &*other.tree)).collect();
            assert_eq!(named, if line == "2\n" { &[(Some("old"), "sub")][..] } else { &[] }, "{case}");
        }
    }
}

#[test]
fn the_way_back_from_another_checkout_is_one_that_git_accepts() {
    const USED: &str = "echo mine > mine && git add mine && COMMIT user";
    const OTHER: &str = "git branch b && git worktree add -q wt b && git checkout -q -b dev";
    // What was there, what the command does, what the user does then; the tree with the former branch, whether it is rebased.
    let cases = [
        ("git checkout -q feat", "git checkout -q main && git branch -q -D feat", USED, None, false),
        ("true", "git checkout -q feat", USED, None, false),
        (OTHER, "git checkout -q feat", "git -C wt checkout -q dev && COMMIT user", Some("wt"), false),
        (
            "git checkout -q feat",
            "! git -c user.name=u -c user.email=u@x rebase -q main 2> /dev/null",
            "git rm -q m",
            None,
            true,
        ),
    ];
    for (before, command, use_by_user, taken_by, is_rebased) in cases {
        let conflict = format!("{BRANCHES} && echo m > file && COMMIT m -a && {before}");
        let opened = OpenFixture::new(Layered::Yes, &conflict);
        let had = opened.user("git rev-parse HEAD");
        let response = run(&opened.workspace, &command.replace("COMMIT", COMMIT)).unwrap();
        assert_eq!(response.exit_code, 0, "{command}: {response:?}");
        let run = opened.journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap().last().unwrap().run;
        opened.user(use_by_user);
        let Err(UndoError::Obstacles(obstacles)) = opened.undo(run) else { panic!("{command}") };
        let checkout = obstacles.iter().find_map(|obstacle| match &obstacle.why {
            ObstacleKind::OtherCheckout(checkout) => Some(checkout),
            _ => None,
        });
        let checkout = checkout.unwrap_or_else(|| panic!("{command}: {obstacles:?}"));
        assert_eq!((checkout.taken_by.as_deref(), checkout.is_rebased), (taken_by, is_rebased), "{command}");
        if taken_by.is_some() {
            opened.user("git -C wt checkout -q b");
        }
        let former = checkout.former.clone().unwrap();
        let back = if is_rebased { "rebase --abort" } else { &format!("checkout -q {former}") };
        opened.user(&format!("git {back}"));
        assert_eq!(opened.user("git rev-parse HEAD"), had, "{command}");
    }
}

#[test]
fn a_branch_returns_to_a_tree_in_which_nothing_was_checked_out_since() {
    const NO_LOGS: &str = "git config core.logAllRefUpdates false && rm -rf .git/logs";
    const TWO: &str = "COMMIT two";
    // What was there, what the command does, and what the user does then.
    let cases = [
        ("git branch b && git pack-refs --all", "rm .git/packed-refs", true),
        ("git branch b", "rm .git/refs/heads/main", true),
        ("git branch b", "rm -rf .git/refs/heads", true),
        (NO_LOGS, "COMMIT amended --amend", true),
        (NO_LOGS, TWO, true),
        (NO_LOGS, "git reset -q --soft HEAD~1", true),
        ("git branch b && git worktree add -q wt b", "git update-ref refs/heads/b HEAD~1", true),
        ("git branch b", "git update-ref refs/heads/b HEAD~1", false),
    ];
    for layered in LAYERS {
        for (prepare, command, is_undone) in cases {
            let opened = OpenFixture::new(layered, &format!("{TWO} && {prepare}").replace("COMMIT", COMMIT));
            let state = "cat .git/HEAD && git for-each-ref --format='%(refname) %(objectname)' && git status --porcelain";
            let before = opened.user(state);
            let run = opened.run(command);
            if !is_undone {
                // The control: the branch is checked out since.
                opened.user("git checkout -q b");
                assert!(opened.undo(run).is_err(), "{command} ({layered:?})");
                continue;
            }
            let case = format!("{prepare}; {command} ({layered:?})");
            let undone = opened.undo(run).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert_eq!(undone.not_undoable, [""; 0], "{case}");
            assert_eq!(opened.user(state), before, "{case}");
            opened.check(".", &case);
        }
    }
}

/// Makes branches that conflict.
const CONFLICT: &str = "git checkout -q -b side && echo s > file && COMMIT side -a && git checkout -q -b feat main && echo f > file && \
                        COMMIT feat -a && git checkout -q main";

/// Moves one of them.
const ADVANCE: &str = "git update-ref refs/heads/feat $(git -c user.name=u -c user.email=u@x commit-tree -p feat -m x feat^{tree})";

#[test]
fn no_branch_moves_or_goes_under_a_working_tree() {
    // What was there, what the command does, what the user does then, and whether the repository stays.
    let cases = [
        ("true", "git branch new", "true", false),
        ("true", "git branch new", "git switch -q new", true),
        ("true", "git branch new", "git worktree add -q ../side new", true),
        ("true", "git branch new && git pack-refs --all", "git switch -q new", true),
        ("true", "git pack-refs --all", "true", false),
        ("true", "COMMIT two", "true", false),
        ("git branch b && COMMIT two", "git branch -f b main", "git switch -q b", true),
        ("git branch b && COMMIT two", "git branch -f b main", "true", false),
        // Where the index is restored as well, it is that of another branch.
        (
            "git branch b && COMMIT two",
            "git branch -f b main && git update-index --chmod=+x file",
            "git switch -q b",
            true,
        ),
        (
            "git branch b && COMMIT two",
            "git branch -f b main && git update-index --chmod=+x file",
            "true",
            false,
        ),
        // While a branch is rebased, or bisected, no `HEAD` names it.
        (
            CONFLICT,
            ADVANCE,
            "git switch -q feat; ! git -c user.name=u -c user.email=u@x rebase -q side 2> /dev/null",
            true,
        ),
        (CONFLICT, ADVANCE, "git switch -q feat && git bisect start -q && git checkout -q --detach", true),
        (CONFLICT, ADVANCE, "git switch -q side", false),
        ("git branch b", "git switch -q b", "git worktree add -q ../side main", true),
        ("git branch b", "git switch -q b", "true", false),
        ("git worktree add -q ../side -b b", "git branch new", "git -C ../side switch -q new", true),
        ("git tag v", "git tag -d v", "COMMIT two && git tag v && git pack-refs --all", true),
        ("git tag v", "git tag -d v", "true", false),
        ("git tag v && git pack-refs --all", "git tag -d v", "true", false),
        ("true", "git branch new", "touch .git/index.lock", true),
        ("true", "git branch new", "touch .git/refs/heads/new.lock", true),
    ];
    for layered in LAYERS {
        for (prepare, command, use_by_user, stays) in cases {
            let opened = OpenFixture::new(layered, &prepare.replace("COMMIT", COMMIT));
            let run = opened.run(&format!("{command} && echo n > n"));
            opened.user(use_by_user);
            let state =
                "git log --all --format='%s %D' && git status --porcelain --branch -uno && git for-each-ref";
            let before = opened.user(state);
            let case = format!("{prepare}; {command}; {use_by_user} ({layered:?})");
            let undone = opened.undo(run).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert_eq!(undone.not_undoable, if stays { &[".git"][..] } else { &[] }, "{case}");
            assert_eq!(undone.changed_since, undone.not_undoable, "{case}");
            assert!(!opened.fixture.root().join("n").exists(), "{case}");
            if stays {
                assert_eq!(opened.user(state), before, "{case}");
            }
            opened.user("rm -f .git/index.lock .git/refs/heads/new.lock");
            opened.check(".", &case);
            let _ = std::fs::remove_dir_all(opened.fixture.root().join("../side"));
        }
    }
}

#[test]
fn an_undo_waits_for_git() {
    let opened = OpenFixture::new(Layered::Yes, "true");
    let run = opened.run("git branch new");
    opened.user("touch .git/packed-refs.lock");
    let refused = opened.undo(run).unwrap_err().to_string();
    assert!(refused.contains("`.git/packed-refs.lock` is there, so git is at work"), "{refused}");
    opened.user("rm .git/packed-refs.lock");
    opened.undo(run).unwrap();
    assert_eq!(opened.user("git branch --list new"), "");
}

#[test]
fn a_repository_with_too_large_a_pack_is_not_said_to_have_changed() {
    const LARGE: &str = "git init -q sub && cd sub && head -c 17000000 /dev/urandom > large && git add large && COMMIT one && git gc -q";
    for layered in LAYERS {
        let opened = OpenFixture::new(layered, &LARGE.replace("COMMIT", COMMIT));
        let response = run(&opened.workspace, "mv sub sub2 && echo n > n").unwrap();
        assert_eq!(response.exit_code, 0, "{response:?}");
        let undone = opened.undo(RunNumber(1)).unwrap();
        assert!(!undone.not_undoable.is_empty(), "{undone:?} ({layered:?})");
        assert_eq!(undone.changed_since, [""; 0], "{undone:?} ({layered:?})");
        opened.check("sub2", "the repository that was moved");
    }
}

#[test]
fn the_branch_that_was_left_is_named_where_another_one_is_in_the_way() {
    const WORK: &str = "git checkout -q -b dev && echo 1 > new && git add new && COMMIT model";
    const WORK_AND_MORE: &str =
        "git checkout -q -b dev && echo 1 > new && git add new && COMMIT model && echo junk > loose";
    const MORE: &str = "echo 2 > new && COMMIT more -a";
    // What is done before by the user, the command, what the user does then, and what was checked out.
    let cases = [
        ("true", WORK, "git checkout -q main", Some("dev")),
        ("true", WORK, "git pack-refs --all && git checkout -q main", Some("dev")),
        (
            "git checkout -q -b feature/x && echo 1 > new && git add new && COMMIT new",
            MORE,
            "git checkout -q main",
            Some("feature/x"),
        ),
        // Leftovers next to the branch hide nothing.
        ("true", WORK_AND_MORE, "git checkout -q main", Some("dev")),
        // It is not there any more, or it is checked out again.
        ("true", WORK, "git checkout -q main && git branch -q -D dev", None),
        (
            "git checkout -q -b 'a$(b)' && echo 1 > new && git add new && COMMIT new",
            MORE,
            "git checkout -q main",
            Some("a$(b)"),
        ),
        ("true", WORK, "git checkout -q main && git checkout -q dev && rm new", None),
    ];
    for layered in LAYERS {
        for (before, command, use_by_user, left) in cases {
            let opened = OpenFixture::new(layered, before);
            let run = opened.run(command);
            opened.user(use_by_user);
            let case = format!("{before}; {command}; {use_by_user} ({layered:?})");
            assert!(!opened.workspace.can_undo(&Undo::Run(run)), "{case}");
            let Err(UndoError::Obstacles(obstacles)) = opened.undo(run) else { panic!("{case}") };
            let branches: BTreeSet<&str> = obstacles
                .iter()
                .filter_map(|obstacle| match &obstacle.why {
                    ObstacleKind::OtherBranch { branch, .. } => Some(&**branch),
                    _ => None,
                })
                .collect();
            assert_eq!(branches, left.into_iter().collect(), "{case}: {obstacles:?}");
            // The file is as before the command, and no branch to check out would change that.
            let Some(left) = left else { continue };
            // So it can be undone.
            opened.user(&format!("git checkout -q '{left}'"));
            assert!(opened.workspace.can_undo(&Undo::Run(run)), "{case}");
            opened.undo(run).unwrap_or_else(|error| panic!("{case}: {error}"));
            let is_of_work = command.starts_with(WORK);
            assert_eq!(opened.fixture.text("new"), (!is_of_work).then(|| "1\n".to_owned()), "{case}");
        }
    }
}

#[test]
fn a_branch_that_was_left_is_named_with_its_working_trees() {
    // What the user does before, the command, what the user does then, the working tree, and the one that has the branch now.
    let cases = [
        (
            "git branch b && git worktree add -q wt b",
            "cd wt && echo 2 > file && COMMIT model -a",
            "git -C wt checkout -q -b x HEAD~1",
            ("b", "wt", None),
        ),
        (
            "git branch b && git worktree add -q wt --detach && COMMIT two",
            "echo 2 > file && COMMIT model -a",
            "git checkout -q b && git -C wt checkout -q main",
            ("main", ".", Some("wt")),
        ),
        (
            "git branch b && git worktree add -q wt b",
            "cd wt && echo 2 > file && COMMIT model -a",
            "git -C wt checkout -q -b x HEAD~1 && git checkout -q b",
            ("b", "wt", Some(".")),
        ),
    ];
    for layered in LAYERS {
        for (before, command, use_by_user, expected) in cases {
            let opened = OpenFixture::new(layered, before);
            let run = opened.run(command);
            opened.user(use_by_user);
            let case = format!("{before}; {command}; {use_by_user} ({layered:?})");
            let Err(UndoError::Obstacles(obstacles)) = opened.undo(run) else { panic!("{case}") };
            let named: Vec<_> = obstacles
                .iter()
                .filter_map(|obstacle| match &obstacle.why {
                    ObstacleKind::OtherBranch { branch, tree, taken_by } => {
                        Some((&**branch, &**tree, taken_by.as_deref()))
                    }
                    _ => None,
                })
                .collect();
            assert_eq!(named, [expected], "{case}: {obstacles:?}");
        }
    }
}

#[test]
fn an_index_that_git_has_only_written_anew_is_undone() {
    // What the user does after the command, and whether the commit is undone.
    let cases = [
        ("true", true),
        ("touch -d '1 hour ago' file new && git status", true),
        ("touch -d '1 hour ago' file && git add file && git diff && git status", true),
        ("echo mine > mine && git add mine", false),
        ("git rm -q --cached new", false),
    ];
    for layered in LAYERS {
        for (use_by_user, is_undone) in cases {
            let opened = OpenFixture::new(layered, "true");
            let run = opened.run("echo two > file && echo new > new && git add new && COMMIT two -a");
            opened.user(use_by_user);
            let case = format!("{use_by_user} ({layered:?})");
            let undone = opened.undo(run).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert_eq!(undone.not_undoable.is_empty(), is_undone, "{case}: {undone:?}");
            let log = opened.user("git log --format=%s");
            assert_eq!(log, if is_undone { "one\n" } else { "two\none\n" }, "{case}");
            assert_eq!(opened.fixture.text("file").as_deref(), Some("one\n"), "{case}");
            if is_undone {
                assert_eq!(opened.user("git status --porcelain"), "", "{case}");
                // The undo is undone in turn, also after another `git status`.
                opened.user("touch -d '2 hours ago' file && git status");
                let again = opened.undo(RunNumber(undone.run)).unwrap();
                assert_eq!(again.not_undoable, [""; 0], "{case}");
                assert_eq!(opened.user("git log --format=%s"), "two\none\n", "{case}");
            }
            opened.check(".", &case);
        }
    }
}

#[test]
fn an_index_does_not_come_back_without_its_objects() {
    for layered in LAYERS {
        for is_pruned in [false, true] {
            let opened = OpenFixture::new(layered, "true");
            let run = opened.run("echo staged > new && git add new");
            let undone = opened.undo(run).unwrap();
            opened.user(if is_pruned { "git prune --expire=now" } else { "true" });
            let redone = opened.undo(RunNumber(undone.run)).unwrap();
            assert_eq!(redone.not_undoable.is_empty(), !is_pruned, "{redone:?} ({layered:?})");
            assert_eq!(opened.fixture.text("new").as_deref(), Some("staged\n"), "{layered:?}");
            opened.user("COMMIT user && git add new && COMMIT again");
            opened.check(".", "an index");
        }
    }
}

/// A command, the user's later work, and the named branches, each with a flag: true if it may be reset.
type ResetCase = (&'static str, &'static str, &'static [(&'static str, bool)]);

#[test]
fn a_branch_is_reset_only_where_that_takes_no_other_commit() {
    const MODEL: &str = "echo two > file && COMMIT two -a";
    let cases: [ResetCase; 7] = [
        (MODEL, "echo mine > mine && git add mine", &[("main", true)]),
        (MODEL, "COMMIT user", &[("main", false)]),
        (MODEL, "git -c user.name=u -c user.email=u@x commit -q --amend -m amended", &[("main", false)]),
        (MODEL, "git switch -q -c mine && echo mine > mine && git add mine", &[("main", false)]),
        (
            "git branch new && echo two > file && COMMIT two -a",
            "echo mine > mine && git add mine",
            &[("main", true), ("new", false)],
        ),
        ("echo two > file && COMMIT two -a && git pack-refs --all", "COMMIT user", &[]),
        (
            "git switch -q -c x && echo two > file && COMMIT two -a",
            "echo mine > mine && git add mine",
            &[("x", false)],
        ),
    ];
    for (command, use_by_user, branches) in cases {
        let opened = OpenFixture::new(Layered::Yes, "true");
        let before = opened.user("git rev-parse HEAD");
        let run = opened.run(command);
        let left = opened.user("git rev-parse HEAD");
        opened.user(use_by_user);
        let undone = opened.undo(run).unwrap();
        assert_eq!(undone.not_undoable, [".git"], "{command}; {use_by_user}");
        let [kept] = &undone.kept_commits[..] else { panic!("{undone:?}") };
        let offered: Vec<_> =
            kept.branches.iter().map(|branch| (branch.name.as_str(), branch.reset_to.is_some())).collect();
        assert_eq!(offered, branches, "{command}; {use_by_user}");
        assert!(!kept.is_of_undo, "{kept:?}");
        for branch in kept.branches.iter().filter(|branch| branch.name != "new") {
            assert_eq!(branch.commit, left.trim(), "{command}; {use_by_user}");
            assert!(branch.reset_to.as_ref().is_none_or(|commit| commit == before.trim()), "{kept:?}");
        }
    }
}

#[test]
fn a_commit_that_an_undo_removed_is_not_offered_for_a_reset() {
    let opened = OpenFixture::new(Layered::Yes, "true");
    let run = opened.run("echo two > file && COMMIT two -a");
    let undone = opened.undo(run).unwrap();
    opened.user("echo mine > mine && git add mine");
    let redone = opened.undo(RunNumber(undone.run)).unwrap();
    assert!(redone.kept_commits[0].is_of_undo, "{redone:?}");
    assert_eq!(opened.user("git log --format=%s"), "one\n");
}

#[test]
fn a_repository_goes_with_the_objects_that_an_undo_has_left() {
    const MADE: &str = "git init -q -b main sub && cd sub && echo 1 > 1 && git add 1 && COMMIT one";
    // What the user does after the undo of the later commit, and whether the repository goes.
    let cases = [("true", true), ("git -C sub status", true), ("git -C sub branch keep LATER", false)];
    for layered in LAYERS {
        for (use_by_user, is_removed) in cases {
            let opened = OpenFixture::new(layered, "true");
            let made = opened.run(MADE);
            let later = opened.run("cd sub && echo 2 > 1 && COMMIT two -a");
            let commit = opened.user("git -C sub rev-parse HEAD");
            let undone = opened.undo(later).unwrap();
            opened.user(&use_by_user.replace("LATER", commit.trim()));
            let case = format!("{use_by_user} ({layered:?})");
            let removed = opened.undo(made).unwrap_or_else(|error| panic!("{case}: {error}"));
            assert_eq!(removed.not_undoable.is_empty(), is_removed, "{case}: {removed:?}");
            assert_eq!(opened.fixture.root().join("sub").exists(), !is_removed, "{case}");
            if is_removed {
                // Both come back, each by the undo of its undo.
                for run in [removed.run, undone.run] {
                    let again = opened.undo(RunNumber(run)).unwrap_or_else(|error| panic!("{case}: {error}"));
                    assert_eq!(again.not_undoable, [""; 0], "{case}");
                }
                assert_eq!(opened.user("git -C sub log --format=%s"), "two\none\n", "{case}");
            }
            opened.check("sub", &case);
        }
    }
}

#[test]
fn objects_of_changes_that_are_in_force_keep_a_repository() {
    for layered in LAYERS {
        let opened = OpenFixture::new(layered, "true");
        let made = opened.run("git init -q -b main sub");
        opened.run("cd sub && echo 2 > 1 && git add 1");
        assert!(opened.undo(made).is_err(), "{layered:?}");
        assert!(opened.fixture.root().join("sub/.git/objects").exists(), "{layered:?}");
    }
}
