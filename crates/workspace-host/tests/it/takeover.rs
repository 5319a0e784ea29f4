//! Clients of an owner, and the takeover when it ends.

use std::sync::Arc;

use test_support::Caller;
use wap_core::{CancelFlag, FileChange, ReadFile, Workspace, WriteFile};
use workspace_host::{HostOptions, NoNotices, SharedNotices, SharedWorkspace, WorkspacePaths};

fn write(workspace: &SharedWorkspace, caller: &Caller, content: &str) {
    let write = WriteFile { path: "a".into(), content: content.into(), ..WriteFile::default() };
    workspace.change_files(&caller.call(), &[FileChange::Write(write)]).unwrap().remove(0).unwrap();
}

#[test]
fn a_client_becomes_the_owner_and_a_repeated_step_is_answered_from_the_record() {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions::new(folder.path());
    let paths = WorkspacePaths::find(&options).unwrap();
    let notices: SharedNotices = Arc::new(NoNotices);
    let owner = SharedWorkspace::staying(&options, &paths, &notices);
    owner.open().unwrap();
    let client = SharedWorkspace::new(&options, &paths, &notices);

    let step = Caller::numbered(1);
    write(&client, &step, "first\n");
    assert!(client.owned().unwrap().is_err(), "another process owns the folder");
    owner.leave(&CancelFlag::new());
    std::fs::write(folder.path().join("a"), "the user's\n").unwrap();
    write(&client, &step, "first\n");
    assert!(client.owned().unwrap().is_ok(), "the client is the owner now");
    let read = ReadFile { path: "a".into(), ..ReadFile::default() };
    assert_eq!(client.read_file(&step.call(), &read).unwrap().content, "the user's\n");
}

#[test]
fn a_client_with_other_options_about_confinement_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions::new(folder.path());
    let paths = WorkspacePaths::find(&options).unwrap();
    let notices: SharedNotices = Arc::new(NoNotices);
    let owner = SharedWorkspace::staying(&options, &paths, &notices);
    owner.open().unwrap();
    let other = HostOptions { protect: vec!["*.tf".into()], ..options.clone() };
    let client = SharedWorkspace::new(&other, &paths, &notices);
    let caller = Caller::once();
    let change = WriteFile { path: "a.tf".into(), content: "x".into(), ..WriteFile::default() };
    let refused = client.change_files(&caller.call(), &[FileChange::Write(change.clone())]);
    assert!(refused.is_err() || refused.is_ok_and(|outcomes| outcomes[0].is_err()));
    assert!(!folder.path().join("a.tf").exists());
    // The control: with the owner's options the same change is made.
    let client = SharedWorkspace::new(&options, &paths, &notices);
    client.change_files(&caller.at(1).call(), &[FileChange::Write(change)]).unwrap().remove(0).unwrap();
    assert!(folder.path().join("a.tf").exists());
}
