//! An undo takes nothing away that the user's own work in a repository has come to need.

use change_journal::{ChangeNumber, Journal, RunNumber};
use local_workspace::{LocalWorkspace, Undo, UndoError, Undone};

use crate::fixture::user_shell::{COMMIT, git, shell};
use crate::fixture::workspace::*;

struct OpenFixture {
    fixture: Fixture,
    journal: Journal,
    workspace: LocalWorkspace,
}

impl OpenFixture {
    fn new(layered: Layered, prepare: &str) -> OpenFixture {
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
    fn run(&self, script: &str) -> RunNumber {
        let response = run(&self.workspace, &script.replace("COMMIT", COMMIT)).unwrap();
        assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{script}: {response:?}");
        let changes = self.journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap();
        changes.last().unwrap().run
    }

    fn user(&self, script: &str) -> String {
        git(&self.fixture, &script.replace("COMMIT", COMMIT))
    }

    fn undo(&self, run: RunNumber) -> Result<Undone, UndoError> {
        self.workspace.undo(&Caller::once().call(), &Undo::Run(run))
    }

    /// Checks that git of the user finds nothing missing.
    fn check(&self, folder: &str, case: &str) {
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
