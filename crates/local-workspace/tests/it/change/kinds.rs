//! Changes of the kind of an entry that fail: a link that was to become a file stays, and a file that was to become a link.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use local_workspace::{EngineConfig, LocalWorkspace, Undo};
use wap_core::*;

use crate::fixture::faults::{end, with_faults};
use crate::fixture::workspace::*;
use test_support::folder_of_child;

fn link_target(fixture: &Fixture, name: &str) -> Option<PathBuf> {
    fs::read_link(fixture.root().join(name)).ok()
}

/// Has a link become a file in one batch. Returns the outcomes of both changes.
fn replace_link(workspace: &LocalWorkspace, name: &str, content: &str) -> Vec<Result<FileChanged, WapError>> {
    let batch = [delete(name), write(name, content)];
    workspace.change_files(&Caller::once().call(), &batch).unwrap()
}

#[test]
fn link_whose_name_no_file_may_have_is_deleted_and_not_written() {
    let fixture = Fixture::new();
    fixture.put("old", "old\n");
    symlink("old", fixture.root().join("a:b")).unwrap();
    let workspace = fixture.open();
    let outcomes = replace_link(&workspace, "a:b", "new\n");
    assert!(outcomes[0].is_ok(), "{outcomes:?}");
    assert_eq!(outcomes[1].as_ref().unwrap_err().reason(), Reason::InvalidName);
    assert_eq!(fixture.all_names(), ["old"]);
}

/// A workspace in a child in which only changes of files rename something.
fn open_for_faults(fixture: &Fixture) -> LocalWorkspace {
    let config = EngineConfig { layers_folder: None, ..fixture.config() };
    fixture.open_with(fixture.open_journal(), config).0
}

/// Renames to a name that must be free fail; a removal renames without that condition.
const PUBLISH_FAILS: &str = "renameat2:error=EIO";

/// Checks that the calls which were made to fail are those that are meant.
#[track_caller]
fn assert_is_injected(fixture: &Fixture, arguments: &str) {
    let trace = fs::read_to_string(fixture.path().join("trace")).unwrap();
    let injected: Vec<_> = trace.lines().filter(|line| line.contains("INJECTED")).collect();
    assert!(injected.iter().any(|line| line.contains(arguments)), "{trace}");
}

#[test]
fn link_that_cannot_become_a_file_stays() {
    let fixture = Fixture::new();
    symlink("target", fixture.root().join("link")).unwrap();
    let faults = [PUBLISH_FAILS.to_owned()];
    let text = with_faults("change::kinds::child_replaces_the_link", &fixture, "renameat2", &faults);
    assert_is_injected(&fixture, "\"link\", RENAME_NOREPLACE");
    assert!(!text.contains("nothing is at"), "{text}");
    assert_eq!(link_target(&fixture, "link").unwrap(), PathBuf::from("target"));
    assert_eq!(fixture.all_names(), ["link"]);
    // The change is not made later, either.
    let (_workspace, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
    assert!(recovery.is_empty(), "{recovery:?}");
    assert_eq!(link_target(&fixture, "link").unwrap(), PathBuf::from("target"));
}

#[test]
fn link_that_can_be_neither_replaced_nor_put_back_is_replaced_by_the_next_opening() {
    let fixture = Fixture::new();
    symlink("target", fixture.root().join("link")).unwrap();
    let faults = [PUBLISH_FAILS, "symlinkat:error=EIO:when=1"].map(str::to_owned);
    let calls = "renameat2,symlinkat";
    let text = with_faults("change::kinds::child_replaces_the_link", &fixture, calls, &faults);
    assert_is_injected(&fixture, "\"link\", RENAME_NOREPLACE");
    assert!(text.contains("nothing is at `link` now"), "{text}");
    assert_eq!(fixture.all_names(), Vec::<String>::new());
    let (_workspace, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
    assert_eq!(recovery.redone, ["link"], "{recovery:?}");
    assert_eq!(fixture.text("link").unwrap(), "a file\n");
}

#[test]
#[ignore = "runs as a child of link_that_cannot_become_a_file_stays"]
fn child_replaces_the_link() {
    let Some(folder) = folder_of_child() else { return };
    let fixture = Fixture::at(&folder);
    let outcomes = replace_link(&open_for_faults(&fixture), "link", "a file\n");
    for outcome in outcomes {
        println!("outcome: {}", outcome.unwrap_err());
    }
    end();
}

#[test]
fn file_that_cannot_become_a_link_again_stays() {
    let fixture = Fixture::new();
    symlink("target", fixture.root().join("link")).unwrap();
    let faults = ["symlinkat:error=EIO:when=1".to_owned()];
    with_faults("change::kinds::child_undoes_the_file", &fixture, "symlinkat", &faults);
    assert_is_injected(&fixture, "\"link\"");
    assert_eq!(fixture.text("link").unwrap(), "a file\n");
    assert_eq!(fixture.all_names(), ["link"]);
}

#[test]
fn file_that_can_be_neither_undone_nor_put_back_is_undone_by_the_next_opening() {
    let fixture = Fixture::new();
    symlink("target", fixture.root().join("link")).unwrap();
    // The second name that must be free is that of the restored file.
    let faults = ["symlinkat:error=EIO:when=1", "renameat2:error=EIO:when=2+"].map(str::to_owned);
    let text = with_faults("change::kinds::child_undoes_the_file", &fixture, "symlinkat,renameat2", &faults);
    assert_is_injected(&fixture, "\"link\", RENAME_NOREPLACE");
    assert!(text.contains("nothing is at `link` now"), "{text}");
    assert!(!text.contains("nothing was undone"), "{text}");
    assert_eq!(fixture.all_names(), Vec::<String>::new());
    let (_workspace, recovery) = fixture.open_with(fixture.open_journal(), fixture.config());
    assert_eq!(recovery.redone, ["link"], "{recovery:?}");
    assert_eq!(link_target(&fixture, "link").unwrap(), PathBuf::from("target"));
}

#[test]
#[ignore = "runs as a child of file_that_cannot_become_a_link_again_stays"]
fn child_undoes_the_file() {
    let Some(folder) = folder_of_child() else { return };
    let fixture = Fixture::at(&folder);
    let workspace = open_for_faults(&fixture);
    let outcomes = replace_link(&workspace, "link", "a file\n");
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    let run = fixture_run(&fixture);
    let error = workspace.undo(&Caller::once().call(), &Undo::Run(run)).unwrap_err();
    println!("outcome: {error}");
    end();
}

fn fixture_run(fixture: &Fixture) -> change_journal::RunNumber {
    let journal = change_journal::JournalReader::open(&fixture.path().join("state/journal")).unwrap();
    journal.latest_changes(None, 1).unwrap()[0].run
}
