//! The values of an answer from many files, which receive placeholders together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memory_workspace::{MemoryIndex, MemoryWorkspace};
use secret_placeholders::{MemoryStore, PlaceholderIndex, PlaceholderWorkspace, Secrets, Withheld};
use wap_core::{
    CodeIndex, ExploreFiles, FileChange, QueryType, ReadFile, SearchCode, Workspace, WriteFile, WriteMode,
};

use crate::judging::Counted;
use crate::over_workspace::{search, with_call};

const FILES: usize = 40;

/// Files with a secret each, one of them far from the line that a search finds, and with a secret in its name.
fn files() -> impl Iterator<Item = (&'static str, String)> {
    (0..FILES).map(|number| {
        let secret = |of: &str| format!("{of}_{number:04}{}", "a1B2c3D4".repeat(4));
        let name = Box::leak(format!("{}.txt", secret("npm")).into_boxed_str());
        let between = "- - -\n".repeat(30);
        (&*name, format!("needle\npassword = \"{}\"\n{between}password = \"{}\"\n", secret("x"), secret("y")))
    })
}

fn counted() -> (Arc<Secrets>, impl Fn() -> usize) {
    let updates = Arc::new(AtomicUsize::new(0));
    let secrets = Secrets::open(Counted(MemoryStore::default(), Arc::clone(&updates))).unwrap();
    (Arc::new(secrets), move || updates.swap(0, Ordering::Relaxed))
}

#[test]
fn an_answer_from_many_files_keeps_its_values_in_few_writes() {
    let over = || {
        let (secrets, writes) = counted();
        let inner = MemoryWorkspace::with_files(files());
        (PlaceholderWorkspace::new(inner, Some(secrets), Withheld::default()), writes)
    };
    let (masked, writes) = over();
    let request = search("needle", QueryType::Literal);
    let hits = with_call(0, |call| masked.search_files(call, &request)).unwrap();
    assert_eq!(hits.matches.len(), FILES);
    let visible = format!("{hits:?}");
    assert!(!visible.contains("a1B2") && visible.contains("⟦secret:password-assignment:79⟧"), "{visible}");
    let count = writes();
    assert!((1..=3).contains(&count), "{count}");
    let (masked, writes) = over();
    let listed = with_call(0, |call| masked.explore_files(call, &ExploreFiles::default())).unwrap();
    assert!(!format!("{listed:?}").contains("a1B2"), "{listed:?}");
    let count = writes();
    assert!((1..=3).contains(&count), "{count}");
    let (masked, writes) = over();
    let change = |(path, content): (&str, String)| {
        FileChange::Write(WriteFile {
            path: path.into(),
            content: format!("{content}end\n"),
            mode: Some(WriteMode::Overwrite),
            ..WriteFile::default()
        })
    };
    let changes: Vec<FileChange> = files().map(change).collect();
    let changed = with_call(0, |call| masked.change_files(call, &changes)).unwrap();
    assert!(changed.iter().all(Result::is_ok) && !format!("{changed:?}").contains("a1B2"), "{changed:?}");
    let count = writes();
    assert!((1..=3).contains(&count), "{count}");
    // The control: separate answers keep their values separately.
    let (masked, writes) = over();
    for (path, _) in files() {
        let request = ReadFile { path: path.into(), ..ReadFile::default() };
        with_call(0, |call| masked.read_file(call, &request)).unwrap();
    }
    assert!(writes() >= FILES);
}

#[test]
fn pieces_of_an_index_keep_their_values_in_few_writes() {
    let (secrets, writes) = counted();
    let index =
        PlaceholderIndex::new(Box::new(MemoryIndex::with_files(files())), Some(secrets), Withheld::default());
    let request = SearchCode { query: "needle".into(), limit: 20 };
    let matched = with_call(0, |call| index.search(call, &request)).unwrap();
    assert!(matched.hits.len() > 5 && !format!("{matched:?}").contains("a1B2"), "{matched:?}");
    let count = writes();
    assert!((1..=matched.hits.len() / 2).contains(&count), "{count}");
}
