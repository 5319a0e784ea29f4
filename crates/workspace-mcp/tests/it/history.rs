//! The log, and undoing.

use std::sync::{Arc, Mutex, PoisonError};

use test_support::Caller;
use wap_core::Reason;
use wap_mcp::{LogPage, WorkspaceHistory, WorkspaceResources};
use workspace_host::{HostOptions, Notices, SharedNotices, SharedWorkspace};
use workspace_mcp::{ServedHistory, ServedResources};

use crate::{SECRET, Site};

fn history(site: &Site, may_undo: bool) -> ServedHistory {
    ServedHistory::new(Arc::clone(&site.workspace), site.paths.clone(), site.rules.clone(), may_undo)
}

#[test]
fn what_was_done_is_listed_and_undone() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    site.write("a.txt", "two\n");
    let history = history(&site, true);
    let page = LogPage { limit: 10, before: None, skip: 0, characters: 10_000 };
    let log = history.log(&page).unwrap();
    assert!(log.contains("created  a.txt") && log.contains("changed  a.txt"), "{log}");
    site.is_not_named_in(&log);
    let caller = Caller::once();
    let undone = history.undo(&caller.call(), None, 10_000).unwrap().unwrap();
    assert!(undone.contains("a.txt"), "{undone}");
    assert_eq!(site.read("a.txt").as_deref(), Some("one\n"));
}

#[test]
fn a_later_change_by_another_program_is_an_obstacle_without_its_secrets() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    std::fs::write(site.folder.path().join("a.txt"), format!("token = {SECRET}\n")).unwrap();
    let caller = Caller::once();
    let refused = history(&site, true).undo(&caller.call(), None, 10_000).unwrap().unwrap_err();
    assert!(refused.contains("a.txt") && !refused.contains(SECRET), "{refused}");
    site.is_not_named_in(&refused);
}

#[test]
fn under_a_review_of_everything_the_user_undoes() {
    let site = Site::new();
    site.write("a.txt", "one\n");
    let caller = Caller::once();
    let error = history(&site, false).undo(&caller.call(), None, 10_000).unwrap_err();
    assert_eq!(error.reason(), Reason::ReadOnly, "{error}");
    assert_eq!(site.read("a.txt").as_deref(), Some("one\n"));
}

/// The lines for the person at the terminal.
#[derive(Debug, Default)]
struct Terminal(Mutex<Vec<String>>);

impl Notices for Terminal {
    fn notice(&self, line: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
    }
}

#[test]
fn a_state_folder_that_cannot_be_used_is_named_to_the_person_alone() {
    let Site { folder, paths, rules, workspace } = {
        let site = Site::new();
        site.write("a.txt", "one\n");
        site
    };
    drop(workspace);
    let options = HostOptions::new(folder.path());
    let terminal = Arc::new(Terminal::default());
    let notices: SharedNotices = Arc::clone(&terminal) as SharedNotices;
    let workspace = Arc::new(SharedWorkspace::staying(&options, &paths, &notices));
    let history = ServedHistory::new(Arc::clone(&workspace), paths.clone(), rules.clone(), true);
    let resources = ServedResources::new(workspace, paths.clone(), rules);
    let caller = Caller::once();
    let page = LogPage { limit: 10, before: None, skip: 0, characters: 10_000 };
    for entry in std::fs::read_dir(paths.base.join("journal")).unwrap() {
        std::fs::write(entry.unwrap().path(), "no journal\n".repeat(1_000)).unwrap();
    }
    let unreadable = history.log(&page).unwrap_err();
    std::fs::remove_dir_all(&paths.base).unwrap();
    std::fs::write(&paths.base, "not a folder\n").unwrap();
    let errors = [
        unreadable,
        history.undo(&caller.call(), None, 10_000).unwrap_err(),
        resources.list(&caller.call(), None).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.reason(), Reason::Busy, "{error}");
        assert!(error.message().ends_with("the server's standard error says why"), "{error}");
    }
    let printed = terminal.0.lock().unwrap().join("\n");
    assert!(printed.contains(paths.base.to_str().unwrap()), "{printed}");
}
