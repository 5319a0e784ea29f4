//! A disk that fails to sync a user's file: the change stays unsettled and marked, is reported, and the file is
//! rewritten before it is trusted.
//!
//! `strace` makes the calls fail, in a process of its own.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use change_journal::{DocumentWrite, Journal, JournalLimits};
use local_workspace::{EngineConfig, Recovery, Undo, UndoError};
use wap_core::Workspace;

use crate::fixture::faults::{end, run_child, strace, with_faults};
use crate::fixture::workspace::*;
use test_support::folder_of_child;

/// Runs an ignored test in a process in which `fault` is what becomes of the syncs of a file or folder of the workspace.
/// Answers with how many syncs it became of.
#[track_caller]
fn with_failing_syncs(child_name: &str, fixture: &Fixture, name: &str, fault: &str) -> usize {
    let mut command = strace(fixture, "fsync", &[format!("fsync:{fault}")]);
    command.arg("-P").arg(fixture.root().join(name));
    run_child(command, child_name, fixture);
    fs::read_to_string(fixture.path().join("trace")).unwrap().matches("INJECTED").count()
}

fn inode(fixture: &Fixture, name: &str) -> u64 {
    fs::metadata(fixture.root().join(name)).unwrap().ino()
}

fn unsettled(journal: &Journal) -> usize {
    journal.reader().unsettled_changes().unwrap().len()
}

fn is_marked(journal: &Journal) -> bool {
    !journal.reader().documents("unsynced/").unwrap().is_empty()
}

#[test]
fn file_that_the_disk_did_not_take_is_written_again_at_once() {
    let fixture = Fixture::new();
    fixture.put("d/file", "1\n");
    let child = "recover::failed_syncs::child_changes_a_file_that_is_taken_in_the_end";
    assert_eq!(with_failing_syncs(child, &fixture, "d/file", "error=EIO:when=1"), 1);
    assert_eq!(fixture.text("d/file").unwrap(), "one\n");
    assert_eq!(unsettled(&fixture.open_journal()), 0);
}

#[test]
#[ignore = "runs as a child of file_that_the_disk_did_not_take_is_written_again_at_once"]
fn child_changes_a_file_that_is_taken_in_the_end() {
    let Some(folder) = folder_of_child() else { return };
    let fixture = Fixture::at(&folder);
    let workspace = fixture.open();
    change(&workspace, write("d/file", "one\n")).unwrap();
    let first = inode(&fixture, "d/file");
    workspace.checkpoint();
    assert_ne!(inode(&fixture, "d/file"), first, "the same file was only synced once more");
    assert!(workspace.unsynced().is_empty());
    drop(workspace);
    end();
}

#[test]
fn file_that_the_disk_did_not_take_is_written_again_by_the_next_opening() {
    for name in ["d/file", "d"] {
        let fixture = Fixture::new();
        fixture.put("d/file", "1\n");
        let child = "recover::failed_syncs::child_changes_a_file_that_is_not_taken";
        assert!(with_failing_syncs(child, &fixture, name, "error=EIO") > 0);
        let journal = fixture.open_journal();
        assert!(unsettled(&journal) > 0 && is_marked(&journal), "{name}: the failure was forgotten");
        drop(journal);

        // The sync fails again.
        let child = "recover::failed_syncs::child_opens_and_cannot_make_sure";
        assert!(with_failing_syncs(child, &fixture, "d", "error=EIO") > 0);
        let journal = fixture.open_journal();
        assert!(unsettled(&journal) > 0 && is_marked(&journal), "{name}: the failure was forgotten");
        drop(journal);

        let before = inode(&fixture, "d/file");
        // Now it does. What is there is not believed, although it looks right.
        let (workspace, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
        assert_eq!(recovery.redone, ["d/file"], "{name}: {recovery:?}");
        assert_ne!(inode(&fixture, "d/file"), before, "{name}: the same file was only synced once more");
        assert_eq!(fixture.text("d/file").unwrap(), "one\n");
        workspace.checkpoint();
        drop(workspace);
        let journal = fixture.open_journal();
        assert!(unsettled(&journal) == 0 && !is_marked(&journal), "{name}");
        assert_eq!(fixture.open_with(journal, fixture.config()).1, Recovery::default());
    }
}

#[test]
#[ignore = "runs as a child of file_that_the_disk_did_not_take_is_written_again_by_the_next_opening"]
fn child_changes_a_file_that_is_not_taken() {
    let Some(folder) = folder_of_child() else { return };
    let fixture = Fixture::at(&folder);
    // Where only the sync by the file's name fails, the file is taken when it is written again. The process ends before the
    // journal has noted that, however slow the machine is.
    let limits = JournalLimits { lazy_delay: Duration::from_secs(600), ..JournalLimits::default() };
    let (journal, _) = Journal::open(&folder.join("state/journal"), limits).unwrap();
    let (workspace, _) = fixture.open_with(journal, fixture.config());
    change(&workspace, write("d/file", "one\n")).unwrap();
    workspace.checkpoint();
    if fs::read_to_string(folder.join("trace")).is_ok_and(|trace| trace.matches("INJECTED").count() > 1) {
        assert_eq!(workspace.unsynced(), ["d/file"]);
    }
    end();
}

#[test]
#[ignore = "runs as a child of file_that_the_disk_did_not_take_is_written_again_by_the_next_opening"]
fn child_opens_and_cannot_make_sure() {
    let Some(folder) = folder_of_child() else { return };
    let fixture = Fixture::at(&folder);
    let (_workspace, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
    assert_eq!(recovery.failed.len(), 1, "{recovery:?}");
    assert_eq!(recovery.failed[0].0, "d/file");
    end();
}

#[test]
fn undo_that_can_be_neither_finished_nor_put_back_says_so() {
    let mut outcomes = std::collections::BTreeSet::new();
    // From some sync of the journal on, all of them fail; which one is that of putting back is found out.
    for number in 8..20 {
        let fixture = Fixture::new();
        drop(fixture.open_journal());
        let faults = [format!("fsync:error=EIO:when={number}+"), "renameat2:error=EIO:when=4".to_owned()];
        let child = "recover::failed_syncs::child_undoes_in_parts";
        let text = with_faults(child, &fixture, "fsync,renameat2", &faults);
        let reported = text
            .split_once("outcome: ")
            .map_or("not opened", |(_, reported)| reported.lines().next().unwrap());
        let files = ["a", "b"].map(|name| fixture.text(name).unwrap_or_default());
        let is_all_or_nothing = match reported.split_whitespace().next().unwrap() {
            // What was refused from the start changed nothing.
            "not" => true,
            "Journal" | "Workspace" | "Obstacles" => files == ["new\n", "new\n"],
            "InParts" => {
                assert!(reported.contains("`a`") && reported.contains("`b`"), "{reported}");
                files == ["old\n", "new\n"]
            }
            other => panic!("{number}: {other}: {text}"),
        };
        assert!(is_all_or_nothing, "{number}: {reported}: {files:?}");
        outcomes.insert(reported.split_whitespace().next().unwrap().to_owned());
    }
    assert!(outcomes.contains("InParts") && outcomes.contains("Obstacles"), "{outcomes:?}");
}

#[test]
fn undo_whose_files_cannot_be_put_back_says_so() {
    let fixture = Fixture::new();
    // Two changes, the first file of the undo; from the second one on nothing is renamed any more.
    let faults = ["renameat2:error=EIO:when=4+".to_owned()];
    let child = "recover::failed_syncs::child_undoes_in_parts";
    let text = with_faults(child, &fixture, "renameat2", &faults);
    let reported = text.split_once("outcome: ").unwrap().1.lines().next().unwrap();
    assert_eq!(["a", "b"].map(|name| fixture.text(name).unwrap()), ["old\n", "new\n"], "{reported}");
    assert!(reported.starts_with("InParts only a part was undone: `a`; "), "{reported}");
    assert!(reported.contains("`b`") && reported.contains("could not be reverted: `a`"), "{reported}");
    // It is no conflict: no other program was there.
    assert!(text.contains("again: WriteError"), "{text}");
}

#[test]
#[ignore = "runs as a child of undo_that_can_be_neither_finished_nor_put_back_says_so"]
fn child_undoes_in_parts() {
    let Some(folder) = folder_of_child() else { return };
    let fixture = Fixture::at(&folder);
    fixture.put("a", "old\n");
    fixture.put("b", "old\n");
    // Only commits that are waited for, so that each sync has its number.
    let limits = JournalLimits { lazy_delay: Duration::from_secs(600), ..JournalLimits::default() };
    let Ok((journal, _)) = Journal::open(&folder.join("state/journal"), limits) else { end() };
    // Nothing but changes of files is renamed.
    let config = EngineConfig { layers_folder: None, ..fixture.config() };
    let (workspace, _) = fixture.open_with(journal.clone(), config);
    // The writing thread makes more syncs than the one that opens the journal, which is not what is tried here.
    for _ in 0..8 {
        let _ = journal.write_documents(&[DocumentWrite::Put { name: "x", bytes: b"" }]);
    }
    let caller = Caller::numbered(1);
    let changes = [write("a", "new\n"), write("b", "new\n")];
    if !workspace.change_files(&caller.call(), &changes).is_ok_and(|done| done.iter().all(Result::is_ok)) {
        end();
    }
    let run = journal.reader().latest_changes(None, 1).unwrap()[0].run;
    let caller = Caller::once();
    let reported = match workspace.undo(&caller.call(), &Undo::Run(run)) {
        Ok(_) => "Done".to_owned(),
        Err(error @ UndoError::Obstacles(_)) => format!("Obstacles {error}"),
        Err(error @ UndoError::InParts { .. }) => format!("InParts {error}"),
        Err(error @ UndoError::Workspace(_)) => format!("Workspace {error}"),
        Err(error @ UndoError::Journal(_)) => format!("Journal {error}"),
        Err(error) => format!("{error:?}"),
    };
    println!("outcome: {reported}");
    // The same call once more answers from its record.
    if let Err(UndoError::Workspace(error)) = workspace.undo(&caller.call(), &Undo::Run(run)) {
        println!("again: {:?}", error.reason());
    }
    end();
}

#[test]
fn change_that_was_never_synced_does_not_come_back_over_a_newer_one() {
    let fixture = Fixture::new();
    fixture.put("d/file", "1\n");
    let child = "recover::failed_syncs::child_changes_a_file_that_is_not_taken";
    assert!(with_failing_syncs(child, &fixture, "d", "error=EIO") > 0);
    // As another version of this program leaves it, which settles each change by itself: the newer change takes the file
    // back to what it was, and is settled.
    let journal = fixture.open_journal();
    let undo =
        crate::recover::recovery::Promised { path: "d/file", before: Some("one\n"), after: Some("1\n") };
    crate::recover::recovery::promise(&journal, &[undo], change_journal::ChangeState::Settled);
    drop(journal);
    fixture.put("d/file", "1\n");
    let database = rusqlite::Connection::open(fixture.path().join("state/journal/journal.db")).unwrap();
    database.execute("UPDATE opening SET boot_id = 'an earlier start'", []).unwrap();
    drop(database);
    let (_workspace, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
    assert_eq!(recovery, Recovery::default());
    assert_eq!(fixture.text("d/file").unwrap(), "1\n");
}

#[test]
fn sync_that_was_not_made_or_that_a_folder_does_not_have_is_no_failure_of_the_disk() {
    // A file system whose folders have no sync, and a call that is interrupted.
    for (name, fault) in [("d", "error=EINVAL"), ("d/file", "error=EINTR:when=1")] {
        let fixture = Fixture::new();
        fixture.put("d/file", "1\n");
        let child = "recover::failed_syncs::child_changes_a_file_that_is_synced_once_more";
        assert!(with_failing_syncs(child, &fixture, name, fault) > 0, "{name}");
        let journal = fixture.open_journal();
        assert!(unsettled(&journal) == 0 && !is_marked(&journal), "{name}");
    }
}

#[test]
#[ignore = "runs as a child of sync_that_was_not_made_or_that_a_folder_does_not_have_is_no_failure_of_the_disk"]
fn child_changes_a_file_that_is_synced_once_more() {
    let Some(folder) = folder_of_child() else { return };
    let fixture = Fixture::at(&folder);
    let workspace = fixture.open();
    change(&workspace, write("d/file", "one\n")).unwrap();
    let first = inode(&fixture, "d/file");
    for _ in 0..2 {
        workspace.checkpoint();
        assert!(workspace.unsynced().is_empty());
    }
    assert_eq!(inode(&fixture, "d/file"), first, "the file was written again");
    drop(workspace);
    end();
}
