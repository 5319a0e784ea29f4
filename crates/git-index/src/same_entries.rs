//! The comparison of two indexes without git's cached facts about files.

use crate::entry::Entry;
use crate::index::check_whole;
use crate::object_format::ObjectFormat;

/// Returns whether two indexes have the same entries: paths, modes, stages, objects and marks. Times, sizes and cached trees do
/// not count: `git status` rewrites them. An index that [`check`](crate::check) rejects, or that is split, equals no
/// other.
///
/// Memory grows with the length of the first index.
pub fn has_same_entries(one: &[u8], other: &[u8], format: ObjectFormat) -> bool {
    let mut expected = Vec::new();
    let first = check_whole(one, format, &mut |entry| encode(&entry, &mut expected));
    let (mut at, mut encoded) = (0, Vec::new());
    let mut is_same = true;
    let second = check_whole(other, format, &mut |entry| {
        encoded.clear();
        encode(&entry, &mut encoded);
        is_same &= expected[at.min(expected.len())..].starts_with(&encoded);
        at += encoded.len();
    });
    (first, second) == (Ok(false), Ok(false)) && is_same && at == expected.len()
}

/// Encodes an entry such that no encoding is a prefix of another.
fn encode(entry: &Entry<'_>, text: &mut Vec<u8>) {
    text.extend(entry.mode.to_be_bytes());
    text.extend(entry.marks.to_be_bytes());
    text.push(entry.stage);
    text.extend(entry.object);
    text.extend(entry.path);
    text.push(0);
}
