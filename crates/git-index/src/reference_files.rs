//! The files in which git keeps references, and the ends of a shallow history. Git fails in every command at a line in them that
//! it cannot read.

use crate::ObjectFormat;
use crate::own_files::is_hex;
use crate::references::{REFERENCE_BYTES, is_reference_name, stays_in_references};

/// The line with which git begins the file of all references, and the only one of a kind that it accepts.
const HEADER: &[u8] = b"# pack-refs with:";

/// Returns whether git can read a file of its own as one reference: the name of an object, or that of another reference.
pub fn is_readable_reference(content: &[u8], format: ObjectFormat) -> bool {
    let is_short = content.len() as u64 <= REFERENCE_BYTES;
    let line = content.strip_suffix(b"\n").unwrap_or(content);
    is_short && (is_object_name(line, format) || line.starts_with(b"ref:") && stays_in_references(content))
}

/// Returns whether git takes a file for a `HEAD`: the name of a commit, or of a branch.
pub fn is_readable_head(content: &[u8], format: ObjectFormat) -> bool {
    let name = content.strip_prefix(b"ref:").map(<[u8]>::trim_ascii_start);
    is_readable_reference(content, format) && name.is_none_or(|name| name.starts_with(b"refs/heads/"))
}

/// Returns whether git can read all lines of a `packed-refs`: a header, references, and what tags stand for.
pub fn are_packed_references(content: &[u8], format: ObjectFormat) -> bool {
    let Some(content) = content.strip_suffix(b"\n") else { return content.is_empty() };
    let mut is_behind_reference = false;
    content.split(|byte| *byte == b'\n').enumerate().all(|(index, line)| {
        if let Some(object) = line.strip_prefix(b"^") {
            return std::mem::take(&mut is_behind_reference) && is_object_name(object, format);
        }
        let digits = 2 * format.name_bytes();
        is_behind_reference = line.get(digits) == Some(&b' ')
            && is_object_name(&line[..digits], format)
            && is_reference_name(&line[digits + 1..]);
        is_behind_reference || index == 0 && line.starts_with(HEADER)
    })
}

/// Returns whether git can read all lines of a `shallow`: names of commits.
pub fn are_shallow_ends(content: &[u8], format: ObjectFormat) -> bool {
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    content.is_empty() || content.split(|byte| *byte == b'\n').all(|line| is_object_name(line, format))
}

/// Returns whether a text names an object. One of zeros alone names none.
fn is_object_name(text: &[u8], format: ObjectFormat) -> bool {
    text.len() == 2 * format.name_bytes() && is_hex(text) && text.iter().any(|digit| *digit != b'0')
}
