//! A folder that does not distinguish upper and lower case: two spellings of a name are one file.

use std::fs;
use std::io::Write;

use change_journal::ChangeState;
use local_workspace::{LocalWorkspace, Undo, UndoError};
use wap_core::*;

use crate::fixture::caseless::{Stored, mount_over, run_in_namespace};
use crate::fixture::workspace::*;
use crate::recover::recovery::{Promised, promise};
use test_support::folder_of_child;

/// Runs this child where the workspace ignores case.
fn in_caseless_folder(child: &str) {
    let fixture = Fixture::new();
    run_in_namespace(&format!("change::caseless::{child}"), fixture.path());
    assert!(fixture.all_names().is_empty(), "the mount was not in a namespace of its own");
}

/// The fixture of such a child; `None` if the test was started on its own.
fn caseless_fixture() -> Option<Fixture> {
    fixture_that_stores(Stored::AsGiven)
}

fn fixture_that_stores(stored: Stored) -> Option<Fixture> {
    let fixture = Fixture::at(&folder_of_child()?);
    mount_over(&fixture.root(), stored);
    fixture.put("Probe", "x");
    assert_eq!(fixture.text("pROBE").as_deref(), Some("x"));
    fs::remove_file(fixture.root().join("Probe")).unwrap();
    Some(fixture)
}

fn batch(workspace: &impl Workspace, changes: &[FileChange]) -> Vec<Result<FileChanged, WapError>> {
    workspace.change_files(&Caller::once().call(), changes).unwrap()
}

fn create(path: &str, content: &str) -> FileChange {
    FileChange::Write(WriteFile {
        path: path.into(),
        content: content.into(),
        mode: Some(WriteMode::Create),
        create_directories: Some(true),
        judged: None,
    })
}

fn written_path(outcome: &Result<FileChanged, WapError>) -> &str {
    let Ok(FileChanged::Written(written)) = outcome else { panic!("{outcome:?}") };
    &written.path
}

#[test]
fn a_change_of_case_in_one_batch_keeps_the_file() {
    in_caseless_folder("child_changes_case");
}

#[test]
#[ignore = "runs as a child of a_change_of_case_in_one_batch_keeps_the_file"]
fn child_changes_case() {
    let Some(fixture) = caseless_fixture() else { return };
    let workspace = fixture.open();
    for (content, make) in [("new", write as fn(&str, &str) -> FileChange), ("old", create)] {
        fixture.put("A.txt", "old");
        let outcomes = batch(&workspace, &[delete("A.txt"), make("a.txt", content)]);
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        assert_eq!(written_path(&outcomes[1]), "a.txt");
        assert_eq!(
            (fixture.all_names(), fixture.text("a.txt").unwrap()),
            (vec!["a.txt".into()], content.into())
        );
        // The undo puts the old spelling back.
        undo_last(&workspace);
        assert_eq!(
            (fixture.all_names(), fixture.text("a.txt").unwrap()),
            (vec!["A.txt".into()], "old".into())
        );
        fs::remove_file(fixture.root().join("A.txt")).unwrap();
    }
}

fn undo_last(workspace: &LocalWorkspace) {
    let last = |journal: &change_journal::JournalReader| {
        let changes = journal.latest_changes(None, 1)?;
        Ok::<_, UndoError>(Undo::Run(changes[0].run))
    };
    workspace.undo_what(&Caller::once().call(), last, None).unwrap();
}

#[test]
fn two_spellings_in_one_batch_are_one_file() {
    in_caseless_folder("child_writes_two_spellings");
}

#[test]
#[ignore = "runs as a child of two_spellings_in_one_batch_are_one_file"]
fn child_writes_two_spellings() {
    let Some(fixture) = caseless_fixture() else { return };
    let workspace = fixture.open();
    let append = |path: &str, content: &str| {
        FileChange::Write(WriteFile {
            path: path.into(),
            content: content.into(),
            mode: Some(WriteMode::Append),
            create_directories: None,
            judged: None,
        })
    };
    // Without any name in it, nothing shows that the folder ignores case: then the second file finds its name taken.
    let outcomes = batch(&workspace, &[write("a", "1"), write("A", "2")]);
    assert_eq!(outcomes[1].as_ref().unwrap_err().reason(), Reason::FileExists, "{outcomes:?}");
    assert_eq!(fixture.text("a").as_deref(), Some("1"));
    // Both are new, in a folder that is there and in one that is not.
    for (one, other) in [("New.txt", "new.TXT"), ("Folder/New.txt", "folder/new.txt")] {
        let outcomes = batch(&workspace, &[write(one, "1\n"), append(other, "2\n"), create(other, "3\n")]);
        assert_eq!(written_path(&outcomes[1]), one, "{outcomes:?}");
        assert_eq!(outcomes[2].as_ref().unwrap_err().reason(), Reason::FileExists);
        let response = read(&workspace, other).unwrap();
        assert_eq!((response.metadata.path, response.content), (one.into(), "1\n2\n".into()));
        assert_eq!(fixture.text(one).as_deref(), Some("1\n2\n"));
        // It is there, and each spelling means it.
        let outcomes = batch(&workspace, &[append(other, "3\n"), replace(one, (1, 1), "one\n", None)]);
        assert_eq!(written_path(&outcomes[0]), one, "{outcomes:?}");
        assert!(outcomes[1].is_ok(), "{outcomes:?}");
        assert_eq!(fixture.text(one).as_deref(), Some("one\n2\n3\n"));
        undo_last(&workspace);
        assert_eq!(fixture.text(one).as_deref(), Some("1\n2\n"));
        // A deletion after it removes the one file.
        let outcomes =
            batch(&workspace, &[write(other, "4\n"), delete(one), write(other, "5\n"), delete(one)]);
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        assert_eq!(fixture.text(one), None);
    }
}

#[test]
fn recovery_takes_no_spelling_for_another() {
    in_caseless_folder("child_recovers");
}

#[test]
#[ignore = "runs as a child of recovery_takes_no_spelling_for_another"]
fn child_recovers() {
    let Some(fixture) = caseless_fixture() else { return };
    let gone = || Promised { path: "A.txt", before: Some("x"), after: None };
    let comes = || Promised { path: "a.txt", before: None, after: Some("x") };
    for (there, promised, state) in [
        // Before the files were touched, after it, and where the other program has changed the case.
        ("A.txt", vec![gone(), comes()], ChangeState::Intended),
        ("a.txt", vec![gone(), comes()], ChangeState::Intended),
        ("a.txt", vec![gone(), comes()], ChangeState::Published),
        ("a.txt", vec![gone()], ChangeState::Intended),
        ("a.txt", vec![gone()], ChangeState::Published),
    ] {
        fixture.put(there, "x");
        promise(&fixture.open_journal(), &promised, state);
        let (workspace, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
        assert!(recovery.conflicts.is_empty() && recovery.failed.is_empty(), "{there}: {recovery:?}");
        assert_eq!((fixture.all_names(), fixture.text("a.txt").unwrap()), (vec!["a.txt".into()], "x".into()));
        drop(workspace);
        fs::remove_file(fixture.root().join("a.txt")).unwrap();
        fs::remove_dir_all(fixture.path().join("state")).unwrap();
        fs::create_dir(fixture.path().join("state")).unwrap();
    }
}

#[test]
fn a_command_that_changes_case_keeps_the_file() {
    in_caseless_folder("child_runs_commands");
}

#[test]
#[ignore = "runs as a child of a_command_that_changes_case_keeps_the_file"]
fn child_runs_commands() {
    let Some(fixture) = caseless_fixture() else { return };
    // There is no layer over such a folder: the command changes it directly.
    let workspace = fixture.open();
    for text in ["mv A.txt b && mv b a.txt", "rm A.txt && echo old > a.txt"] {
        fixture.put("A.txt", "old\n");
        let ran = run(&workspace, text).unwrap();
        assert_eq!((ran.exit_code, fixture.all_names()), (0, vec!["a.txt".into()]), "{text}: {ran:?}");
        assert_eq!(fixture.text("a.txt").as_deref(), Some("old\n"), "{text}");
        undo_last(&workspace);
        assert_eq!(
            (fixture.all_names(), fixture.text("A.txt").unwrap()),
            (vec!["A.txt".into()], "old\n".into())
        );
        fs::remove_file(fixture.root().join("A.txt")).unwrap();
    }
}

#[test]
fn names_that_are_stored_in_another_form_are_still_the_recorded_ones() {
    in_caseless_folder("child_stores_in_upper_case");
}

#[test]
#[ignore = "runs as a child of names_that_are_stored_in_another_form_are_still_the_recorded_ones"]
fn child_stores_in_upper_case() {
    let Some(fixture) = fixture_that_stores(Stored::UpperCase) else { return };
    // The exchange was made, and the crash came before that was noted.
    fixture.put("made", "x");
    let made = Promised { path: "made", before: None, after: Some("x") };
    promise(&fixture.open_journal(), &[made], ChangeState::Intended);
    let (workspace, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
    assert!(recovery.is_empty(), "{recovery:?}");
    assert_eq!(written_path(&batch(&workspace, &[write("new", "1")])[0]), "new");
    assert_eq!(fixture.all_names(), ["MADE", "NEW"]);
    undo_last(&workspace);
    assert_eq!(fixture.all_names(), ["MADE"]);
}

#[test]
fn times_of_another_machine_do_not_say_that_a_file_has_not_changed() {
    in_caseless_folder("child_looks_at_times");
}

#[test]
#[ignore = "runs as a child of times_of_another_machine_do_not_say_that_a_file_has_not_changed"]
fn child_looks_at_times() {
    let Some(fixture) = caseless_fixture() else { return };
    let workspace = fixture.open();
    let caller = Caller::once();
    let states = |since: Option<&Moment>| {
        let mut states = workspace.file_states(&caller.call(), &["file".into()], since).unwrap();
        (states.moment, states.files.remove(0).unwrap())
    };
    // The clock of the other machine lags by years, and has not ticked between the two writes.
    let write_there = |content: &str| {
        fixture.put("file", content);
        fs::File::options()
            .write(true)
            .open(fixture.root().join("file"))
            .unwrap()
            .set_modified(long_ago())
            .unwrap();
    };
    write_there("1\n");
    let (moment, first) = states(None);
    write_there("2\n");
    let (_, second) = states(Some(&moment));
    assert_ne!(first.version, second.version);
    assert!(second.has_changed);
    // What was written through us before the moment is known.
    change(&workspace, write("file", "3\n")).unwrap();
    let (moment, _) = states(None);
    assert!(!states(Some(&moment)).1.has_changed);
}

fn long_ago() -> std::time::SystemTime {
    std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000)
}

#[test]
fn where_case_counts_two_spellings_are_two_files() {
    let fixture = Fixture::new();
    let workspace = fixture.open();
    fixture.put("A.txt", "old");
    let outcomes = batch(&workspace, &[write("a.txt", "1"), write("Folder/b", "2"), write("folder/B", "3")]);
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let outcomes = batch(&workspace, &[delete("A.txt"), create("a.TXT", "4")]);
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(fixture.all_names(), ["Folder", "Folder/b", "a.TXT", "a.txt", "folder", "folder/B"]);
}

#[test]
fn a_late_write_is_found_where_another_clock_gives_the_times() {
    in_caseless_folder("child_writes_late");
}

#[test]
#[ignore = "runs as a child of a_late_write_is_found_where_another_clock_gives_the_times"]
fn child_writes_late() {
    let Some(fixture) = caseless_fixture() else { return };
    let workspace = fixture.open();
    fixture.put("file", "a\n");
    let mut program = fs::OpenOptions::new().write(true).open(fixture.root().join("file")).unwrap();
    // A clock that lags, and has not ticked between two writes.
    let behind = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    program.set_modified(behind).unwrap();
    assert!(batch(&workspace, &[write("file", "ours\n")])[0].is_ok());
    workspace.checkpoint();
    assert_eq!(workspace.late_writes(), []);
    program.write_all(b"b\n").unwrap();
    program.set_modified(behind).unwrap();
    workspace.checkpoint();
    let late = workspace.late_writes();
    let kept: Vec<_> = late.into_iter().map(|late| fixture.text(&late.kept_as.unwrap()).unwrap()).collect();
    assert_eq!(kept, ["b\n"]);
}
