//! A state folder that is a symlink.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use workspace_host::{
    Exit, HostOptions, NoNotices, STATE_FOLDER, SecretRules, SharedNotices, SharedWorkspace, WorkspacePaths,
};

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ456789";

#[test]
fn a_link_among_the_files_is_not_a_state_folder() {
    let folder = tempfile::tempdir().unwrap();
    let notices: SharedNotices = Arc::new(NoNotices);
    // The files as their author has committed them: a state folder made elsewhere, and a link to it.
    let elsewhere = tempfile::tempdir().unwrap();
    let others = HostOptions::new(elsewhere.path());
    let paths = WorkspacePaths::find(&others).unwrap();
    SharedWorkspace::new(&others, &paths, &notices).open().unwrap();
    fs::rename(elsewhere.path().join(STATE_FOLDER), folder.path().join("docs")).unwrap();
    symlink("docs", folder.path().join(STATE_FOLDER)).unwrap();
    let options = HostOptions::new(folder.path());
    let paths = WorkspacePaths::find(&options);
    // Neither is its history read, nor are secrets written among the files.
    if let Ok(paths) = &paths {
        assert!(paths.journal_reader().is_ok_and(|journal| journal.is_none()), "the history of the author");
    }
    let failure = paths.unwrap_err();
    assert_eq!(failure.exit, Exit::Failed);
    assert!(failure.message.ends_with("it is a symlink"), "{}", failure.message);
}

#[test]
fn secrets_are_kept_in_a_state_folder_and_never_through_a_symlink() {
    let folder = tempfile::tempdir().unwrap();
    let options = HostOptions::new(folder.path());
    fs::create_dir(folder.path().join("docs")).unwrap();
    let mask = |options: &HostOptions| {
        let paths = WorkspacePaths::find(options).ok()?;
        SecretRules::open(options, &paths)
            .ok()
            .map(|rules| rules.mask_file_text(&format!("token = {TOKEN}\n")))
    };
    symlink("docs", folder.path().join(STATE_FOLDER)).unwrap();
    assert_eq!(mask(&options), None);
    assert_eq!(fs::read_dir(folder.path().join("docs")).unwrap().count(), 0);
    // The control: without the link, the state folder is made for it.
    fs::remove_file(folder.path().join(STATE_FOLDER)).unwrap();
    assert!(mask(&options).is_some_and(|text| !text.contains(TOKEN)));
    let map = fs::read_to_string(folder.path().join(STATE_FOLDER).join("secrets.json")).unwrap();
    assert!(map.contains(TOKEN), "{map}");
}
