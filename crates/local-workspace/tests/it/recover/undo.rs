//! Changes are taken back as a whole or not at all, and nobody's work is lost by it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use change_journal::{
    Attributes, ChangeNumber, ChangeRecord, Content, ContentHash, EntryKind, EntryRecord, Journal, RunFilter,
    RunNumber, RunState, StepKind, StepRecord,
};
use local_workspace::{LocalWorkspace, ObstacleKind, Undo, UndoEffect, UndoError, UndoObstacle, Undone};
use wap_core::*;

use crate::fixture::workspace::*;

struct Place {
    fixture: Fixture,
    journal: Journal,
    workspace: LocalWorkspace,
}

impl Place {
    fn new() -> Place {
        let fixture = Fixture::new();
        let journal = fixture.open_journal();
        let workspace = fixture.open_with(journal.clone(), fixture.config()).0;
        Place { fixture, journal, workspace }
    }

    fn undo(&self, what: &Undo) -> Result<Undone, UndoError> {
        self.workspace.undo(&Caller::once().call(), what)
    }

    /// Carries out one change and returns its number.
    fn change(&self, asked: FileChange) -> ChangeNumber {
        change(&self.workspace, asked).unwrap();
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
    let place = Place::new();
    place.fixture.put("a", "1\n2\n");
    let edit = place.change(replace("a", (2, 2), "two", None));
    let undone = place.undo(&one(edit)).unwrap();
    assert_eq!(effects(&undone), [("a", UndoEffect::Restored)]);
    assert_eq!(undone.paths[0].undoes, [edit.0]);
    assert_eq!(place.fixture.text("a").unwrap(), "1\n2\n");
    let refused = place.undo(&one(edit)).unwrap_err();
    assert!(matches!(refused, UndoError::AlreadyUndone { number, .. } if number == edit), "{refused}");
    let redone = place.undo(&Undo::Run(RunNumber(undone.run))).unwrap();
    assert_eq!(place.fixture.text("a").unwrap(), "1\ntwo\n");
    assert!(matches!(place.undo(&Undo::Run(RunNumber(undone.run))), Err(UndoError::Nothing)));
    // Either the change or the undo of its undo may be named.
    place.undo(&one(edit)).unwrap();
    assert_eq!(place.fixture.text("a").unwrap(), "1\n2\n");
    assert!(matches!(place.undo(&Undo::Run(RunNumber(redone.run))), Err(UndoError::Nothing)));
}

#[test]
fn reply_is_taken_back_as_a_whole() {
    let place = Place::new();
    place.fixture.put("edited", "1\n2\n3\n");
    place.fixture.put("tool", "#!/bin/sh\n");
    place.set_mode("tool", 0o755);
    place.fixture.put("target", "t\n");
    symlink("target", place.fixture.root().join("link")).unwrap();
    let before = place.fixture.all_names();
    let run = place.reply(
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
    let after = place.fixture.all_names();
    let undone = place.undo(&Undo::Run(run)).unwrap();
    assert_eq!(place.fixture.all_names(), before);
    assert_eq!(place.fixture.text("edited").unwrap(), "1\n2\n3\n");
    assert_eq!(place.mode("tool"), 0o755);
    assert_eq!(fs::read_link(place.fixture.root().join("link")).unwrap().to_str(), Some("target"));
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
    assert_eq!(place.journal.counts().commits, 2, "one for the reply, one for the undo");
    place.undo(&Undo::Run(RunNumber(undone.run))).unwrap();
    assert_eq!(place.fixture.all_names(), after);
    assert_eq!(place.fixture.text("edited").unwrap(), "one\n2\nthree\n");
}

#[test]
fn file_that_somebody_has_changed_since_keeps_everything_as_it_is_and_shows_the_difference() {
    let place = Place::new();
    place.fixture.put("mine", "1\n2\n");
    let run = place.reply(1, &[write("b", "x\n"), replace("mine", (1, 1), "one", None), write("z", "x\n")]);
    place.fixture.put("mine", "one\n2\nthe user's\n");
    let names = place.fixture.all_names();
    let refused = obstacles(place.undo(&Undo::Run(run)));
    let [obstacle] = &refused[..] else { panic!("{refused:?}") };
    assert_eq!((&*obstacle.path, &obstacle.why), ("mine", &ObstacleKind::ChangedSince));
    assert_eq!(obstacle.diff, "--- a/mine\n+++ b/mine\n@@ -1,2 +1,3 @@\n one\n 2\n+the user's\n");
    assert_eq!(place.fixture.all_names(), names);
    assert_eq!(place.fixture.text("mine").unwrap(), "one\n2\nthe user's\n");
    // Without the user's line it goes.
    place.fixture.put("mine", "one\n2\n");
    place.undo(&Undo::Run(run)).unwrap();
    assert_eq!(place.fixture.text("mine").unwrap(), "1\n2\n");
    assert_eq!(place.fixture.all_names(), ["mine"]);
}

#[test]
fn files_that_are_gone_or_something_else_are_obstacles() {
    let place = Place::new();
    place.fixture.put("deleted", "d\n");
    let run = place.reply(1, &[write("gone", "x\n"), write("folder now", "x\n"), delete("deleted")]);
    fs::remove_file(place.fixture.root().join("gone")).unwrap();
    fs::remove_file(place.fixture.root().join("folder now")).unwrap();
    fs::create_dir(place.fixture.root().join("folder now")).unwrap();
    place.fixture.put("deleted", "the user's\n");
    let refused = obstacles(place.undo(&Undo::Run(run)));
    let found: Vec<_> = refused.iter().map(|obstacle| (&*obstacle.path, &obstacle.why)).collect();
    let changed = &ObstacleKind::ChangedSince;
    assert_eq!(found, [("deleted", changed), ("folder now", changed), ("gone", changed)]);
    assert_eq!(place.fixture.text("deleted").unwrap(), "the user's\n");
}

#[test]
fn later_change_of_ours_has_to_be_undone_first_or_as_well() {
    let place = Place::new();
    place.fixture.put("a", "0\n");
    let first = place.change(write("a", "1\n"));
    let second = place.change(write("a", "2\n"));
    let third = place.change(write("a", "1\n"));
    // The file is as the first has left it, and still the first is not what is on top.
    let refused = obstacles(place.undo(&one(first)));
    assert_eq!(refused[0].why, ObstacleKind::LaterChange(third));
    let text = UndoError::Obstacles(refused).to_string();
    assert!(text.contains(&format!("change {third}")), "{text}");
    let gap = obstacles(place.undo(&Undo::Changes(vec![first, third])));
    assert_eq!(gap[0].why, ObstacleKind::LaterChange(second));
    place.undo(&one(third)).unwrap();
    assert_eq!(place.fixture.text("a").unwrap(), "2\n");
    place.undo(&Undo::Changes(vec![first, second])).unwrap();
    assert_eq!(place.fixture.text("a").unwrap(), "0\n");
}

#[test]
fn permission_bits_of_the_user_stay_and_ours_come_back() {
    let place = Place::new();
    place.fixture.put("edited", "1\n");
    place.fixture.put("replaced", "1\n");
    place.set_mode("replaced", 0o750);
    let run = place.reply(1, &[write("edited", "2\n"), delete("replaced")]);
    let second = place.reply(2, &[write("replaced", "2\n")]);
    place.set_mode("edited", 0o700);
    place.undo(&Undo::Run(second)).unwrap();
    place.undo(&Undo::Run(run)).unwrap();
    assert_eq!((place.mode("edited"), place.mode("replaced")), (0o700, 0o750));
    assert_eq!(place.fixture.text("edited").unwrap(), "1\n");
}

#[test]
fn folder_with_something_of_the_users_stays() {
    let place = Place::new();
    let made = place.change(write("new/deep/file", "x\n"));
    place.fixture.put("new/users", "u\n");
    let undone = place.undo(&one(made)).unwrap();
    assert_eq!(undone.kept_folders, ["new"]);
    let folder = place.journal.reader().changes_of_path(b"new", 1).unwrap()[0].number;
    assert_eq!(obstacles(place.undo(&one(folder)))[0].why, ObstacleKind::NotEmpty);
    assert_eq!(place.fixture.all_names(), ["new", "new/users"]);
}

#[test]
fn folder_that_was_there_before_stays_without_its_files() {
    let place = Place::new();
    fs::create_dir(place.fixture.root().join("users")).unwrap();
    let made = place.change(write("users/file", "x\n"));
    place.undo(&one(made)).unwrap();
    assert_eq!(place.fixture.all_names(), ["users"]);
}

#[test]
fn file_comes_back_into_a_folder_that_is_gone() {
    let place = Place::new();
    place.fixture.put("d/e/file", "x\n");
    let gone = place.change(delete("d/e/file"));
    fs::remove_dir_all(place.fixture.root().join("d")).unwrap();
    let undone = place.undo(&one(gone)).unwrap();
    assert_eq!(place.fixture.text("d/e/file").unwrap(), "x\n");
    place.undo(&Undo::Run(RunNumber(undone.run))).unwrap();
    assert_eq!(place.fixture.all_names(), [""; 0], "the folders were made for it");
}

#[test]
fn undo_writes_nothing_that_tools_may_not_write() {
    let place = Place::new();
    place.fixture.put("a/file", "1\n");
    place.fixture.put("r", "1\n");
    let run = place.reply(1, &[write("a/file", "2\n"), write("r", "2\n")]);
    fs::rename(place.fixture.root().join("a"), place.fixture.root().join("b")).unwrap();
    symlink("b", place.fixture.root().join("a")).unwrap();
    place.set_mode("r", 0o444);
    let refused = obstacles(place.undo(&Undo::Run(run)));
    let reasons: Vec<_> = refused
        .iter()
        .map(|obstacle| match &obstacle.why {
            ObstacleKind::Closed(error) => error.reason(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(reasons, [Reason::IsSymlink, Reason::ReadOnly]);
    assert_eq!(place.fixture.text("b/file").unwrap(), "2\n");
    drop(place.workspace);
    let config = local_workspace::EngineConfig { read_only: true, ..place.fixture.config() };
    let closed = place.fixture.open_with(place.journal.clone(), config).0;
    let error = closed.undo(&Caller::once().call(), &Undo::Run(run)).unwrap_err();
    assert!(matches!(error, UndoError::Workspace(error) if error.reason() == Reason::ReadOnly));
}

#[test]
fn pipe_does_not_come_back() {
    let place = Place::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, place.fixture.root().join("pipe"), rustix::fs::Mode::RWXU).unwrap();
    let gone = place.change(delete("pipe"));
    assert_eq!(obstacles(place.undo(&one(gone)))[0].why, ObstacleKind::SpecialFile);
}

#[test]
fn what_commands_did_is_taken_back_and_those_of_unknown_end_are_named() {
    let place = Place::new();
    let caller = Caller::numbered(1);
    place.workspace.change_files(&caller.call(), &[write("a", "x\n")]).unwrap().remove(0).unwrap();
    let ran = command("echo made > by-command; echo y >> a");
    place.workspace.execute_command(&caller.at(1).call(), &ran, &mut Unobserved).unwrap();
    // As if the process had died while this one ran, without a layer.
    let key = place.journal.reader().runs(&RunFilter::default(), 1).unwrap().remove(0).key;
    let RunState::Resumed { run, .. } = place.journal.begin_run(&key).unwrap() else { panic!("it is open") };
    place.journal.start_step(run.number(), 2, StepKind::ShellCommand, "rm -r lost").unwrap();
    drop(run);
    let undone = place.undo(&Undo::Conversation(caller.origin.conversation.clone())).unwrap();
    assert_eq!(undone.commands, ["rm -r lost"]);
    assert!(place.fixture.all_names().is_empty(), "{:?}", place.fixture.all_names());
}

#[test]
fn undo_asked_for_again_answers_from_its_record() {
    let place = Place::new();
    let made = place.change(write("a", "x\n"));
    let caller = Caller::once();
    let undone = place.workspace.undo(&caller.call(), &one(made)).unwrap();
    place.fixture.put("a", "x\n");
    assert_eq!(place.workspace.undo(&caller.call(), &one(made)).unwrap(), undone);
    assert_eq!(place.fixture.text("a").unwrap(), "x\n");
}

#[test]
fn unknown_numbers_and_changes_that_did_not_come_about_are_told() {
    let place = Place::new();
    assert!(matches!(place.undo(&one(ChangeNumber(7))), Err(UndoError::Unknown { .. })));
    assert!(matches!(place.undo(&Undo::Run(RunNumber(7))), Err(UndoError::Nothing)));
    let made = place.change(write("a", "x\n"));
    place.workspace.checkpoint();
    let key = change_journal::RunKey::once("other", b"1");
    let RunState::New(run) = place.journal.begin_run(&key).unwrap() else { panic!("the run is new") };
    let step = StepRecord {
        kind: StepKind::FileChange,
        description: "write b",
        outcome: b"{}",
        changes: vec![ChangeRecord::intended(b"b", None, Some(EntryRecord::file(b"x\n")))],
    };
    let numbers = place.journal.record_steps(run.number(), 0, &[step]).unwrap();
    place.journal.conflict_change(numbers[0], b"{}").unwrap();
    place.journal.flush().unwrap();
    assert!(matches!(place.undo(&one(numbers[0])), Err(UndoError::NeverHappened { .. })));
    assert!(matches!(place.undo(&Undo::Run(run.number())), Err(UndoError::Nothing)));
    assert_eq!(place.fixture.text("a").unwrap(), "x\n");
    place.undo(&one(made)).unwrap();
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
    let place = Place::new();
    for name in ["tool", "aux.txt", "bits"] {
        place.fixture.put(name, "#!/bin/sh\n");
        place.set_mode(name, 0o755);
    }
    symlink("tool", place.fixture.root().join("link")).unwrap();
    place.reply(1, &[delete("tool"), delete("aux.txt"), write("n/o/p", "x\n"), delete("link")]);
    place.reply(2, &[delete("bits")]);
    place.reply(3, &[write("bits", "#!/bin/sh\n")]);
    place.workspace.checkpoint();
    let Place { fixture, journal, workspace } = place;
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
fn save_in_the_moment_of_an_undo_stays_and_the_other_paths_go_back_to_how_they_were() {
    let place = Place::new();
    // The saved file is the last of many, so that there is time between the commit and its turn.
    let names: Vec<_> = (0..60).map(|file| format!("f{file}")).chain(["last".to_owned()]).collect();
    let met = (1..100).any(|attempt| {
        let text = format!("{attempt}\n");
        let changes: Vec<_> = names.iter().map(|name| write(name, &text)).collect();
        let run = place.reply(attempt, &changes);
        let newest = || place.journal.reader().changes_of_path(b"last", 1).unwrap()[0].number;
        let known = newest();
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                while newest() == known {
                    std::thread::yield_now();
                }
                let beside = place.fixture.path().join("save");
                fs::write(&beside, "the user's\n").unwrap();
                fs::rename(&beside, place.fixture.root().join("last")).unwrap();
            });
            place.undo(&Undo::Run(run))
        });
        assert_eq!(place.fixture.text("last").unwrap(), "the user's\n");
        match outcome {
            Ok(_) => {
                fs::remove_file(place.fixture.root().join("last")).unwrap();
                false
            }
            Err(UndoError::Obstacles(obstacles)) => {
                assert_eq!(obstacles.len(), 1, "{obstacles:?}");
                for name in &names[..60] {
                    assert_eq!(place.fixture.text(name).as_deref(), Some(&*text), "{name}");
                }
                assert_eq!(place.fixture.all_names().len(), 61);
                true
            }
            Err(error) => panic!("{error}"),
        }
    });
    assert!(met, "no save came between the commit and the file");
}
