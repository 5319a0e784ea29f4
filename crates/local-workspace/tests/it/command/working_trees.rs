//! `git worktree add`, `move` and `remove` by a command work, or leave nothing behind.

use std::fs;
use std::path::Path;
use std::process::Command;

use change_journal::{
    Attributes, ChangeNumber, ChangeRecord, Content, Entry, EntryKind, EntryRecord, Journal, RunNumber,
    RunState, StepKind,
};
use local_workspace::{LocalWorkspace, Undo};
use wap_core::*;

use crate::fixture::tree::tree;
use crate::fixture::user_shell::shell;
use crate::fixture::workspace::*;

/// A workspace with a repository that has one commit and a working tree of the user's.
fn prepared(layered: Layered) -> (Fixture, LocalWorkspace) {
    let fixture = Fixture::new();
    git(&fixture.root(), "init -q -b main .");
    fixture.put("file", "x\n");
    git(&fixture.root(), "add file");
    git(&fixture.root(), "-c user.name=u -c user.email=u@x commit -q -m first");
    let workspace = fixture.open_layered(layered);
    (fixture, workspace)
}

/// Runs git as the user would, and answers with what it prints.
fn git(folder: &Path, arguments: &str) -> String {
    let ran = Command::new("sh")
        .args(["-c", &format!("git {arguments}")])
        .current_dir(folder)
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("GIT_DIR")
        .output()
        .unwrap();
    assert!(ran.status.success(), "git {arguments}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

fn done(workspace: &LocalWorkspace, script: &str) -> ExecuteCommandResponse {
    let response = run(workspace, script).unwrap();
    assert_eq!((response.exit_code, &response.warnings[..]), (0, &[][..]), "{script}: {response:?}");
    response
}

fn undo_last(fixture: &Fixture, workspace: &LocalWorkspace, run: RunNumber) {
    let undone = workspace.undo(&Caller::once().call(), &Undo::Run(run)).unwrap();
    assert!(undone.not_undoable.is_empty(), "{undone:?}");
    assert!(!fixture.root().join("side").exists());
}

#[test]
fn working_tree_is_added_used_moved_and_removed() {
    for layered in LAYERS {
        for relative in ["", "-c worktree.useRelativePaths=true"] {
            let (fixture, workspace) = prepared(layered);
            done(&workspace, &format!("git {relative} worktree add -q side"));
            let side = fixture.root().join("side");
            assert_eq!(git(&side, "status --porcelain"), "", "{layered:?}");
            assert_eq!(git(&fixture.root(), "worktree list").lines().count(), 2, "{layered:?}");
            done(&workspace, "cd side && echo y > more && git add more && git commit -q -m second");
            assert_eq!(git(&side, "log --format=%s"), "second\nfirst\n", "{layered:?}");
            let moved = run(&workspace, "git worktree move side other").unwrap();
            assert_eq!((moved.exit_code, &moved.warnings), (0, &Vec::new()), "{layered:?}: {moved:?}");
            let name = "other";
            assert!(!side.exists(), "{layered:?}");
            assert_eq!(git(&fixture.root().join(name), "status --porcelain"), "", "{layered:?}");
            done(&workspace, &format!("git worktree remove {name}"));
            assert!(!fixture.root().join(name).exists(), "{layered:?}");
            assert_eq!(git(&fixture.root(), "worktree list").lines().count(), 1, "{layered:?}");
            assert!(!fixture.root().join(".git/worktrees").exists(), "{layered:?}");
            git(&fixture.root(), "fsck --no-progress");
        }
    }
}

#[test]
fn working_tree_with_settings_of_its_own_is_removed_together_with_a_commit() {
    let script = "git worktree remove --force side && echo y > more && git add more && \
                  git -c user.name=u -c user.email=u@x commit -q -m second";
    for layered in LAYERS {
        let (fixture, workspace) = prepared(layered);
        git(&fixture.root(), "worktree add -q side && git -C side sparse-checkout set --cone folder");
        assert!(fixture.text(".git/worktrees/side/config.worktree").is_some(), "control: {layered:?}");
        done(&workspace, script);
        assert_eq!(git(&fixture.root(), "log --format=%s"), "second\nfirst\n", "{layered:?}");
        assert_eq!(git(&fixture.root(), "status --porcelain"), "", "{layered:?}");
        assert_eq!(git(&fixture.root(), "worktree list").lines().count(), 1, "{layered:?}");
        assert!(!fixture.root().join(".git/worktrees").exists(), "{layered:?}");
    }
}

#[test]
fn addition_is_undone_as_a_whole() {
    for layered in LAYERS {
        let (fixture, workspace) = prepared(layered);
        let before = tree(&fixture);
        done(&workspace, "git worktree add -q side");
        undo_last(&fixture, &workspace, RunNumber(1));
        assert_eq!(tree(&fixture), before, "{layered:?}");
        assert_eq!(git(&fixture.root(), "worktree list").lines().count(), 1, "{layered:?}");
    }
}

#[test]
fn working_tree_that_leads_out_or_is_refused_in_part_leaves_nothing() {
    let scripts = [
        // It is gone with the private folder in which it was made.
        "git worktree add -q /tmp/side",
        "git worktree add -q side && echo 'gitdir: ../elsewhere' > side/.git",
        "git worktree add -q side && mkdir -p .git/worktrees/side/hooks && echo x > .git/worktrees/side/hooks/pre-commit",
        "git worktree add -q side && printf '[core]\\n\\tfsmonitor = x\\n' > .git/worktrees/side/config.worktree",
        "git worktree add -q side && rm side/.git && ln -s ../.git/worktrees/side side/.git",
    ];
    for script in scripts {
        for layered in LAYERS {
            let (fixture, workspace) = prepared(layered);
            let response = run(&workspace, script).unwrap();
            assert_eq!(response.exit_code, 0, "{script} ({layered:?}): {response:?}");
            assert!(response.warnings.join("\n").contains(".git"), "{script} ({layered:?}): {response:?}");
            assert!(!fixture.root().join("side").exists(), "{script} ({layered:?}): {response:?}");
            assert!(
                !fixture.root().join(".git/worktrees/side").exists(),
                "{script} ({layered:?}): {response:?}"
            );
            assert_eq!(git(&fixture.root(), "worktree list").lines().count(), 1, "{script} ({layered:?})");
            git(&fixture.root(), "fsck --no-progress");
        }
    }
}

#[test]
fn working_tree_is_of_its_repository_and_of_no_other() {
    // A repository of the other object format, in the shape of a working tree's folder.
    let other = "Z=$(mktemp -d); git init -q --object-format=sha256 $Z && cd $Z && echo x > x && git add x && \
                 git -c user.name=u -c user.email=u@x commit -q -m z && cd - && mkdir -p RECORD && \
                 for one in objects refs HEAD index; do cp -r $Z/.git/$one RECORD; done && \
                 printf '[core]\\n\\trepositoryformatversion = 1\\n\\tbare = false\\n[extensions]\\n\\tobjectformat = sha256\\n' \
                 > RECORD/config; rm -rf $Z";
    let add = "git worktree add -q side";
    let common = |text: &str| format!("{add}; printf '{text}' > .git/worktrees/side/commondir");
    let other_at = |record: &str| other.replace("RECORD", &format!("'{record}'"));
    let attacks = [
        // Nothing leads from the working tree to the repository.
        format!(
            "{}; mkdir side; echo ../../../side/.git > .git/worktrees/side/gitdir; \
             echo 'gitdir: ../.git/worktrees/side' > side/.git",
            other_at(".git/worktrees/side")
        ),
        format!("{add}; rm .git/worktrees/side/commondir; {}", other_at(".git/worktrees/side")),
        // Names that look like the repository.
        format!("{}; {}", common("../.. "), other_at(".git/worktrees/.. ")),
        format!("{}; {}", common("../..\\t\\n"), other_at(".git/worktrees/..\t")),
        format!("{}; {}", common("../../x"), other_at(".git/x")),
    ];
    let format_of = |fixture: &Fixture| {
        let format = shell(&fixture.root(), "git -C side rev-parse --show-object-format");
        String::from_utf8(format.stdout).unwrap()
    };
    for script in attacks {
        let (plain, _) = prepared(Layered::No);
        shell(&plain.root(), &script);
        assert_eq!(format_of(&plain), "sha256\n", "control: {script}");
        for layered in LAYERS {
            for is_users in [false, true] {
                let (fixture, workspace) = prepared(layered);
                if is_users {
                    git(&fixture.root(), "worktree add -q side");
                }
                let response = run(&workspace, &script).unwrap();
                assert!(
                    response.warnings.join("\n").contains(".git/worktrees/side"),
                    "{script}: {response:?}"
                );
                let format = format_of(&fixture);
                assert_ne!(format, "sha256\n", "{script} ({layered:?}): {response:?}");
                let record = fixture.root().join(".git/worktrees/side");
                assert!(!record.join("config").exists(), "{script} ({layered:?}): {response:?}");
                assert_eq!(
                    record.join("commondir").exists(),
                    is_users,
                    "{script} ({layered:?}): {response:?}"
                );
                git(&fixture.root(), "fsck --no-progress");
            }
        }
    }
}

#[test]
fn working_tree_of_a_repository_in_use_is_left_as_a_whole() {
    let (fixture, workspace) = prepared(Layered::Yes);
    let root = fixture.root();
    struct Locking(Option<std::path::PathBuf>);
    impl CommandObserver for Locking {
        fn started(&mut self, _: &str) {}
        fn output(&mut self, _: OutputStream, _: &[u8]) {
            if let Some(lock) = self.0.take() {
                fs::write(lock, "").unwrap();
            }
        }
    }
    let lock = root.join(".git/index.lock");
    let script = command("git worktree add -q side && echo go");
    let response =
        workspace.execute_command(&Caller::once().call(), &script, &mut Locking(Some(lock.clone()))).unwrap();
    assert_eq!(response.exit_code, 0, "{response:?}");
    assert!(response.warnings.join("\n").contains("`.git/index.lock`"), "{response:?}");
    fs::remove_file(lock).unwrap();
    assert!(!root.join("side/.git").exists() && !root.join("side/file").exists(), "{response:?}");
    assert!(!root.join(".git/worktrees/side").exists(), "{response:?}");
}

#[test]
fn addition_that_a_crash_has_cut_short_is_carried_out() {
    for layered in LAYERS {
        let (fixture, workspace) = prepared(layered);
        drop(workspace);
        let journal = fixture.open_journal();
        let (workspace, _) = fixture.open_with(journal.clone(), fixture.layered_config(layered));
        let before = tree(&fixture);
        done(&workspace, "git worktree add -q side");
        let after = tree(&fixture);
        // The same changes in a journal that knows them as intended, and a folder in which only some of them are done.
        let recorded = recorded(&journal);
        drop((workspace, journal));
        fs::remove_dir_all(fixture.root().join("side")).unwrap();
        for name in ["gitdir", "HEAD", "index"] {
            fs::remove_file(fixture.root().join(".git/worktrees/side").join(name)).unwrap();
        }
        assert!(tree(&fixture) != before && tree(&fixture) != after);
        fs::rename(fixture.path().join("state"), fixture.path().join("old-state")).unwrap();
        fs::create_dir(fixture.path().join("state")).unwrap();
        let journal = fixture.open_journal();
        promise_again(&journal, &recorded);
        let (_workspace, recovery) = fixture.open_with(journal, fixture.layered_config(layered));
        assert!(recovery.conflicts.is_empty() && recovery.failed.is_empty(), "{layered:?}: {recovery:?}");
        assert_eq!(tree(&fixture), after, "{layered:?}: {recovery:?}");
        assert_eq!(git(&fixture.root().join("side"), "status --porcelain"), "", "{layered:?}");
    }
}

/// One side of a change with its bytes.
type Side = Option<(EntryKind, Vec<u8>, Option<u32>)>;

/// Reads all changes with their bytes.
fn recorded(journal: &Journal) -> Vec<(Vec<u8>, Side, Side)> {
    let reader = journal.reader();
    let side = |entry: Option<Entry>| {
        entry.map(|entry| {
            let bytes = entry.content.and_then(|hash| reader.content(&hash).unwrap()).unwrap_or_default();
            (entry.kind, bytes, entry.mode)
        })
    };
    let changes = reader.changes(ChangeNumber(0), u32::MAX).unwrap().into_iter();
    changes.map(|change| (change.path, side(change.before), side(change.after))).collect()
}

/// Records changes of a command as a daemon does that is killed right after the commit.
fn promise_again(journal: &Journal, changes: &[(Vec<u8>, Side, Side)]) {
    let key = change_journal::RunKey::once("command", b"killed");
    let RunState::New(run) = journal.begin_run(&key).unwrap() else { panic!("the run is new") };
    journal.start_step(run.number(), 0, StepKind::ShellCommand, "git worktree add").unwrap();
    let records: Vec<_> = changes
        .iter()
        .map(|(path, before, after)| ChangeRecord::intended(path, entry(before), entry(after)))
        .collect();
    journal.finish_step(run.number(), 0, b"{}", &records).unwrap();
    journal.flush().unwrap();
}

fn entry(side: &Side) -> Option<EntryRecord<'_>> {
    let (kind, bytes, mode) = side.as_ref()?;
    let content = Content::Bytes(bytes);
    Some(EntryRecord { kind: *kind, content, mode: *mode, attributes: Attributes::Unknown })
}
