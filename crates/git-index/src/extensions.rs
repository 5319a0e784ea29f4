//! The extensions of an index, between its entries and its checksum.

use crate::index_error::IndexError;

/// The bytes before the content of an extension: its name and its length.
const HEADER_BYTES: usize = 8;

/// The facts in the extensions that affect the meaning of the entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extensions<'a> {
    /// True if entries without a path replace those of a shared index.
    pub(crate) is_split: bool,
    /// True if entries may stand for whole folders.
    pub(crate) is_sparse: bool,
    /// The content of the extension with the cached trees.
    pub(crate) cached_trees: Option<&'a [u8]>,
}

/// The offsets of the entries, and the end of the last one.
#[derive(Debug)]
pub(crate) struct EntryOffsets {
    /// The offset of each entry that shares nothing with the previous path, with its position among all.
    pub(crate) whole: Vec<(usize, usize)>,
    pub(crate) count: usize,
    pub(crate) end: usize,
}

/// Checks everything between the entries and the checksum.
pub(crate) fn check<'a>(
    bytes: &'a [u8],
    name_bytes: usize,
    entries: &EntryOffsets,
) -> Result<Extensions<'a>, IndexError> {
    let body = &bytes[..bytes.len() - name_bytes];
    check_end(body, name_bytes, entries.end)?;
    let mut extensions = Extensions::default();
    let mut rest = &body[entries.end..];
    while !rest.is_empty() {
        let header = rest.first_chunk::<HEADER_BYTES>().ok_or(IndexError::Truncated)?;
        let name = [header[0], header[1], header[2], header[3]];
        let length = number(&header[4..]);
        let content = rest.get(HEADER_BYTES..HEADER_BYTES + length).ok_or(IndexError::Truncated)?;
        match &name {
            b"link" => {
                let base = content.get(..name_bytes).ok_or(IndexError::Truncated)?;
                extensions.is_split |= base.iter().any(|byte| *byte != 0);
            }
            b"sdir" => extensions.is_sparse = true,
            // Of two, git would use the last one.
            b"TREE" if extensions.cached_trees.is_some() => {
                return Err(IndexError::Malformed { what: "the cached trees" });
            }
            b"TREE" => extensions.cached_trees = Some(content),
            b"IEOT" => check_offsets(content, entries)?,
            // Git ignores unknown extensions whose names begin with a capital letter.
            [b'A'..=b'Z', ..] => {}
            _ => return Err(IndexError::Extension { name }),
        }
        rest = &rest[HEADER_BYTES + length..];
    }
    Ok(extensions)
}

/// Checks the record of the entries' end. Git reads it at a fixed distance from the end of the file, even in the middle
/// of another extension.
fn check_end(body: &[u8], name_bytes: usize, end: usize) -> Result<(), IndexError> {
    let length = 4 + name_bytes;
    let Some(note) = body.len().checked_sub(HEADER_BYTES + length).map(|start| &body[start..]) else {
        return Ok(());
    };
    let is_note = note.starts_with(b"EOIE") && number(&note[4..8]) == length;
    if is_note && number(&note[8..12]) != end {
        return Err(IndexError::Malformed { what: "the end of the entries" });
    }
    Ok(())
}

/// Checks the table by which git reads entries in several threads: it must list all of them and nothing else.
fn check_offsets(content: &[u8], entries: &EntryOffsets) -> Result<(), IndexError> {
    let wrong = IndexError::Malformed { what: "the table of offsets" };
    let Some((version, rows)) = content.split_first_chunk::<4>() else { return Err(wrong) };
    if number(version) != 1 || rows.len() % 8 != 0 {
        return Err(wrong);
    }
    let mut position = 0;
    for row in rows.chunks_exact(8) {
        let (offset, count) = (number(&row[..4]), number(&row[4..]));
        let is_start = entries.whole.binary_search(&(offset, position)).is_ok();
        if count == 0 || !is_start {
            return Err(wrong);
        }
        position += count;
    }
    if position == entries.count { Ok(()) } else { Err(wrong) }
}

/// Reads four bytes in big-endian order.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().take(4).fold(0, |number, byte| number << 8 | usize::from(*byte))
}
