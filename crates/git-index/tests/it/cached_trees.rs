//! Cached trees match the entries, or the index is refused.
#![expect(clippy::disallowed_methods, reason = "the tests read indexes that git wrote")]

use std::fs;

use git_index::{IndexError, ObjectFormat};
use sha1::{Digest as _, Sha1};
use tempfile::TempDir;

use crate::crafted::{FILE, KINDS, Row, checked, extension, index};
use crate::from_git::{git, has_git};

const WRONG: Result<Vec<Vec<u8>>, IndexError> = Err(IndexError::Malformed { what: "the cached trees" });

/// Returns the bytes with every occurrence of one part replaced by another one of the same length.
fn replaced(bytes: &[u8], part: &[u8], by: &[u8]) -> Vec<u8> {
    let at = bytes.windows(part.len()).position(|window| window == part).unwrap();
    [&bytes[..at], by, &bytes[at + part.len()..]].concat()
}

fn name(hexadecimal: &str) -> Vec<u8> {
    let digits = hexadecimal.trim().as_bytes();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn a_tree_that_differs_from_its_entries_is_refused() {
    if !has_git() {
        return;
    }
    for (word, format) in [("sha1", ObjectFormat::Sha1), ("sha256", ObjectFormat::Sha256)] {
        let folder = TempDir::new().unwrap();
        git(
            folder.path(),
            &format!(
                "git init -q --object-format={word} .; mkdir -p a/b; echo x > a/b/x; echo y > a/y; echo z > z; \
                 git add .; git commit -qm one"
            ),
        );
        let written = fs::read(folder.path().join(".git/index")).unwrap();
        assert!(checked(&written, format).is_ok());
        // A tree that exists, so that a commit would take it.
        let other = name(&git(folder.path(), "git mktree < /dev/null"));
        for tree in ["HEAD^{tree}", "HEAD:a", "HEAD:a/b"] {
            let tree = name(&git(folder.path(), &format!("git rev-parse '{tree}'")));
            assert_eq!(checked(&replaced(&written, &tree, &other), format), WRONG, "{word}");
        }
        // Other numbers of entries, other folders, and an entry that has another object than the tree.
        for (part, by) in [(&b"a\x002 1\n"[..], &b"a\x001 1\n"[..]), (b"b\x001 0\n", b"c\x001 0\n")] {
            assert_eq!(checked(&replaced(&written, part, by), format), WRONG, "{word}");
        }
        let object = name(&git(folder.path(), "git rev-parse :a/b/x"));
        assert_eq!(checked(&replaced(&written, &object, &vec![7; object.len()]), format), WRONG, "{word}");
        // Control: the same change where git has removed the trees of the folders around it.
        git(folder.path(), "echo n > a/b/n; git add a/b/n");
        let written = fs::read(folder.path().join(".git/index")).unwrap();
        assert!(checked(&replaced(&written, &object, &vec![7; object.len()]), format).is_ok(), "{word}");
    }
}

/// Returns the name of a tree with these lines.
fn tree(lines: &[u8]) -> Vec<u8> {
    let header = format!("tree {}\0", lines.len());
    Sha1::new().chain_update(header).chain_update(lines).finalize().to_vec()
}

#[test]
fn a_tree_of_entries_that_are_in_none_is_refused() {
    // The second flags of the first entry in version 3, after header, status and object.
    const SECOND_FLAGS: usize = 12 + 40 + 20 + 2;
    let inner = tree(&[&b"100644 b\0"[..], &[0; 20]].concat());
    let root = tree(&[&b"40000 a\0"[..], &inner].concat());
    let extensions = extension(b"TREE", &[&b"\x001 1\n"[..], &root, b"a\0-1 0\n"].concat());
    let of = |flags: u16, second: u8| {
        let mut bytes = index(3, ObjectFormat::Sha1, &[(b"a/b", FILE, flags)], &extensions);
        if flags & 0x4000 != 0 {
            bytes[SECOND_FLAGS] = second;
        }
        checked(&bytes, ObjectFormat::Sha1)
    };
    // Controls: a file, and one that is not checked out.
    assert!(of(0, 0).is_ok());
    assert!(of(0x4000, 0x40).is_ok());
    // One that is to be added later, and one side of a conflict.
    assert_eq!(of(0x4000, 0x20), WRONG);
    assert_eq!(of(0x1000, 0), WRONG);
}

#[test]
fn what_git_would_not_have_written_is_refused() {
    let rows: [Row<'_>; 1] = [(b"a/b", FILE, 0)];
    for (version, format) in KINDS {
        let of =
            |content: &[u8]| checked(&index(version, format, &rows, &extension(b"TREE", content)), format);
        for good in [&b"\0-1 0\n"[..], b"\0-1 1\na\0-1 0\n", b"\0-1 2\nb\0-1 0\naa\0-1 0\n"] {
            assert!(of(good).is_ok(), "{}", good.escape_ascii());
        }
        for wrong in [
            &b""[..],
            b"\0",
            b"\0-1 0",
            b"\0-2 0\n",
            b"\0+1 0\n",
            b"\0-1 1\n",
            b"\0-1 0\n\0-1 0\n",
            b"a\0-1 0\n",
            b"\0-1 1\n\0-1 0\n",
            b"\0-1 1\na/b\0-1 0\n",
            b"\0-1 2\na\0-1 0\na\0-1 0\n",
            b"\0-1 2\naa\0-1 0\nb\0-1 0\n",
            b"\x001 0\nshort",
        ] {
            assert_eq!(of(wrong), WRONG, "{}", wrong.escape_ascii());
        }
        // More folders than any repository has, each in the one before it.
        let deep = [b"\0-1 1\n".as_slice(), &b"a\0-1 1\n".repeat((1 << 20) - 2), b"a\0-1 0\n"].concat();
        assert!(of(&deep).is_ok());
        let deeper = [b"\0-1 1\n".as_slice(), &b"a\0-1 1\n".repeat((1 << 20) - 1), b"a\0-1 0\n"].concat();
        assert_eq!(of(&deeper), WRONG);
        let twice = [extension(b"TREE", b"\0-1 0\n"), extension(b"TREE", b"\0-1 0\n")].concat();
        assert_eq!(checked(&index(version, format, &rows, &twice), format), WRONG);
    }
}

#[test]
fn a_tree_with_the_modes_of_old_repositories_is_accepted() {
    if !has_git() {
        return;
    }
    let folder = TempDir::new().unwrap();
    git(
        folder.path(),
        "git init -q .; x=$(echo x | git hash-object -w --stdin); y=$(echo y | git hash-object -w --stdin); \
         inner=$(printf \"100664 blob $x\\tx\\n100775 blob $x\\ty\\n\" | git mktree); \
         root=$(printf \"040000 tree $inner\\ta\\n120000 blob $x\\tlink\\n100664 blob $y\\tz\\n\" | git mktree); \
         git update-ref HEAD $(git commit-tree -m one $root); git reset -q --hard",
    );
    let written = fs::read(folder.path().join(".git/index")).unwrap();
    let inner = name(&git(folder.path(), "git rev-parse HEAD:a"));
    let root = name(&git(folder.path(), "git rev-parse 'HEAD^{tree}'"));
    for tree in [&inner, &root] {
        assert!(written.windows(tree.len()).any(|window| window == tree), "git caches the old trees");
    }
    assert!(git(folder.path(), "git ls-files --stage").starts_with("100644 "), "and gives entries new modes");
    assert_eq!(checked(&written, ObjectFormat::Sha1).map(|paths| paths.len()), Ok(4));
    // Another content, another bit and another name are other trees.
    let object = name(&git(folder.path(), "git rev-parse :a/x"));
    assert_eq!(checked(&replaced(&written, &object, &[7; 20]), ObjectFormat::Sha1), WRONG);
    let other = name(&git(folder.path(), "git rev-parse :z"));
    assert_eq!(checked(&replaced(&written, &object, &other), ObjectFormat::Sha1), WRONG);
    let [program, file] = [0o100_755, FILE].map(u32::to_be_bytes);
    assert_eq!(checked(&replaced(&written, &program, &file), ObjectFormat::Sha1), WRONG);
    // Next to a tree that was written since.
    git(folder.path(), "echo n > a/n; git add a/n; git commit -qm two; git reset -q --hard");
    let written = fs::read(folder.path().join(".git/index")).unwrap();
    assert!(checked(&written, ObjectFormat::Sha1).is_ok());
}

#[test]
fn a_folder_entry_replaces_all_entries_below_it() {
    const FOLDER: u32 = 0o040_000;
    let root = tree(&[&b"40000 a\0"[..], &[0; 20], b"40000 b\0", &[0; 20]].concat());
    let cached = [&b"\x002 2\n"[..], &root, b"a\x001 0\n", &[0; 20], b"b\x001 0\n", &[0; 20]].concat();
    let of = |rows: &[Row<'_>], cached: &[u8]| {
        let extensions = [extension(b"TREE", cached), extension(b"sdir", b"")].concat();
        checked(&index(2, ObjectFormat::Sha1, rows, &extensions), ObjectFormat::Sha1)
    };
    let (a, b): (Row<'_>, Row<'_>) = ((b"a/", FOLDER, 0), (b"b/", FOLDER, 0));
    // Controls, one with entries that begin like a folder.
    assert!(of(&[a, b], &cached).is_ok());
    assert!(of(&[(b"a-/", FOLDER, 0), a, (b"a0", FILE, 0)], b"\0-1 0\n").is_ok());
    let refused = |rows: &[Row<'_>], what: &'static str| {
        assert_eq!(of(rows, b"\0-1 0\n"), Err(IndexError::Malformed { what }), "{rows:?}");
    };
    let below = "an entry below a folder that is an entry";
    refused(&[a, (b"a/x", FILE, 0)], below);
    refused(&[a, (b"a/x/", FOLDER, 0)], below);
    refused(&[a, (b"a/x/y", FILE, 0x1000), b], below);
    let side = "a folder as a side of a conflict";
    refused(&[(b"a/", FOLDER, 0x1000), (b"a/", FOLDER, 0x2000)], side);
}
