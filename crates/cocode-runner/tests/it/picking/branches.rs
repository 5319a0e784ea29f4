//! Branches that have moved since the verdict, and a user without one.

use std::fs;
use std::time::{Duration, SystemTime};

use cocode_runner::RunnerError;

use super::{work, write};
use crate::fixture::{Fixture, refused};

#[test]
fn commits_on_top_of_an_agents_branch_are_taken_with_it_and_have_no_verdict() {
    for is_continued in [false, true] {
        let fixture = Fixture::new();
        let (runner, record) = work(&fixture, &write("b.txt", "b"));
        if is_continued {
            fs::write(record.worktree.join("mine.txt"), "mine\n").unwrap();
            fixture.git_in(&record.worktree, &["add", "."]);
            fixture.git_in(&record.worktree, &["commit", "-q", "-m", "mine"]);
        }
        let diff = cocode_runner::diff(&fixture.config(), &record, true).unwrap();
        assert_eq!((diff.contains("b.txt"), diff.contains("mine.txt")), (true, is_continued), "{diff}");
        let picked = runner.pick(&record, false).unwrap();
        assert_eq!((picked.done, picked.is_continued, picked.is_ready), (true, is_continued, !is_continued));
        assert_eq!(fixture.git(&["rev-parse", "HEAD"]), fixture.git(&["rev-parse", &record.branch]));
        assert_eq!(fixture.repository().join("mine.txt").exists(), is_continued);
        let cleaned = runner.clean(true, false).unwrap().remove(0);
        assert!(cleaned.removed, "{cleaned:?}");
    }
}

#[test]
fn a_branch_that_was_moved_away_leaves_the_agents_work_as_it_was() {
    let fixture = Fixture::new();
    let (runner, record) = work(&fixture, &write("b.txt", "b"));
    fixture.git(&["update-ref", &format!("refs/heads/{}", record.branch), &record.start_commit]);
    let picked = runner.pick(&record, false).unwrap();
    assert_eq!(
        (Some(&picked.commit), picked.is_continued, picked.is_ready),
        (record.head.as_ref(), false, true)
    );
}

#[test]
fn work_is_not_taken_where_no_branch_would_keep_it() {
    let fixture = Fixture::new();
    let (runner, record) = work(&fixture, &write("b.txt", "b"));
    fixture.git(&["checkout", "-q", "--detach"]);
    for dry_run in [true, false] {
        assert!(matches!(refused(runner.pick(&record, dry_run)), RunnerError::Detached));
    }
    assert!(!fixture.repository().join("b.txt").exists());
    // The control.
    fixture.git(&["switch", "-q", "main"]);
    assert!(runner.pick(&record, false).unwrap().done);
}

#[test]
fn changes_that_only_filters_explain_are_refused_as_such() {
    let fixture = Fixture::new();
    let file = fixture.repository().join("x.up");
    fs::write(fixture.repository().join(".gitattributes"), "*.up filter=up\n").unwrap();
    fs::write(&file, "text\n").unwrap();
    fixture.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    fixture.git(&["add", "."]);
    fixture.git(&["commit", "-q", "-m", "filtered"]);
    let (runner, record) = work(&fixture, &write("b.txt", "b"));
    // The same content in a new file, so that git reads it.
    fs::remove_file(&file).unwrap();
    fs::write(&file, "text\n").unwrap();
    // An old one, since git looks again at files that are as new as its index.
    let day = Duration::from_secs(24 * 60 * 60);
    fs::File::options().write(true).open(&file).unwrap().set_modified(SystemTime::now() - day).unwrap();
    assert!(matches!(refused(runner.pick(&record, false)), RunnerError::Dirty { has_filters: true }));
    // The control: git with its filters sees no change, and agrees once it has looked.
    assert_eq!(fixture.git(&["status", "--porcelain"]), "");
    assert!(runner.pick(&record, false).unwrap().done);
}
