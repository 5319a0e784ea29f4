//! Files that must never be in an index.

use std::fs;
use std::os::unix::fs::symlink;

use rel_path::RelPath;
use wap_core::{CancelFlag, IndexError};

use crate::fixture::{Fixture, paths, refresh, symbols};

/// Files that are left out, each with the word `secretword`.
const LEFT_OUT: [&str; 17] = [
    ".env",
    ".agentd/journal/x.rs",
    ".AGENTD/x.rs",
    ".git/config.rs",
    "sub/.git/hooks/x.rs",
    ".github/x.rs",
    ".vscode/tasks.json",
    "GIT~1/x.rs",
    "node_modules/p/x.rs",
    "target/x.rs",
    "sub/vendor/x.rs",
    "state/x.rs",
    "server.key",
    "sub/secrets.yaml",
    "sub/credentials.json",
    "ignored.rs",
    "sub/generated/x.rs",
];

fn fixture() -> Fixture {
    let fixture = Fixture::new(LEFT_OUT.map(|path| (path, "fn secretword() {}\n")));
    fixture.write(".gitignore", "ignored.rs\n");
    fixture.write("sub/.gitignore", "generated/\n");
    fixture.write("seen.rs", "fn secretword() {}\n");
    fixture
}

#[test]
fn hidden_protected_and_ignored_files_are_in_no_answer() {
    let fixture = fixture();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x.rs"), "fn secretword() {}\n").unwrap();
    symlink(outside.path(), fixture.code.path().join("linked")).unwrap();
    symlink(outside.path().join("x.rs"), fixture.code.path().join("link.rs")).unwrap();
    symlink("seen.rs", fixture.code.path().join("inner.rs")).unwrap();
    symlink(".env", fixture.code.path().join("env.rs")).unwrap();
    let folder = fixture.state.path().join("index");
    let source = fixture.source().without(RelPath::parse("state").unwrap());
    let (index, _) = code_index::LocalIndex::open(&folder, source, fixture.limits).unwrap();
    refresh(&index);
    // The control: the file that is not left out is in the hits.
    assert_eq!(paths(&index, "secretword"), ["seen.rs"]);

    // Naming one to an update does not index it either.
    let links = ["link.rs", "linked", "linked/x.rs", "inner.rs", "env.rs"];
    let all: Vec<RelPath> = LEFT_OUT.iter().chain(&links).map(|path| RelPath::parse(path).unwrap()).collect();
    assert_eq!(index.update(&all, &CancelFlag::new()).unwrap().read, 0);
    let folders: Vec<RelPath> =
        [".agentd", ".git", "state", "sub"].iter().map(|path| RelPath::parse(path).unwrap()).collect();
    index.update(&folders, &CancelFlag::new()).unwrap();
    assert_eq!(paths(&index, "secretword"), ["seen.rs"]);

    for file in LEFT_OUT.iter().chain(&links) {
        assert_eq!(symbols(&index, file), Err(IndexError::UnknownFile { file: (*file).into() }), "{file}");
    }
}

#[test]
fn the_store_has_no_word_of_a_file_that_is_left_out() {
    let secret = "TOKEN=verysecretvalue\n";
    let fixture = Fixture::new([(".env", secret), ("a.key", secret), ("seen.rs", "fn seen() {}\n")]);
    let index = fixture.index();
    drop(index);
    let stored: Vec<u8> = fs::read_dir(fixture.state.path().join("index"))
        .unwrap()
        .flat_map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    let holds = |word: &[u8]| stored.windows(word.len()).any(|window| window == word);
    assert!(holds(b"seen"));
    assert!(!holds(b"verysecretvalue"));
}

#[test]
fn a_file_that_is_hidden_later_is_removed() {
    let fixture = fixture();
    let index = fixture.index();
    assert!(symbols(&index, "seen.rs").is_ok());
    fixture.write(".gitignore", "*.rs\n");
    assert_eq!(symbols(&index, "seen.rs"), Err(IndexError::UnknownFile { file: "seen.rs".into() }));
    refresh(&index);
    assert_eq!(paths(&index, "secretword"), Vec::<String>::new());
}
