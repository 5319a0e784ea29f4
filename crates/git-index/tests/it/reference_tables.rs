//! The names in tables of references are those that git reads, and damaged tables panic nowhere.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "the tests run git")]

use std::path::Path;
use std::{fs, io};

use git_index::references_in_table;
use proptest::prelude::*;

use crate::from_git::{git, has_git};

/// Returns the only table of a repository.
fn table(folder: &Path) -> io::Result<Vec<u8>> {
    let tables = folder.join("r/.git/reftable");
    let list = fs::read_to_string(tables.join("tables.list"))?;
    fs::read(tables.join(list.trim_end()))
}

#[test]
fn names_are_those_of_git() {
    if !has_git() {
        return;
    }
    for format in ["sha1", "sha256"] {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "git init -qb main --ref-format=reftable --object-format={format} r; cd r; git commit -q --allow-empty -m x; \
             git tag -am t annotated; id=$(git rev-parse HEAD); git symbolic-ref refs/heads/alias refs/heads/main; \
             for n in $(seq 600); do echo create refs/heads/many/$n $id; echo create refs/replacd/$n $id; done | git update-ref --stdin; \
             git update-ref -d refs/heads/many/7; git pack-refs --all; git for-each-ref --format='%(refname)' > names"
        );
        git(folder.path(), &script);
        let expected = fs::read_to_string(folder.path().join("r/names")).unwrap();
        let names = references_in_table(&table(folder.path()).unwrap()).unwrap();
        let names: Vec<_> = names.into_iter().map(|name| String::from_utf8(name).unwrap()).collect();
        let expected: Vec<_> = ["HEAD"].into_iter().chain(expected.lines()).collect();
        assert_eq!(names, expected, "{format}");
        assert!(names.len() > 1200, "{format}");
    }
}

#[test]
fn damaged_tables_are_not_read() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    git(
        folder.path(),
        "git init -qb main --ref-format=reftable r; cd r; git commit -q --allow-empty -m x; git branch b; git pack-refs --all",
    );
    let whole = table(folder.path()).unwrap();
    assert_eq!(references_in_table(&whole).unwrap().len(), 3);
    for end in 0..whole.len() {
        if let Some(names) = references_in_table(&whole[..end]) {
            assert!(names.len() <= 3, "{end}");
        }
    }
    for at in 0..whole.len() {
        let mut other = whole.clone();
        other[at] ^= 0xff;
        let _ = references_in_table(&other);
    }
    let mut other = whole.clone();
    other[0] = b'X';
    assert_eq!(references_in_table(&other), None);
    assert_eq!(references_in_table(b""), None);
}

proptest! {
    #[test]
    fn nothing_panics_on_any_block(bytes in prop::collection::vec(any::<u8>(), 0..300), length in 28u8..200) {
        let mut table = [b"REFT\x01\x00\x00\x00".to_vec(), vec![0; 16], b"r\x00\x00".to_vec(), vec![length]].concat();
        table.extend(bytes);
        table.extend([0; 68]);
        let _ = references_in_table(&table);
    }
}
