//! The names in tables of references are those that git reads, and damaged tables panic nowhere.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "the tests run git")]

use std::path::Path;
use std::{fs, io};

use git_index::{ObjectFormat, TableReference, references_in_table};
use proptest::prelude::*;

use crate::from_git::{git, has_git};

/// Returns the only table of a repository.
fn table(folder: &Path) -> io::Result<Vec<u8>> {
    let tables = folder.join("r/.git/reftable");
    let list = fs::read_to_string(tables.join("tables.list"))?;
    fs::read(tables.join(list.trim_end()))
}

fn sha1_references(table: &[u8]) -> Option<Vec<TableReference>> {
    references_in_table(table, ObjectFormat::Sha1)
}

#[test]
fn references_are_those_of_git() {
    if !has_git() {
        return;
    }
    for (name, format) in [("sha1", ObjectFormat::Sha1), ("sha256", ObjectFormat::Sha256)] {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "git init -qb main --ref-format=reftable --object-format={name} r; cd r; git commit -q --allow-empty -m x; \
             git tag -am t annotated; id=$(git rev-parse HEAD); git symbolic-ref refs/heads/alias refs/heads/main; \
             for n in $(seq 600); do echo create refs/heads/many/$n $id; echo create refs/replacd/$n $id; done | git update-ref --stdin; \
             git update-ref -d refs/heads/many/7; git pack-refs --all; git for-each-ref --format='%(refname) %(if)%(symref)%(then)%(else)%(objectname)%(end) %(*objectname) %(symref)' > names"
        );
        git(folder.path(), &script);
        let expected = fs::read_to_string(folder.path().join("r/names")).unwrap();
        let references = references_in_table(&table(folder.path()).unwrap(), format).unwrap();
        let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let line = |reference: &TableReference| {
            let (name, target) = (&reference.name, reference.target.as_deref().unwrap_or_default());
            let [name, target] = [name, target].map(|text| String::from_utf8(text.to_vec()).unwrap());
            let mut objects = reference.objects.iter().map(hex);
            let [object, stands_for] = [(); 2].map(|()| objects.next().unwrap_or_default());
            format!("{name} {object} {stands_for} {target}")
        };
        // Git shows the object that a symbolic one leads to.
        let lines: Vec<_> = references.iter().map(line).filter(|line| !line.starts_with("HEAD ")).collect();
        let expected: Vec<_> = expected.lines().collect();
        assert_eq!(lines, expected, "{name}");
        assert!(lines.len() > 1200, "{name}");
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
    assert_eq!(sha1_references(&whole).unwrap().len(), 3);
    for end in 0..whole.len() {
        if let Some(names) = sha1_references(&whole[..end]) {
            assert!(names.len() <= 3, "{end}");
        }
    }
    for at in 0..whole.len() {
        let mut other = whole.clone();
        other[at] ^= 0xff;
        let is_of_footer = at >= whole.len() - 68;
        assert!(sha1_references(&other).is_none() || !is_of_footer, "{at}");
    }
    let mut other = whole.clone();
    other[0] = b'X';
    assert_eq!(sha1_references(&other), None);
    assert_eq!(sha1_references(b""), None);
}

/// Git would search these names by bisection, and not find some of them.
#[test]
fn names_out_of_order_are_not_read() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "git init -qb main --ref-format=reftable r; cd r; git commit -q --allow-empty -m x; \
                  for n in a b; do git update-ref refs/tags/zzzzzzzzzz$n HEAD; done; \
                  for n in $(seq 3000); do echo create refs/heads/many/$n HEAD; done | git update-ref --stdin; git pack-refs --all";
    git(folder.path(), script);
    let whole = table(folder.path()).unwrap();
    assert!(sha1_references(&whole).is_some(), "control");
    let position = |text: &[u8]| whole.windows(text.len()).rposition(|part| part == text).unwrap();
    // The next one has only its last letter there.
    let mut other = whole.clone();
    other[position(b"zzzzzzzzzza") + 10] = b'c';
    assert_eq!(sha1_references(&other), None);
    // The index, which follows a block of references, with a name that is not that of a last reference.
    let index = u64::from_be_bytes(whole[whole.len() - 44..][..8].try_into().unwrap());
    let index = usize::try_from(index).unwrap();
    assert_eq!(whole[index], b'i', "control");
    let name = whole[index..].windows(5).position(|part| part == b"many/").unwrap() + index;
    let mut other = whole.clone();
    other[name] = b'l';
    assert_eq!(sha1_references(&other), None);
}

proptest! {
    #[test]
    fn nothing_panics_on_any_block(bytes in prop::collection::vec(any::<u8>(), 0..300), length in 28u8..200) {
        let mut table = [b"REFT\x01\x00\x00\x00".to_vec(), vec![0; 16], b"r\x00\x00".to_vec(), vec![length]].concat();
        table.extend(bytes);
        table.extend([0; 68]);
        let _ = sha1_references(&table);
    }
}
