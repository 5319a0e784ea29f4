//! The rules for files that git reads as references.

/// The most bytes of such a file that have to be read: a longer one names no other reference that git accepts.
pub const REFERENCE_BYTES: u64 = 4096;

/// References in a repository's own folder, besides `HEAD` and names with its ending.
const ROOTS: [&[u8]; 5] =
    [b"AUTO_MERGE", b"BISECT_EXPECTED_REV", b"MERGE_AUTOSTASH", b"NOTES_MERGE_PARTIAL", b"NOTES_MERGE_REF"];

/// The name in the `HEAD` of a repository that keeps its references in tables. Git does not accept it as a reference.
const NO_REFERENCE: &[u8] = b"refs/heads/.invalid";

/// Returns whether git reads a file of a repository's folder, given by the names of its path, as a reference: anything in
/// `refs`, and files named `HEAD`, `ORIG_HEAD` and the like, including those of submodules and working trees.
pub fn is_reference<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> bool {
    let mut last: &[u8] = b"";
    for name in names {
        if last.eq_ignore_ascii_case(b"refs") {
            return true;
        }
        last = name;
    }
    let end = &last[last.len().saturating_sub(4)..];
    end.eq_ignore_ascii_case(b"HEAD") || ROOTS.iter().any(|root| last.eq_ignore_ascii_case(root))
}

/// Returns whether git stays in `refs` when it follows a reference with this content.
///
/// Git reads and writes through the name of another reference, with a check that accepts `refs/../..`. The bytes are the
/// whole file, or its beginning, with at least one byte more than [`REFERENCE_BYTES`].
pub fn stays_in_references(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"ref:") else { return true };
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let start = rest.iter().position(|byte| !is_blank(byte)).unwrap_or(rest.len());
    let end = rest.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    let name = &rest[start..end];
    bytes.len() as u64 <= REFERENCE_BYTES && (name == NO_REFERENCE || is_reference_name(name))
}

/// Returns whether `git check-ref-format` accepts a full name, and it begins with `refs/`.
pub fn is_reference_name(name: &[u8]) -> bool {
    let is_bad = |byte: &u8| {
        matches!(byte, b' ' | b'~' | b'^' | b':' | b'?' | b'*' | b'[' | b'\\') || byte.is_ascii_control()
    };
    let has = |pair: &[u8]| name.windows(2).any(|two| two == pair);
    let is_bad_component =
        |part: &[u8]| part.is_empty() || part.starts_with(b".") || part.ends_with(b".lock");
    name.starts_with(b"refs/")
        && !name.iter().any(is_bad)
        && !has(b"..")
        && !has(b"@{")
        && !name.ends_with(b".")
        && !name.split(|byte| *byte == b'/').any(is_bad_component)
}
