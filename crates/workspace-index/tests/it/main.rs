//! Tests of `workspace-index` through its public API.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod secrets;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use test_support::Caller;
use wap_core::{CodeIndex, SearchCode};
use workspace_host::{HostOptions, NoNotices, SharedNotices, WorkspacePaths};
use workspace_index::{CurrentIndex, LazyIndex, OpenIndex, is_kept};

fn open(folder: &Path, is_kept: bool) -> OpenIndex {
    open_at(folder, &WorkspacePaths::find(&HostOptions::new(folder)).unwrap(), is_kept)
}

fn open_at(folder: &Path, paths: &WorkspacePaths, is_kept: bool) -> OpenIndex {
    let notices: SharedNotices = Arc::new(NoNotices);
    let open = if is_kept { OpenIndex::open_kept } else { OpenIndex::open };
    open(&HostOptions::new(folder), paths, &notices).unwrap()
}

fn hit_paths(index: &dyn CodeIndex, query: &str) -> Vec<String> {
    let caller = Caller::once();
    let search = SearchCode { query: query.to_owned(), limit: 20 };
    let answer = index.search(&caller.call(), &search).unwrap();
    answer.hits.into_iter().map(|hit| hit.path).collect()
}

#[test]
fn an_index_is_kept_only_where_a_state_folder_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.rs"), "pub fn first() {}\n").unwrap();
    let paths = WorkspacePaths::find(&HostOptions::new(folder.path())).unwrap();
    drop(open(folder.path(), false));
    assert!(!is_kept(&paths) && !paths.base.exists(), "an index in a temporary folder leaves nothing");
    drop(open(folder.path(), true));
    assert!(is_kept(&paths));
}

#[test]
fn a_state_folder_that_is_a_symlink_holds_no_index() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(folder.path().join("a.rs"), "pub fn first() {}\n").unwrap();
    let paths = WorkspacePaths::find(&HostOptions::new(folder.path())).unwrap();
    std::os::unix::fs::symlink(outside.path(), &paths.base).unwrap();
    // An existing one is refused; this one was made between the check and the use.
    assert!(WorkspacePaths::find(&HostOptions::new(folder.path())).is_err());
    let index = CurrentIndex::compared_at_each_question(open_at(folder.path(), &paths, false));
    assert_eq!(hit_paths(&index, "first"), ["a.rs"]);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0, "nothing is written through the symlink");
}

#[test]
fn a_lazy_index_is_opened_by_the_first_question() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.rs"), "pub fn first() {}\n").unwrap();
    let lazy = LazyIndex::new(|_| Some(CurrentIndex::compared_at_each_question(open(folder.path(), true))));
    let paths = WorkspacePaths::find(&HostOptions::new(folder.path())).unwrap();
    assert!(!is_kept(&paths));
    assert_eq!(hit_paths(&lazy, "first"), ["a.rs"]);
    assert!(is_kept(&paths));
}

#[test]
fn answers_about_a_small_project() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("parse.rs"), "/// Reads a number.\npub fn parse_number() {}\n").unwrap();
    fs::write(folder.path().join("main.rs"), "mod parse;\nfn main() {\n    parse::parse_number();\n}\n")
        .unwrap();
    let index = CurrentIndex::compared_at_each_question(open(folder.path(), false));
    let caller = Caller::once();
    let search = SearchCode { query: "parse_number".to_owned(), limit: 5 };
    let mut answer = index.search(&caller.call(), &search).unwrap();
    for hit in &mut answer.hits {
        hit.score = 0.0;
    }
    insta::assert_json_snapshot!(answer);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The paths that an index can be kept at, and the ways to keep it up to date, give the same answers.
    #[test]
    fn all_ways_to_open_an_index_answer_alike(
        files in prop::collection::btree_map("[a-c]{1,3}\\.rs", "pub fn (one|two|three)\\(\\) \\{\\}\n", 1..6),
        added in "pub fn (one|two|three)\\(\\) \\{\\}\n",
    ) {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in &files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let temporary = CurrentIndex::compared_at_each_question(open(folder.path(), false));
        let kept = CurrentIndex::kept_up(open(folder.path(), true), None);
        for _ in 0..2 {
            for word in ["one", "two", "three"] {
                let (mut first, mut second) = (hit_paths(&temporary, word), hit_paths(&kept, word));
                first.sort_unstable();
                second.sort_unstable();
                prop_assert_eq!(first, second);
            }
            fs::write(folder.path().join("added.rs"), &added).unwrap();
        }
    }
}
