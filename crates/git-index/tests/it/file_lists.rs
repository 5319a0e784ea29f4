//! Lists of files name only files next to them.
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the tests run git and read its files"
)]

use std::fs;
use std::process::Command;

use git_index::{is_file_list, lists_sibling_files};

use crate::from_git::has_git;

fn is_list(path: &str) -> bool {
    is_file_list(path.split('/').map(str::as_bytes))
}

/// A list of packs with these chunks.
fn list(packs: u32, chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut bytes = b"MIDX\x01\x01".to_vec();
    bytes.extend([u8::try_from(chunks.len()).unwrap(), 0]);
    bytes.extend(packs.to_be_bytes());
    let mut offset = bytes.len() + 12 * (chunks.len() + 1);
    for (name, content) in chunks.iter().chain([&(b"\0\0\0\0", &b""[..])]) {
        bytes.extend(*name);
        bytes.extend((offset as u64).to_be_bytes());
        offset += content.len();
    }
    bytes.extend(chunks.iter().flat_map(|(_, content)| *content));
    bytes
}

#[test]
fn lists_are_recognized_by_their_paths() {
    for path in [
        "objects/pack/multi-pack-index",
        "modules/x/objects/Pack/multi-pack-index",
        "objects/pack/multi-pack-index.d/multi-pack-index-1.midx",
        "reftable/tables.list",
        "worktrees/x/reftable/tables.list",
    ] {
        assert!(is_list(path), "{path}");
    }
    for path in ["multi-pack-index", "objects/pack/x.pack", "objects/pack/x.midx", "tables.list", "midx"] {
        assert!(!is_list(path), "{path}");
    }
}

#[test]
fn list_that_git_writes_is_accepted() {
    if !has_git() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=u", "-c", "user.email=u@x"]).args(arguments);
        let ran = command.current_dir(folder.path()).env("HOME", folder.path()).output().unwrap();
        assert!(ran.status.success(), "{arguments:?}: {ran:?}");
    };
    git(&["init", "-q", "."]);
    for message in ["one", "two"] {
        git(&["commit", "-q", "--allow-empty", "-m", message]);
        git(&["repack", "-q", "-d"]);
    }
    git(&["multi-pack-index", "write"]);
    let bytes = fs::read(folder.path().join(".git/objects/pack/multi-pack-index")).unwrap();
    assert!(lists_sibling_files(&bytes));
    // Every cut of the part with the names is refused, and nothing panics.
    for length in 5..bytes.len() {
        let _ = lists_sibling_files(&bytes[..length]);
    }
    assert!(!lists_sibling_files(&bytes[..60]));
    let start = bytes.windows(5).position(|five| five == b"pack-").unwrap();
    let mut crafted = bytes.clone();
    crafted[start + 4] = b'/';
    assert!(!lists_sibling_files(&crafted));
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let names = |names: &[u8]| list(2, &[(b"OIDF", b"a/b"), (b"PNAM", names), (b"OIDL", b"/")]);
    assert!(lists_sibling_files(&names(b"a.idx\0b.idx\0\0\0")));
    for bytes in [
        names(b"../a.idx\0b.idx\0"),
        names(b"a.idx\0/b.idx\0"),
        // The second name would be read past the chunk.
        names(b"a.idx\0b.idx"),
        list(1, &[(b"OIDF", b"a.idx\0")]),
        list(1, &[(b"PNAM", b"a.idx\0"), (b"PNAM", b"../a.idx\0")]),
        b"MIDX".to_vec(),
    ] {
        assert!(!lists_sibling_files(&bytes), "{}", bytes.escape_ascii());
    }
    assert!(lists_sibling_files(b"0x1-0x2-3.ref\n0x3-0x3-4.ref\n"));
    assert!(!lists_sibling_files(b"0x1-0x2-3.ref\n../../other/0x3.ref\n"));
}
