//! The log, and undoing.

use std::sync::Arc;

use test_support::Caller;
use wap_core::Reason;
use wap_mcp::{LogPage, WorkspaceHistory};
use workspace_mcp::ServedHistory;

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
