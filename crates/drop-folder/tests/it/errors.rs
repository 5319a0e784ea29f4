//! The errors for the owner of a folder.

use std::fs;
use std::os::unix::fs::symlink;

use drop_folder::{decode_text, list, read};

use crate::open;

#[test]
fn what_cannot_be_read_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("large.txt"), "12345678901").unwrap();
    fs::write(path("latin.txt"), b"caf\xe9\n").unwrap();
    fs::write(path("odd.txt"), b"\xff\xfea\0b").unwrap();
    fs::create_dir(path("folder.txt")).unwrap();
    symlink("large.txt", path("link.txt")).unwrap();
    let root = open(folder.path());
    let mut files = list(&root).unwrap();
    files.sort_by(|left, right| left.name.as_bytes().cmp(right.name.as_bytes()));
    let reports: Vec<String> = files
        .iter()
        .map(|file| {
            let report = match read(&root, file, 10).map(|bytes| bytes.map(decode_text)) {
                Ok(Some(Ok(text))) => format!("{text:?}"),
                Ok(Some(Err(error))) => error.to_string(),
                Ok(None) => "changed".to_owned(),
                Err(error) => error.to_string(),
            };
            format!("{}: {report}", file.name)
        })
        .collect();
    insta::assert_snapshot!(reports.join("\n"));
}

#[test]
fn a_file_that_changed_since_it_was_listed_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), "one").unwrap();
    let root = open(folder.path());
    let listed = list(&root).unwrap();
    assert_eq!(read(&root, &listed[0], 100).unwrap(), Some(b"one".to_vec()));
    fs::write(folder.path().join("a.txt"), "three").unwrap();
    assert_eq!(read(&root, &listed[0], 100).unwrap(), None);
}

#[test]
fn text_may_carry_a_byte_order_mark() {
    let utf_16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("né".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(decode_text(utf_16).unwrap(), "né");
    assert_eq!(decode_text("\u{feff}né".into()).unwrap(), "\u{feff}né");
}
