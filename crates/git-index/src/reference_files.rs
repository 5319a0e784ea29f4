//! The files in which git keeps references, and the ends of a shallow history. An unreadable line in them makes every git
//! command fail.

use std::collections::BTreeMap;

use crate::ObjectFormat;
use crate::own_files::is_hex;
use crate::references::{REFERENCE_BYTES, is_reference_name, stays_in_references};

/// The first line of `packed-refs`, the only header that git accepts.
const HEADER: &[u8] = b"# pack-refs with:";

/// Returns whether git can read a file as one reference: the name of an object, or of another reference.
pub fn is_readable_reference(content: &[u8], format: ObjectFormat) -> bool {
    let is_short = content.len() as u64 <= REFERENCE_BYTES;
    let line = content.strip_suffix(b"\n").unwrap_or(content);
    is_short && (is_object_name(line, format) || line.starts_with(b"ref:") && stays_in_references(content))
}

/// Returns whether git accepts a file as a `HEAD`: the name of a commit, or of a branch.
pub fn is_readable_head(content: &[u8], format: ObjectFormat) -> bool {
    let name = content.strip_prefix(b"ref:").map(<[u8]>::trim_ascii_start);
    is_readable_reference(content, format) && name.is_none_or(|name| name.starts_with(b"refs/heads/"))
}

/// Returns whether git can read all lines of a `packed-refs`: a header, references, and the objects of tags. If the header
/// says that they are sorted, they must be: git's binary search would not find others.
pub fn are_packed_references(content: &[u8], format: ObjectFormat) -> bool {
    let Some(content) = content.strip_suffix(b"\n") else { return content.is_empty() };
    let mut follows_reference = false;
    let mut name_before = has_trait(content, b"sorted").then_some(&b""[..]);
    content.split(|byte| *byte == b'\n').enumerate().all(|(index, line)| {
        if let Some(object) = line.strip_prefix(b"^") {
            return std::mem::take(&mut follows_reference) && is_object_name(object, format);
        }
        let digits = 2 * format.name_bytes();
        follows_reference = line.get(digits) == Some(&b' ')
            && is_object_name(&line[..digits], format)
            && is_reference_name(&line[digits + 1..]);
        let Some(name) = line.get(digits + 1..).filter(|_| follows_reference) else {
            return index == 0 && line.starts_with(HEADER);
        };
        name_before.is_none_or(|_| name_before.replace(name) < Some(name))
    })
}

/// Returns whether a `packed-refs` gives each tag the same object as the previous version; git does not look these up.
pub fn keeps_objects_of_tags(before: &[u8], after: &[u8]) -> bool {
    let had: BTreeMap<_, _> = packed_objects(before).filter(|(_, stands_for)| stands_for.is_some()).collect();
    // Without that trait, git looks up tags that have no such line.
    let is_complete = has_trait(after, b"fully-peeled");
    packed_objects(after).all(|(object, stands_for)| match (had.get(object), stands_for) {
        (Some(_), None) => !is_complete,
        (Some(had), stands_for) => *had == stands_for,
        (None, _) => true,
    })
}

/// Returns the name of each object in a `packed-refs`, with the name of the tagged object, if given.
fn packed_objects(content: &[u8]) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
    let mut lines = content.split(|byte| *byte == b'\n').peekable();
    std::iter::from_fn(move || {
        let line = lines.next()?;
        let object = line.split(|byte| *byte == b' ').next().unwrap_or_default();
        let stands_for = lines.next_if(|next| next.starts_with(b"^")).map(|next| &next[1..]);
        Some((object, stands_for))
    })
}

/// Returns whether the header of a `packed-refs` has a word.
fn has_trait(content: &[u8], word: &[u8]) -> bool {
    let header = content.split(|byte| *byte == b'\n').next().and_then(|line| line.strip_prefix(HEADER));
    header.is_some_and(|words| words.split(|byte| *byte == b' ').any(|one| one == word))
}

/// Returns whether git can read all lines of a `shallow`: names of commits.
pub fn are_shallow_ends(content: &[u8], format: ObjectFormat) -> bool {
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    content.is_empty() || content.split(|byte| *byte == b'\n').all(|line| is_object_name(line, format))
}

/// Returns whether a text names an object; a name of only zeros does not.
fn is_object_name(text: &[u8], format: ObjectFormat) -> bool {
    text.len() == 2 * format.name_bytes() && is_hex(text) && text.iter().any(|digit| *digit != b'0')
}
