//! Indexes that are small and have long paths.
#![expect(clippy::disallowed_methods, reason = "the test measures its own process")]

use std::time::{Duration, Instant};

use git_index::{IndexError, ObjectFormat, check};

use crate::crafted::{FILE, Row, SYMLINK, checked, index};

/// A hang guard: far longer than the test takes.
const GUARD: Duration = Duration::from_secs(60);

/// Returns the bytes of memory that this process holds.
fn resident_bytes() -> u64 {
    let lines = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = lines.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

/// An index of version 4 whose entries share a path of 4,000 bytes, so that each takes few bytes.
fn with_long_paths(mode: u32, part: &str) -> Vec<u8> {
    let folder = part.repeat(4_000 / part.len());
    let paths: Vec<String> = (0..10_000).map(|number| format!("{folder}{number:05}")).collect();
    let rows: Vec<Row<'_>> = paths.iter().map(|path| (path.as_bytes(), mode, 0)).collect();
    index(4, ObjectFormat::Sha1, &rows, b"")
}

#[test]
fn memory_and_time_are_those_of_the_index_and_not_of_its_paths() {
    for (mode, part) in [(FILE, "a/"), (SYMLINK, "a/"), (SYMLINK, "g~/"), (SYMLINK, ".g/")] {
        let bytes = with_long_paths(mode, part);
        assert!(bytes.len() < 4 << 20, "{}", bytes.len());
        let (before, began) = (resident_bytes(), Instant::now());
        let (mut count, mut most) = (0, 0);
        check(&bytes, ObjectFormat::Sha1, &mut |_| {
            count += 1;
            if count % 2_000 == 0 {
                most = most.max(resident_bytes());
            }
        })
        .unwrap();
        assert_eq!(count, 10_000);
        // Other tests run alongside this one. The paths are 40 million bytes.
        let more = most.saturating_sub(before);
        assert!(more < 30 << 20, "{mode:o} {part}: {more} bytes for {}", bytes.len());
        assert!(began.elapsed() < GUARD, "{mode:o} {part}: {:?}", began.elapsed());
    }
}

#[test]
fn a_link_is_known_until_the_order_of_paths_has_passed_it() {
    let links_and_files: [(&[Row<'_>], Option<&[u8]>); 8] = [
        (
            &[
                (b"a", SYMLINK, 0),
                (b"a!", FILE, 0),
                (b"a-b", SYMLINK, 0),
                (b"a.c", FILE, 0),
                (b"a/b", FILE, 0),
            ],
            Some(b"a/b"),
        ),
        (&[(b"a", SYMLINK, 0), (b"a-b", SYMLINK, 0), (b"a-b/c", FILE, 0)], Some(b"a-b/c")),
        (&[(b"a", SYMLINK, 0), (b"a-b", SYMLINK, 0), (b"a-b-c", FILE, 0), (b"a/b", FILE, 0)], Some(b"a/b")),
        // Sides of a conflict may be there, and later entries may not.
        (&[(b"a", SYMLINK, 0), (b"a/b", FILE, 0x1000), (b"a/c", FILE, 0)], Some(b"a/c")),
        (&[(b"a", SYMLINK, 0), (b"a/b/c", FILE, 0x1000), (b"a/b/d", FILE, 0)], Some(b"a/b/d")),
        (&[(b"a", SYMLINK, 0), (b"a/b", FILE, 0x1000), (b"ab", FILE, 0), (b"b/a", FILE, 0)], None),
        (&[(b"a", SYMLINK, 0), (b"a-b", SYMLINK, 0), (b"a0", FILE, 0), (b"a0/b", FILE, 0)], None),
        (&[(b"a/b", SYMLINK, 0), (b"a/c/b", FILE, 0), (b"ab", SYMLINK, 0), (b"abc", FILE, 0)], None),
    ];
    for version in [2, 4] {
        for (rows, below) in links_and_files {
            let refused = checked(&index(version, ObjectFormat::Sha1, rows, b""), ObjectFormat::Sha1).err();
            let expected = below.map(|path| IndexError::BelowSymlink { path: path.to_vec() });
            assert_eq!(refused, expected, "{version} {rows:?}");
        }
    }
}
