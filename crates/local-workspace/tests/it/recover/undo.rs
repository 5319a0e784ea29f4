//! Changes are undone as a whole or not at all, and no user's work is lost by it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use change_journal::{
    Attributes, ChangeNumber, ChangeRecord, Content, ContentHash, EntryKind, EntryRecord, Journal, RunFilter,
    RunNumber, RunState, StepKind, StepRecord,
};
use local_workspace::{LocalWorkspace, ObstacleKind, Undo, UndoEffect, UndoError, UndoObstacle, Undone};
use wap_core::*;

use crate::fixture::workspace::*;

struct OpenFixture {
    fixture: Fixture,
    journal: Journal,
    workspace: LocalWorkspace,
}

impl OpenFixture {
    fn new() -> OpenFixture {
        let fixture = Fixture::new();
        let journal = fixture.open_journal();
        let workspace = fixture.open_with(journal.clone(), fixture.config()).0;
        OpenFixture { fixture, journal, workspace }
    }

    fn undo(&self, what: &Undo) -> Result<Undone, UndoError> {
        self.workspace.undo(&Caller::once().call(), what)
    }

    /// Carries out one change and returns its number.
    fn change(&self, change_request: FileChange) -> ChangeNumber {
        change(&self.workspace, change_request).unwrap();
        let all = self.journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap();
        all.last().unwrap().number
    }

    /// Carries out a reply and returns its run.
    fn reply(&self, sequence: u32, changes: &[FileChange]) -> RunNumber {
        let outcomes = self.workspace.change_files(&Caller::numbered(sequence).call(), changes).unwrap();
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        let all = self.journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap();
        all.last().unwrap().run
    }

    fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.fixture.root().join(path)).unwrap().permissions().mode() & 0o7777
    }

    fn set_mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.fixture.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
}

fn one(number: ChangeNumber) -> Undo {
    Undo::Changes(vec![number])
}

#[track_caller]
fn obstacles(outcome: Result<Undone, UndoError>) -> Vec<UndoObstacle> {
    match outcome {
        Err(UndoError::Obstacles(obstacles)) => obstacles,
        other => panic!("{other:?}"),
    }
}

fn effects(undone: &Undone) -> Vec<(&str, UndoEffect)> {
    undone.paths.iter().map(|path| (&*path.path, path.effect)).collect()
}

#[test]
fn change_is_taken_back_and_the_undo_too() {
    let opened = OpenFixture::new();
    opened.fixture.put("a", "1\n2\n");
    let edit = opened.change(replace("a", (2, 2), "two", None));
    let undone = opened.undo(&one(edit)).unwrap();
    assert_eq!(effects(&undone), [("a", UndoEffect::Restored)]);
    assert_eq!(undone.paths[0].undoes, [edit.0]);
    assert_eq!(opened.fixture.text("a").unwrap(), "1\n2\n");
    let refused = opened.undo(&one(edit)).unwrap_err();
    assert!(matches!(refused, UndoError::AlreadyUndone { number, .. } if number == edit), "{refused}");
    let redone = opened.undo(&Undo::Run(RunNumber(undone.run))).unwrap();
    assert_eq!(opened.fixture.text("a").unwrap(), "1\ntwo\n");
    assert!(matches!(opened.undo(&Undo::Run(RunNumber(undone.run))), Err(UndoError::Nothing)));
    // Either the change or the undo of its undo may be named.
    opened.undo(&one(edit)).unwrap();
    assert_eq!(opened.fixture.text("a").unwrap(), "1\n2\n");
    assert!(matches!(opened.undo(&Undo::Run(RunNumber(redone.run))), Err(UndoError::Nothing)));
}

#[test]
fn what_is_as_before_already_is_no_obstacle() {
    // What another program leaves at a file that was edited, and at one that was created.
    for (edited, created, is_undone) in [
        (Some("1\n"), None, true),
        (Some("1\n"), Some("new\n"), true),
        (Some("one\n"), None, true),
        (Some("theirs\n"), None, false),
        (None, None, false),
        (Some("1\n"), Some("theirs\n"), false),
    ] {
        let opened = OpenFixture::new();
        opened.fixture.put("edited", "1\n");
        let reply = [replace("edited", (1, 1), "one", None), write("d/x", "new\n"), write("y", "y\n")];
        let run = opened.reply(1, &reply);
        for (path, content) in [("edited", edited), ("d/x", created)] {
            match content {
                Some(content) => opened.fixture.put(path, content),
                None => fs::remove_file(opened.fixture.root().join(path)).unwrap(),
            }
        }
        let case = format!("{edited:?}, {created:?}");
        let left = ["edited", "d/x", "y"].map(|path| opened.fixture.text(path));
        let undone = opened.undo(&Undo::Run(run));
        if !is_undone {
            obstacles(undone);
            assert_eq!(["edited", "d/x", "y"].map(|path| opened.fixture.text(path)), left, "{case}");
            continue;
        }
        let undone = undone.unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(opened.fixture.text("edited").as_deref(), Some("1\n"), "{case}");
        assert!(["d", "y"].iter().all(|path| !opened.fixture.root().join(path).exists()), "{case}");
        let as_before: Vec<_> = [("d/x", created.is_none()), ("edited", edited == Some("1\n"))]
            .into_iter()
            .filter_map(|(path, is_as_before)| is_as_before.then_some(path))
            .collect();
        assert_eq!(undone.already_as_before, as_before, "{case}");
        assert!(undone.paths.iter().all(|path| !as_before.contains(&&*path.path)), "{case}: {undone:?}");
        let refused = obstacles(opened.undo(&Undo::Run(run)));
        assert!(refused.iter().all(|obstacle| obstacle.why == ObstacleKind::AsBefore), "{case}: {refused:?}");
        // The undo is undone, and that as well, also after the next opening.
        let redone = opened.undo(&Undo::Run(RunNumber(undone.run))).unwrap();
        assert_eq!(["edited", "d/x", "y"].map(|path| opened.fixture.text(path)), left, "{case}");
        opened.undo(&Undo::Run(RunNumber(redone.run))).unwrap();
        assert_eq!(opened.fixture.text("edited").as_deref(), Some("1\n"), "{case}");
        let OpenFixture { fixture, journal, workspace } = opened;
        drop((journal, workspace));
        let recovery = fixture.open_with(fixture.open_journal(), fixture.config()).1;
        assert!(recovery.is_empty(), "{case}: {recovery:?}");
    }
}

#[test]
fn an_undo_with_nothing_left_to_do_is_not_used_up() {
    let opened = OpenFixture::new();
    opened.fixture.put("edited", "1\n");
    let run = opened.reply(1, &[replace("edited", (1, 1), "one", None), write("d/new", "new\n")]);
    // As `git stash` does, or the checkout of another branch.
    opened.fixture.put("edited", "1\n");
    fs::remove_dir_all(opened.fixture.root().join("d")).unwrap();
    let changes = || opened.journal.reader().changes(ChangeNumber(0), u32::MAX).unwrap().len();
    let before = changes();
    assert!(!opened.workspace.can_undo(&Undo::Run(run)));
    let refused = obstacles(opened.undo(&Undo::Run(run)));
    let named: Vec<_> = refused.iter().map(|obstacle| (&*obstacle.path, &obstacle.why)).collect();
    assert_eq!(named, [("d/new", &ObstacleKind::AsBefore), ("edited", &ObstacleKind::AsBefore)]);
    assert_eq!(changes(), before);
    // After the return, it is undone.
    opened.fixture.put("edited", "one\n");
    opened.fixture.put("d/new", "new\n");
    opened.undo(&Undo::Run(run)).unwrap();
    assert_eq!(opened.fixture.all_names(), ["edited"]);
    assert_eq!(opened.fixture.text("edited").as_deref(), Some("1\n"));
}

#[test]
fn reply_is_taken_back_as_a_whole() {
    let opened = OpenFixture::new();
    opened.fixture.put("edited", "1\n2\n3\n");
    opened.fixture.put("tool", "#!/bin/sh\n");
    opened.set_mode("tool", 0o755);
    opened.fixture.put("target", "t\n");
    symlink("target", opened.fixture.root().join("link")).unwrap();
    let before = opened.fixture.all_names();
    let run = opened.reply(
        1,
        &[
            write("new/deep/file", "x\n"),
            replace("edited", (1, 1), "one", None),
            replace("edited", (3, 3), "three", None),
            delete("tool"),
            delete("link"),
            write("new/other", "y\n"),
        ],
    );
    let after = opened.fixture.all_names();
    let undone = opened.undo(&Undo::Run(run)).unwrap();
    assert_eq!(opened.fixture.all_names(), before);
    assert_eq!(opened.fixture.text("edited").unwrap(), "1\n2\n3\n");
    assert_eq!(opened.mode("tool"), 0o755);
    assert_eq!(fs::read_link(opened.fixture.root().join("link")).unwrap().to_str(), Some("target"));
    let expected = [
        ("new/other", UndoEffect::Removed),
        ("new/deep/file", UndoEffect::Removed),
        ("new/deep", UndoEffect::Removed),
        ("new", UndoEffect::Removed),
        ("edited", UndoEffect::Restored),
        ("link", UndoEffect::BroughtBack),
        ("tool", UndoEffect::BroughtBack),
    ];
    assert_eq!(effects(&undone), expected);
    assert_eq!(opened.journal.counts().commits, 2, "one for the reply, one for the undo");
    opened.undo(&Undo::Run(RunNumber(undone.run))).unwrap();
    assert_eq!(opened.fixture.all_names(), after);
    assert_eq!(opened.fixture.text("edited").unwrap(), "one\n2\nthree\n");
}

#[test]
fn file_that_another_program_has_changed_since_keeps_everything_as_it_is_and_shows_the_difference() {
    let opened = OpenFixture::new();
    opened.fixture.put("mine", "1\n2\n");
    let run = opened.reply(1, &[write("b", "x\n"), replace("mine", (1, 1), "one", None), write("z", "x\n")]);
    opened.fixture.put("mine", "one\n2\nthe user's\n");
    let names = opened.fixture.all_names();
    let refused = obstacles(opened.undo(&Undo::Run(run)));
    let [obstacle] = &refused[..] else { panic!("{refused:?}") };
    assert_eq!((&*obstacle.path, &obstacle.why), ("mine", &ObstacleKind::ChangedSince));
    assert_eq!(&*obstacle.diff, "--- a/mine\n+++ b/mine\n@@ -1,2 +1,3 @@\n one\n 2\n+the user's\n");
    assert_eq!(opened.fixture.all_names(), names);
    assert_eq!(opened.fixture.text("mine").unwrap(), "one\n2\nthe user's\n");
    // Without the user's line it is removed.
    opened.fixture.put("mine", "one\n2\n");
    opened.undo(&Undo::Run(run)).unwrap();
    assert_eq!(opened.fixture.text("mine").unwrap(), "1\n2\n");
    assert_eq!(opened.fixture.all_names(), ["mine"]);
}

#[test]
fn files_that_are_gone_or_something_else_are_obstacles() {
    let opened = OpenFixture::new();
    opened.fixture.put("deleted", "d\n");
    opened.fixture.put("gone", "g\n");
    let run = opened.reply(1, &[write("gone", "x\n"), write("folder now", "x\n"), delete("deleted")]);
    fs::remove_file(opened.fixture.root().join("gone")).unwrap();
    fs::remove_file(opened.fixture.root().join("folder now")).unwrap();
    fs::create_dir(opened.fixture.root().join("folder now")).unwrap();
    opened.fixture.put("deleted", "the user's\n");
    let refused = obstacles(opened.undo(&Undo::Run(run)));
    let obstacles: Vec<_> = refused.iter().map(|obstacle| (&*obstacle.path, &obstacle.why)).collect();
    let changed = &ObstacleKind::ChangedSince;
    assert_eq!(obstacles, [("deleted", changed), ("folder now", changed), ("gone", changed)]);
    assert_eq!(opened.fixture.text("deleted").unwrap(), "the user's\n");
}

#[test]
fn later_change_of_ours_has_to_be_undone_first_or_as_well() {
    let opened = OpenFixture::new();
    opened.fixture.put("a", "0\n");
    let first = opened.change(write("a", "1\n"));
    let second = opened.change(write("a", "2\n"));
    let third = opened.change(write("a", "1\n"));
    // The file is as the first has left it, but the first is not on top.
    let refused = obstacles(opened.undo(&one(first)));
    assert_eq!(refused[0].why, ObstacleKind::LaterChange(third));
    let text = UndoError::Obstacles(refused).to_string();
    assert!(text.contains(&format!("change {third}")), "{text}");
    let gap = obstacles(opened.undo(&Undo::Changes(vec![first, third])));
    assert_eq!(gap[0].why, ObstacleKind::LaterChange(second));
    opened.undo(&one(third)).unwrap();
    assert_eq!(opened.fixture.text("a").unwrap(), "2\n");
    opened.undo(&Undo::Changes(vec![first, second])).unwrap();
    assert_eq!(opened.fixture.text("a").unwrap(), "0\n");
}

#[test]
fn later_change_of_ours_that_another_program_has_reverted_is_not_in_the_way() {
    let opened = OpenFixture::new();
    opened.fixture.put("a", "0\n");
    let first = opened.change(write("a", "1\n"));
    let second = opened.change(write("a", "2\n"));
    // The control.
    assert_eq!(obstacles(opened.undo(&one(first)))[0].why, ObstacleKind::LaterChange(second));
    opened.fixture.put("a", "1\n");
    assert_eq!(obstacles(opened.undo(&one(second)))[0].why, ObstacleKind::AsBefore);
    let undone = opened.undo(&one(first)).unwrap();
    assert_eq!(undone.paths[0].undoes, [second.0, first.0]);
    assert_eq!(opened.fixture.text("a").as_deref(), Some("0\n"));
    opened.undo(&Undo::Run(RunNumber(undone.run))).unwrap();
    assert_eq!(opened.fixture.text("a").as_deref(), Some("2\n"));
    // Both together as well.
    opened.fixture.put("a", "1\n");
    opened.undo(&Undo::Changes(vec![first, second])).unwrap();
    assert_eq!(opened.fixture.text("a").as_deref(), Some("0\n"));
}

#[test]
fn permission_bits_of_the_user_stay_and_ours_come_back() {
    let opened = OpenFixture::new();
    opened.fixture.put("edited", "1\n");
    opened.fixture.put("replaced", "1\n");
    opened.set_mode("replaced", 0o750);
    let run = opened.reply(1, &[write("edited", "2\n"), delete("replaced")]);
    let second = opened.reply(2, &[write("replaced", "2\n")]);
    opened.set_mode("edited", 0o700);
    opened.undo(&Undo::Run(second)).unwrap();
    opened.undo(&Undo::Run(run)).unwrap();
    assert_eq!((opened.mode("edited"), opened.mode("replaced")), (0o700, 0o750));
    assert_eq!(opened.fixture.text("edited").unwrap(), "1\n");
}

#[test]
fn permission_bits_that_the_user_gave_after_a_command_stay() {
    // What the user does after the command, and the permission bits after the undo, if there is anything to undo.
    let cases = [
        (None, None, Some(0o644)),
        (None, Some(0o600), Some(0o600)),
        (Some("1\n"), None, Some(0o644)),
        (Some("1\n"), Some(0o600), None),
    ];
    for (content, mode, expected) in cases {
        let opened = OpenFixture::new();
        opened.fixture.put("a", "1\n");
        opened.set_mode("a", 0o644);
        let ran = run(&opened.workspace, "chmod 755 a && echo m > a").unwrap();
        assert_eq!(ran.exit_code, 0, "{ran:?}");
        let made = opened.journal.reader().changes_of_path(b"a", 1).unwrap()[0].run;
        if let Some(content) = content {
            opened.fixture.put("a", content);
        }
        if let Some(mode) = mode {
            opened.set_mode("a", mode);
        }
        let undone = opened.undo(&Undo::Run(made));
        let case = format!("{content:?}, {mode:?}: {undone:?}");
        assert_eq!(undone.is_ok(), expected.is_some(), "{case}");
        assert_eq!(opened.mode("a"), expected.or(mode).unwrap(), "{case}");
        assert_eq!(opened.fixture.text("a").as_deref(), Some("1\n"), "{case}");
    }
}

#[test]
fn folder_with_something_of_the_users_stays() {
    let opened = OpenFixture::new();
    let made = opened.change(write("new/deep/file", "x\n"));
    opened.fixture.put("new/users", "u\n");
    let undone = opened.undo(&one(made)).unwrap();
    assert_eq!(undone.kept_folders, ["new"]);
    let folder = opened.journal.reader().changes_of_path(b"new", 1).unwrap()[0].number;
    assert_eq!(obstacles(opened.undo(&one(folder)))[0].why, ObstacleKind::NotEmpty);
    assert_eq!(opened.fixture.all_names(), ["new", "new/users"]);
}

#[test]
fn folder_that_was_there_before_stays_without_its_files() {
    let opened = OpenFixture::new();
    fs::create_dir(opened.fixture.root().join("users")).unwrap();
    let made = opened.change(write("users/file", "x\n"));
    opened.undo(&one(made)).unwrap();
    assert_eq!(opened.fixture.all_names(), ["users"]);
}

#[test]
fn file_comes_back_into_a_folder_that_is_gone() {
    let opened = OpenFixture::new();
    opened.fixture.put("d/e/file", "x\n");
    let gone = opened.change(delete("d/e/file"));
    fs::remove_dir_all(opened.fixture.root().join("d")).unwrap();
    let undone = opened.undo(&one(gone)).unwrap();
    assert_eq!(opened.fixture.text("d/e/file").unwrap(), "x\n");
    opened.undo(&Undo::Run(RunNumber(undone.run))).unwrap();
    assert_eq!(opened.fixture.all_names(), [""; 0], "the folders were made for it");
}

#[test]
fn undo_writes_nothing_that_tools_may_not_write() {
    let opened = OpenFixture::new();
    opened.fixture.put("a/file", "1\n");
    opened.fixture.put("r", "1\n");
    let run = opened.reply(1, &[write("a/file", "2\n"), write("r", "2\n")]);
    fs::rename(opened.fixture.root().join("a"), opened.fixture.root().join("b")).unwrap();
    symlink("b", opened.fixture.root().join("a")).unwrap();
    opened.set_mode("r", 0o444);
    let refused = obstacles(opened.undo(&Undo::Run(run)));
    let reasons: Vec<_> = refused
        .iter()
        .map(|obstacle| match &obstacle.why {
            ObstacleKind::Closed(error) => error.reason(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(reasons, [Reason::IsSymlink, Reason::ReadOnly]);
    assert_eq!(opened.fixture.text("b/file").unwrap(), "2\n");
    drop(opened.workspace);
    let config = local_workspace::EngineConfig { read_only: true, ..opened.fixture.config() };
    let closed = opened.fixture.open_with(opened.journal.clone(), config).0;
    let error = closed.undo(&Caller::once().call(), &Undo::Run(run)).unwrap_err();
    assert!(matches!(error, UndoError::Workspace(error) if error.reason() == Reason::ReadOnly));
}

#[test]
fn pipe_does_not_come_back() {
    let opened = OpenFixture::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, opened.fixture.root().join("pipe"), rustix::fs::Mode::RWXU)
        .unwrap();
    let gone = opened.change(delete("pipe"));
    assert_eq!(obstacles(opened.undo(&one(gone)))[0].why, ObstacleKind::SpecialFile);
}

#[test]
fn what_commands_did_is_taken_back_and_those_of_unknown_end_are_named() {
    let opened = OpenFixture::new();
    let caller = Caller::numbered(1);
    opened.workspace.change_files(&caller.call(), &[write("a", "x\n")]).unwrap().remove(0).unwrap();
    let ran = command("echo made > by-command; echo y >> a");
    opened.workspace.execute_command(&caller.at(1).call(), &ran, &mut Unobserved).unwrap();
    // As if the process had died while this one ran, without a layer.
    let key = opened.journal.reader().runs(&RunFilter::default(), 1).unwrap().remove(0).key;
    let RunState::Resumed { run, .. } = opened.journal.begin_run(&key).unwrap() else { panic!("it is open") };
    opened.journal.start_step(run.number(), 2, StepKind::ShellCommand, "rm -r lost").unwrap();
    drop(run);
    let undone = opened.undo(&Undo::Conversation(caller.origin.conversation.clone())).unwrap();
    assert_eq!(undone.commands, ["rm -r lost"]);
    assert!(opened.fixture.all_names().is_empty(), "{:?}", opened.fixture.all_names());
}

#[test]
fn undo_asked_for_again_answers_from_its_record() {
    let opened = OpenFixture::new();
    let made = opened.change(write("a", "x\n"));
    let caller = Caller::once();
    let undone = opened.workspace.undo(&caller.call(), &one(made)).unwrap();
    opened.fixture.put("a", "x\n");
    assert_eq!(opened.workspace.undo(&caller.call(), &one(made)).unwrap(), undone);
    assert_eq!(opened.fixture.text("a").unwrap(), "x\n");
}

#[test]
fn unknown_numbers_and_changes_that_did_not_come_about_are_reported() {
    let opened = OpenFixture::new();
    assert!(matches!(opened.undo(&one(ChangeNumber(7))), Err(UndoError::Unknown { .. })));
    assert!(matches!(opened.undo(&Undo::Run(RunNumber(7))), Err(UndoError::Nothing)));
    let made = opened.change(write("a", "x\n"));
    opened.workspace.checkpoint();
    let key = change_journal::RunKey::once("other", b"1");
    let RunState::New(run) = opened.journal.begin_run(&key).unwrap() else { panic!("the run is new") };
    let step = StepRecord {
        kind: StepKind::FileChange,
        description: "write b",
        outcome: b"{}",
        changes: vec![ChangeRecord::intended(b"b", None, Some(EntryRecord::file(b"x\n")))],
    };
    let numbers = opened.journal.record_steps(run.number(), 0, &[step]).unwrap();
    opened.journal.conflict_change(numbers[0], b"{}").unwrap();
    opened.journal.flush().unwrap();
    assert!(matches!(opened.undo(&one(numbers[0])), Err(UndoError::NeverHappened { .. })));
    assert!(matches!(opened.undo(&Undo::Run(run.number())), Err(UndoError::Nothing)));
    assert_eq!(opened.fixture.text("a").unwrap(), "x\n");
    opened.undo(&one(made)).unwrap();
}

/// Records changes as a daemon does that is killed right after the commit.
fn promise(journal: &Journal, changes: Vec<ChangeRecord<'_>>) {
    let RunState::New(run) = journal.begin_run(&change_journal::RunKey::once("undo", b"killed")).unwrap()
    else {
        panic!("the run is new")
    };
    let step = StepRecord { kind: StepKind::FileChange, description: "undo", outcome: b"{}", changes };
    journal.record_steps(run.number(), 0, &[step]).unwrap();
}

#[test]
fn undo_that_a_crash_has_cut_short_is_carried_out() {
    let opened = OpenFixture::new();
    for name in ["tool", "aux.txt", "bits"] {
        opened.fixture.put(name, "#!/bin/sh\n");
        opened.set_mode(name, 0o755);
    }
    symlink("tool", opened.fixture.root().join("link")).unwrap();
    opened.reply(1, &[delete("tool"), delete("aux.txt"), write("n/o/p", "x\n"), delete("link")]);
    opened.reply(2, &[delete("bits")]);
    opened.reply(3, &[write("bits", "#!/bin/sh\n")]);
    opened.workspace.checkpoint();
    let OpenFixture { fixture, journal, workspace } = opened;
    drop(workspace);
    let file = |mode| EntryRecord {
        kind: EntryKind::File,
        content: Content::Held(ContentHash::of(b"#!/bin/sh\n")),
        mode: Some(mode),
        attributes: Attributes::Unknown,
    };
    let new_file = EntryRecord { content: Content::Held(ContentHash::of(b"x\n")), ..file(0o644) };
    let folder = EntryRecord {
        kind: EntryKind::Folder,
        content: Content::Bytes(b""),
        mode: None,
        attributes: Attributes::Unknown,
    };
    let link = EntryRecord {
        kind: EntryKind::Symlink,
        content: Content::Bytes(b"tool"),
        mode: None,
        attributes: Attributes::Unknown,
    };
    let now = fs::metadata(fixture.root().join("bits")).unwrap().permissions().mode() & 0o777;
    promise(
        &journal,
        vec![
            ChangeRecord::intended(b"n", Some(folder), None),
            ChangeRecord::intended(b"n/o", Some(folder), None),
            ChangeRecord::intended(b"n/o/p", Some(new_file), None),
            ChangeRecord::intended(b"tool", None, Some(file(0o755))),
            ChangeRecord::intended(b"aux.txt", None, Some(file(0o755))),
            ChangeRecord::intended(b"link", None, Some(link)),
            ChangeRecord::intended(b"bits", Some(file(now)), Some(file(0o755))),
            ChangeRecord::intended(b"x/y", None, Some(folder)),
        ],
    );
    drop(journal);
    let recovery = fixture.open_with(fixture.open_journal(), fixture.config()).1;
    assert_eq!(
        recovery.redone,
        ["aux.txt", "bits", "link", "n", "n/o", "n/o/p", "tool", "x/y"],
        "{recovery:?}"
    );
    assert_eq!(fixture.all_names(), ["aux.txt", "bits", "link", "tool", "x", "x/y"]);
    for name in ["tool", "aux.txt", "bits"] {
        let mode = fs::metadata(fixture.root().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o755, "{name}");
    }
    assert!(fixture.open_with(fixture.open_journal(), fixture.config()).1.is_empty());
}

#[test]
fn undo_that_a_crash_has_cut_short_answers_with_what_it_has_undone() {
    let opened = OpenFixture::new();
    for name in ["a", "b"] {
        opened.fixture.put(name, "old\n");
    }
    let run = opened.reply(1, &[write("a", "new\n"), write("b", "new\n")]);
    opened.workspace.checkpoint();
    let OpenFixture { fixture, journal, workspace } = opened;
    drop(workspace);
    let caller = Caller::numbered(2);
    let key = change_journal::RunKey {
        conversation: caller.origin.conversation.0.clone(),
        sequence: 2,
        content: ContentHash::of(caller.origin.run.digest.as_bytes()),
    };
    let RunState::New(undo) = journal.begin_run(&key).unwrap() else { panic!("the run is new") };
    let path = |name: &str, change: u64| serde_json::json!({ "path": name, "effect": "restored", "undoes": [change] });
    let outcome = serde_json::json!({ "outcome": { "Ok": {
        "run": undo.number().0, "paths": [path("a", 1), path("b", 2)], "keptFolders": [], "commands": [],
    } } });
    let [new, old] = [b"new\n", b"old\n"].map(|text| Some(EntryRecord::file(text)));
    let changes = ["a", "b"].map(|name| ChangeRecord::intended(name.as_bytes(), new, old)).into();
    let outcome = outcome.to_string();
    let kind = StepKind::FileChange;
    let step = StepRecord { kind, description: "undo", outcome: outcome.as_bytes(), changes };
    journal.record_steps(undo.number(), 0, &[step]).unwrap();
    drop((undo, journal));
    fixture.put("b", "the user's\n");
    let (workspace, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
    assert_eq!((recovery.redone, recovery.conflicts), (vec!["a".to_owned()], vec!["b".to_owned()]));
    let undone = workspace.undo(&caller.call(), &Undo::Run(run)).unwrap();
    let paths: Vec<_> = undone.paths.iter().map(|path| &*path.path).collect();
    assert_eq!((paths, undone.not_undoable), (vec!["a"], vec!["b".to_owned()]));
    assert_eq!(["a", "b"].map(|name| fixture.text(name).unwrap()), ["old\n", "the user's\n"]);
}

#[test]
fn an_undo_without_an_answer_is_reported_once() {
    for is_answered in [false, true] {
        let opened = OpenFixture::new();
        opened.fixture.put("a", "old\n");
        let run = opened.reply(1, &[write("a", "new\n")]);
        assert!(opened.workspace.unanswered_undo().unwrap().is_none(), "an answered change is not an undo");
        let undone = opened.undo(&Undo::Run(run)).unwrap();
        // The end of a run is committed lazily.
        assert!(opened.workspace.unanswered_undo().unwrap().is_none());
        let redone = opened.undo(&Undo::Run(RunNumber(undone.run))).unwrap();
        assert!(opened.workspace.unanswered_undo().unwrap().is_none());
        opened.workspace.checkpoint();
        let OpenFixture { fixture, journal, workspace } = opened;
        drop(workspace);
        if !is_answered {
            let key = change_journal::RunKey::once("undo", b"killed");
            let RunState::New(undo) = journal.begin_run(&key).unwrap() else { panic!("the run is new") };
            let path = serde_json::json!({ "path": "a", "effect": "restored", "undoes": [1] });
            let outcome = serde_json::json!({ "outcome": { "Ok": {
                "run": undo.number().0, "paths": [path], "keptFolders": [], "commands": [],
            } } });
            let [new, old] = [b"new\n", b"old\n"].map(|text| Some(EntryRecord::file(text)));
            let number = journal.reader().changes_of_run(RunNumber(redone.run)).unwrap()[0].number;
            let change = ChangeRecord { undoes: Some(number), ..ChangeRecord::intended(b"a", new, old) };
            let (outcome, kind) = (outcome.to_string(), StepKind::FileChange);
            let step =
                StepRecord { kind, description: "undo", outcome: outcome.as_bytes(), changes: vec![change] };
            journal.record_steps(undo.number(), 0, &[step]).unwrap();
        }
        drop(journal);
        let workspace = fixture.open_with(fixture.open_journal(), fixture.config()).0;
        let unanswered = workspace.unanswered_undo().unwrap();
        assert_eq!(unanswered.as_ref().map(|undone| undone.was_interrupted), (!is_answered).then_some(true));
        assert_eq!(fixture.text("a").unwrap(), if is_answered { "new\n" } else { "old\n" });
        assert!(workspace.unanswered_undo().unwrap().is_none(), "it is reported once");
        drop(workspace);
        let workspace = fixture.open_with(fixture.open_journal(), fixture.config()).0;
        assert!(workspace.unanswered_undo().unwrap().is_none(), "also by a later process");
    }
}

#[test]
fn save_in_the_moment_of_an_undo_stays_and_the_other_paths_go_back_to_how_they_were() {
    let opened = OpenFixture::new();
    // The saved file is the last of many, so that there is time between the commit and its turn.
    let names: Vec<_> = (0..60).map(|file| format!("f{file}")).chain(["last".to_owned()]).collect();
    let met = (1..100).any(|attempt| {
        let text = format!("{attempt}\n");
        let changes: Vec<_> = names.iter().map(|name| write(name, &text)).collect();
        let run = opened.reply(attempt, &changes);
        let newest = || opened.journal.reader().changes_of_path(b"last", 1).unwrap()[0].number;
        let before = newest();
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                while newest() == before {
                    std::thread::yield_now();
                }
                let beside = opened.fixture.path().join("save");
                fs::write(&beside, "the user's\n").unwrap();
                fs::rename(&beside, opened.fixture.root().join("last")).unwrap();
            });
            opened.undo(&Undo::Run(run))
        });
        assert_eq!(opened.fixture.text("last").unwrap(), "the user's\n");
        match outcome {
            Ok(_) => {
                fs::remove_file(opened.fixture.root().join("last")).unwrap();
                false
            }
            Err(UndoError::Obstacles(obstacles)) => {
                assert_eq!(obstacles.len(), 1, "{obstacles:?}");
                for name in &names[..60] {
                    assert_eq!(opened.fixture.text(name).as_deref(), Some(&*text), "{name}");
                }
                assert_eq!(opened.fixture.all_names().len(), 61);
                true
            }
            Err(error) => panic!("{error}"),
        }
    });
    assert!(met, "no save came between the commit and the file");
}

#[test]
fn a_content_that_cannot_be_read_now_is_no_content_that_was_not_kept() {
    let open = OpenFixture::new();
    // Large enough to be a separate file in the journal.
    let large = "a line of the first version\n".repeat(100_000);
    open.fixture.put("a", &large);
    let number = open.change(write("a", "short\n"));
    let blobs = open.fixture.path().join("state/journal/blobs");
    let stored = files_beneath(&blobs);
    let [stored] = &stored[..] else { panic!("one content is large: {stored:?}") };
    let moved = stored.with_extension("moved");
    fs::rename(stored, &moved).unwrap();
    fs::create_dir(stored).unwrap();
    let obstacles = obstacles(open.undo(&one(number)));
    assert!(matches!(obstacles[0].why, ObstacleKind::Closed(_)), "{obstacles:?}");
    assert_eq!(open.fixture.text("a").as_deref(), Some("short\n"));
    fs::remove_dir(stored).unwrap();
    fs::rename(&moved, stored).unwrap();
    open.undo(&one(number)).unwrap();
    assert_eq!(open.fixture.text("a").as_deref(), Some(&*large));
}

fn files_beneath(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_beneath(&path) } else { vec![path] }).collect()
}
