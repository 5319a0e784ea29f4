//! Listing a tree, compared with the `find` program.

use std::process::{Command, Stdio};

use change_journal::Journal;
use wap_core::{ExploreFiles, Workspace};

use crate::fixture::{call, engine};
use crate::table::Table;
use crate::tree::Tree;
use crate::turns::turns;

pub(crate) fn measure(tree: &Tree, table: &mut Table) {
    let state = tree.path().with_extension("state");
    let workspace = engine(tree.path(), &state, Journal::in_memory().expect("there is memory"));
    let request = ExploreFiles {
        path: String::new(),
        recursive: Some(true),
        max_depth: Some(60),
        ..ExploreFiles::default()
    };
    let with_metadata = ExploreFiles { return_metadata: Some(true), ..request.clone() };
    let what = format!("listing {} files", tree.files());
    if find(tree).is_none() {
        table.missing(&what, "there is no find");
        return;
    }
    for (request, what) in [(&request, what.clone()), (&with_metadata, format!("{what} with metadata"))] {
        let ours = || call(|call| workspace.explore_files(call, request)).expect("the listing works");
        let response = ours();
        assert!(response.warnings.is_empty(), "{:?}", response.warnings);
        table.check(&what, response.total_found, find(tree).unwrap_or_default());
        table.compared(&what, "find", &turns(|| drop(ours()), || _ = find(tree)), 1.5);
    }
}

/// Lists everything with the program; `None` if there is none.
fn find(tree: &Tree) -> Option<u64> {
    let output = Command::new("find")
        .args([".", "-mindepth", "1"])
        .current_dir(tree.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    Some(memchr::memchr_iter(b'\n', &output.stdout).count() as u64)
}
