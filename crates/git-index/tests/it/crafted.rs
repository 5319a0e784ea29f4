//! Indexes that git would not have written, each next to an accepted one that differs in nothing else.

use git_index::{IndexError, ObjectFormat, check};
use proptest::prelude::*;

pub(crate) const FILE: u32 = 0o100_644;
pub(crate) const SYMLINK: u32 = 0o120_000;
const FOLDER: u32 = 0o040_000;

/// One entry: path, mode and flags without the length.
pub(crate) type Row<'a> = (&'a [u8], u32, u16);

pub(crate) fn index(version: u32, format: ObjectFormat, rows: &[Row<'_>], extensions: &[u8]) -> Vec<u8> {
    let name_bytes = if format == ObjectFormat::Sha1 { 20 } else { 32 };
    let mut bytes = b"DIRC".to_vec();
    bytes.extend(version.to_be_bytes());
    bytes.extend(u32::try_from(rows.len()).unwrap().to_be_bytes());
    let mut before: &[u8] = b"";
    for (path, mode, flags) in rows {
        let start = bytes.len();
        bytes.extend([0; 24]);
        bytes.extend(mode.to_be_bytes());
        bytes.extend(vec![0; 12 + name_bytes]);
        let length = u16::try_from(path.len().min(0xfff)).unwrap();
        bytes.extend((flags | length).to_be_bytes());
        if flags & 0x4000 != 0 {
            bytes.extend([0x40, 0]);
        }
        if version == 4 {
            let same = before.iter().zip(*path).take_while(|(one, other)| one == other).count();
            let removed = before.len() - same;
            if removed >= 0x80 {
                bytes.push(u8::try_from((removed >> 7) - 1).unwrap() | 0x80);
            }
            bytes.push(u8::try_from(removed & 0x7f).unwrap());
            bytes.extend(&path[same..]);
            bytes.push(0);
            before = path;
        } else {
            bytes.extend(*path);
            bytes.extend(vec![0; 8 - (bytes.len() - start) % 8]);
        }
    }
    bytes.extend(extensions);
    bytes.extend(vec![0; name_bytes]);
    bytes
}

pub(crate) fn extension(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    [&name[..], &u32::try_from(content.len()).unwrap().to_be_bytes(), content].concat()
}

pub(crate) fn checked(bytes: &[u8], format: ObjectFormat) -> Result<Vec<Vec<u8>>, IndexError> {
    let mut paths = Vec::new();
    check(bytes, format, &mut |entry| paths.push(entry.path.to_vec())).map(|()| paths)
}

/// Every version with both kinds of names.
pub(crate) const KINDS: [(u32, ObjectFormat); 6] = [
    (2, ObjectFormat::Sha1),
    (3, ObjectFormat::Sha1),
    (4, ObjectFormat::Sha1),
    (2, ObjectFormat::Sha256),
    (3, ObjectFormat::Sha256),
    (4, ObjectFormat::Sha256),
];

#[test]
fn path_that_git_would_not_add_is_refused() {
    let long = [b"x/".repeat(80).as_slice(), b"y"].concat();
    for (version, format) in KINDS {
        for path in [
            &b".git"[..],
            b".git/hooks/post-checkout",
            b".GIT/config",
            b"a/.git/config",
            b"git~1/config",
            b"a/.git /x",
            b"a/.git::$INDEX_ALLOCATION/x",
            "a/.g\u{200c}it/x".as_bytes(),
            b"../x",
            b"a/../x",
            b"a/..",
            b"./x",
            b"a/.",
            b"/etc/passwd",
            b"a//b",
            b"a/",
            b"",
        ] {
            let refused = checked(&index(version, format, &[(path, FILE, 0)], b""), format);
            assert_eq!(refused, Err(IndexError::Path { path: path.to_vec() }), "{version} {format:?}");
            // Also as the second entry.
            let rows: [Row<'_>; 2] = [(b"!", FILE, 0), (path, FILE, 0)];
            assert!(checked(&index(version, format, &rows, b""), format).is_err());
        }
        let rows: Vec<Row<'_>> = vec![
            (b".gitattributes", FILE, 0),
            (b".github/x", FILE, 0),
            (b"a/...", FILE, 0),
            (b"a/.gitx/b", FILE, 0),
            (b"a/b\\c", SYMLINK, 0),
            (b"git", 0o160_000, 0),
            (&long, 0o100_755, 0),
        ];
        let paths = checked(&index(version, format, &rows, b""), format).unwrap();
        assert_eq!(paths, rows.iter().map(|row| row.0.to_vec()).collect::<Vec<_>>());
    }
}

#[test]
fn order_modes_flags_and_versions_are_checked() {
    let sha1 = ObjectFormat::Sha1;
    let of = |version, rows: &[Row<'_>]| checked(&index(version, sha1, rows, b""), sha1);
    let order = |path: &[u8]| Err(IndexError::Order { path: path.to_vec() });
    assert_eq!(of(2, &[(b"b", FILE, 0), (b"a", FILE, 0)]), order(b"a"));
    assert_eq!(of(4, &[(b"ab", FILE, 0), (b"aa", FILE, 0)]), order(b"aa"));
    assert_eq!(of(2, &[(b"a", FILE, 0), (b"a", FILE, 0)]), order(b"a"));
    assert_eq!(of(2, &[(b"a", FILE, 0), (b"a", FILE, 0x1000)]), order(b"a"));
    of(2, &[(b"a", FILE, 0x1000), (b"a", FILE, 0x2000), (b"a", FILE, 0x3000), (b"b", FILE, 0)]).unwrap();
    let below = |path: &[u8]| Err(IndexError::BelowSymlink { path: path.to_vec() });
    assert_eq!(of(2, &[(b"a", SYMLINK, 0), (b"a-b", FILE, 0), (b"a/b", FILE, 0)]), below(b"a/b"));
    of(2, &[(b"a", SYMLINK, 0x2000), (b"a/b", FILE, 0x3000)]).unwrap();
    of(2, &[(b"a", SYMLINK, 0), (b"ab/c", FILE, 0)]).unwrap();
    let mode = IndexError::Mode { path: b"a".to_vec(), mode: 0o100_666 };
    assert_eq!(of(2, &[(b"a", 0o100_666, 0)]), Err(mode));
    assert!(matches!(of(2, &[(b"a", FILE, 0x4000)]), Err(IndexError::Malformed { .. })));
    of(3, &[(b"a", FILE, 0x4000)]).unwrap();
    assert_eq!(of(5, &[]), Err(IndexError::Version { version: 5 }));
    assert_eq!(of(1, &[]), Err(IndexError::Version { version: 1 }));
    let linked: Row<'_> = (b"a/.GitModules", SYMLINK, 0);
    assert!(matches!(of(2, &[linked]), Err(IndexError::Path { .. })));
    of(2, &[(b".gitmodules", FILE, 0)]).unwrap();
}

#[test]
fn paths_and_lengths_that_git_would_read_differently_are_refused() {
    let sha1 = ObjectFormat::Sha1;
    let good = index(2, sha1, &[(b"abc", FILE, 0)], b"");
    assert!(checked(&good, sha1).is_ok());
    for (at, byte) in [(72, 9), (75, 0), (77, b'x'), (79, 1)] {
        let mut bytes = good.clone();
        bytes[at] = byte;
        assert!(checked(&bytes, sha1).is_err(), "byte {at}");
    }
    // Removes more of the previous path than it has.
    let mut bytes = index(4, sha1, &[(b"abc", FILE, 0), (b"abd", FILE, 0)], b"");
    assert!(checked(&bytes, sha1).is_ok());
    let at = bytes.len() - 20 - 3;
    assert_eq!(bytes[at], 1);
    bytes[at] = 4;
    assert!(checked(&bytes, sha1).is_err());
    let long = b"x".repeat(git_index::MAX_PATH_BYTES);
    for version in [2, 4] {
        assert!(checked(&index(version, sha1, &[(&long, FILE, 0)], b""), sha1).is_ok());
        let longer = [&long[..], b"x"].concat();
        assert!(checked(&index(version, sha1, &[(&longer, FILE, 0)], b""), sha1).is_err());
    }
}

#[test]
fn extensions_are_checked() {
    let rows: [Row<'_>; 2] = [(b"a", FILE, 0), (b"b/", FOLDER, 0)];
    for (version, format) in KINDS {
        let of =
            |rows: &[Row<'_>], extensions: &[u8]| checked(&index(version, format, rows, extensions), format);
        of(&rows[..1], &extension(b"REUC", b"x")).unwrap();
        of(&rows[..1], &extension(b"ZZZZ", b"")).unwrap();
        assert_eq!(of(&rows[..1], &extension(b"abcd", b"")), Err(IndexError::Extension { name: *b"abcd" }));
        assert_eq!(of(&rows[..1], b"REUC\0\0\0\x02x"), Err(IndexError::Truncated));
        assert_eq!(of(&rows[..1], b"REUC"), Err(IndexError::Truncated));
        assert!(of(&rows, b"").is_err());
        of(&rows, &extension(b"sdir", b"")).unwrap();
        // Only entries of a shared index can be without a path.
        let unnamed: [Row<'_>; 2] = [(b"", FILE, 0), (b"a", FILE, 0)];
        assert!(of(&unnamed, b"").is_err());
        assert!(of(&unnamed, &extension(b"link", &[0; 32])).is_err());
        of(&unnamed, &extension(b"link", &[1; 32])).unwrap();
        assert!(of(&[unnamed[1], unnamed[0]], &extension(b"link", &[1; 32])).is_err());
    }
}

#[test]
fn tables_that_lead_threads_elsewhere_are_refused() {
    let sha1 = ObjectFormat::Sha1;
    let rows: [Row<'_>; 2] = [(b"a", FILE, 0), (b"b", FILE, 0)];
    let table = |rows: &[(u32, u32)]| {
        let numbers = rows.iter().flat_map(|(offset, count)| [*offset, *count]);
        let content: Vec<u8> = std::iter::once(1).chain(numbers).flat_map(u32::to_be_bytes).collect();
        extension(b"IEOT", &content)
    };
    let of = |version, extensions: &[u8]| checked(&index(version, sha1, &rows, extensions), sha1);
    of(2, &table(&[(12, 1), (76, 1)])).unwrap();
    of(2, &table(&[(12, 2)])).unwrap();
    of(4, &table(&[(12, 1), (77, 1)])).unwrap();
    for wrong in [&[(12, 1)][..], &[(12, 1), (12, 1)], &[(12, 3)], &[(76, 1), (12, 1)], &[(13, 2)], &[]] {
        assert!(of(2, &table(wrong)).is_err(), "{wrong:?}");
    }
    let end = |offset: u32| extension(b"EOIE", &[&offset.to_be_bytes()[..], &[0; 20]].concat());
    of(2, &end(140)).unwrap();
    assert!(of(2, &end(76)).is_err());
    // Hidden in an extension that git ignores.
    assert!(of(2, &extension(b"ZZZZ", &end(76))).is_err());
}

#[test]
fn each_refusal_as_a_person_reads_it() {
    fn row(path: &[u8], mode: u32) -> Row<'_> {
        (path, mode, 0)
    }
    let long = [b'a'; 200];
    let rows: [(&str, Vec<Row<'_>>); 8] = [
        ("a good index", vec![row(b"a", FILE), row(b"b", SYMLINK)]),
        ("a path out of the repository", vec![row(b"../a", FILE)]),
        ("git's own folder", vec![row(b".GIT/config", FILE)]),
        ("a folder as an entry", vec![row(b"a", FOLDER)]),
        ("entries out of order", vec![row(b"b", FILE), row(b"a", FILE)]),
        ("an entry below a symlink", vec![row(b"a", SYMLINK), row(b"a/b", FILE)]),
        ("control characters", vec![row(b"\x1b[2J\n/..", FILE)]),
        ("a long path twice", vec![row(&long, FILE), row(&long, FILE)]),
    ];
    let mut lines: Vec<String> = rows
        .iter()
        .map(|(name, rows)| (*name, index(2, ObjectFormat::Sha1, rows, &[])))
        .chain([
            ("another version", index(5, ObjectFormat::Sha1, &[], &[])),
            ("an unknown extension", index(2, ObjectFormat::Sha1, &[], &extension(b"evil", b""))),
            ("the first half", index(2, ObjectFormat::Sha1, &[row(b"a", FILE)], &[])[..40].to_vec()),
            ("not an index", b"a text".to_vec()),
        ])
        .map(|(name, bytes)| match checked(&bytes, ObjectFormat::Sha1) {
            Ok(paths) => format!("{name}: {} entries", paths.len()),
            Err(error) => format!("{name}: {error}"),
        })
        .collect();
    lines.push(String::new());
    insta::assert_snapshot!(lines.join("\n"));
}

proptest! {
    #[test]
    fn any_bytes_give_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..300), version in 2_u32..5) {
        let bytes = [b"DIRC", &version.to_be_bytes()[..], &[0, 0, 0, 3], &bytes].concat();
        let _ = checked(&bytes, ObjectFormat::Sha1);
        let _ = checked(&bytes, ObjectFormat::Sha256);
    }

    #[test]
    fn cut_or_changed_index_is_never_read_past_its_end(
        cut in 0_usize..400, at in 0_usize..400, byte in any::<u8>(), kind in 0_usize..6,
    ) {
        let (version, format) = KINDS[kind];
        let rows: [Row<'_>; 3] = [(b"a/b", FILE, 0), (b"a/c", SYMLINK, 0), (b"d", FILE, 0x8000)];
        let tree = extension(b"TREE", b"\0-1 1\na\0-1 0\n");
        let mut bytes = index(version, format, &rows, &tree);
        prop_assert!(checked(&bytes, format).is_ok());
        let length = bytes.len();
        bytes[at % length] = byte;
        if let Ok(paths) = checked(&bytes, format) {
            prop_assert!(paths.iter().all(|path| !path.starts_with(b"/") && !path.starts_with(b"..")));
        }
        // Cut by the length of its last extension it is an index without one: its end is taken for the checksum, which is
        // not verified.
        let cut = cut.min(length - 1);
        prop_assert!(cut == length - tree.len() || checked(&bytes[..cut], format).is_err());
    }
}
