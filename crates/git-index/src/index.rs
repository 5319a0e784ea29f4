//! The check of a whole index, from its first byte to its last.

use crate::cached_trees::{CachedTrees, TreeCheck};
use crate::entry::Entry;
use crate::entry_name::PathNames;
use crate::extensions::{self, EntryOffsets};
use crate::index_error::IndexError;
use crate::object_format::ObjectFormat;
use crate::order::Order;

/// The longest path of an entry, in bytes. A system call accepts no longer one.
pub const MAX_PATH_BYTES: usize = 4_096;

const HEADER_BYTES: usize = 12;
/// Times, numbers and the mode, before the object's name.
const STATUS_BYTES: usize = 40;
const MODE_OFFSET: usize = 24;

const EXTENDED: u16 = 0x4000;
const LENGTH: u16 = 0x0fff;
/// The bits of the second flags that git defines: not in the working tree, and to be added later.
const SECOND_FLAGS: u16 = 0x6000;
const ASSUMED_UNCHANGED: u16 = 0x8000;

/// Reads an index and passes each entry to `visit`, in its order.
///
/// Memory grows with the number of entries, 16 bytes for each, and with the cached trees, and time with the length of the
/// index, although version 4 repeats long paths in a few bytes. Cached trees must match the entries; the file modes of a tree
/// are either all those that git writes today, or all group-writable. The checksum is not verified: the author of a forged
/// index can compute it.
///
/// # Errors
///
/// The fault of the first part that git would not have written, or would not have added. Entries before it have been
/// visited.
pub fn check(bytes: &[u8], format: ObjectFormat, visit: &mut dyn FnMut(Entry<'_>)) -> Result<(), IndexError> {
    check_whole(bytes, format, visit).map(drop)
}

/// Does the same as [`check`], and passes the name of each cached tree to `visit_tree`. Git assumes that it has these objects.
///
/// # Errors
///
/// As [`check`].
pub fn check_with_trees(
    bytes: &[u8],
    format: ObjectFormat,
    visit: &mut dyn FnMut(Entry<'_>),
    visit_tree: &mut dyn FnMut(&[u8]),
) -> Result<(), IndexError> {
    check_parts(bytes, format, visit, visit_tree).map(drop)
}

/// Does the same as [`check`]; returns whether some entries are in a shared index.
pub(crate) fn check_whole(
    bytes: &[u8],
    format: ObjectFormat,
    visit: &mut dyn FnMut(Entry<'_>),
) -> Result<bool, IndexError> {
    check_parts(bytes, format, visit, &mut |_| {})
}

fn check_parts(
    bytes: &[u8],
    format: ObjectFormat,
    visit: &mut dyn FnMut(Entry<'_>),
    visit_tree: &mut dyn FnMut(&[u8]),
) -> Result<bool, IndexError> {
    let name_bytes = format.name_bytes();
    if !bytes.starts_with(b"DIRC") {
        return Err(IndexError::NoIndex);
    }
    if bytes.len() < HEADER_BYTES + name_bytes {
        return Err(IndexError::Truncated);
    }
    let version = u32_at(bytes, 4)?;
    if !(2..=4).contains(&version) {
        return Err(IndexError::Version { version });
    }
    let count = u32_at(bytes, 8)? as usize;
    let body = &bytes[..bytes.len() - name_bytes];
    let mut reader = Reader::new(body, version, name_bytes);
    let mut names = PathNames::default();
    let mut order = Order::default();
    let mut whole = Vec::new();
    let (mut has_unnamed, mut has_folders) = (false, false);
    for position in 0..count {
        let offset = reader.offset;
        let (entry, facts) = reader.entry()?;
        if !entry.has_known_mode() {
            return Err(IndexError::Mode { path: entry.path.to_vec(), mode: entry.mode });
        }
        if !entry.path.is_empty() {
            names.check(&entry, facts.common)?;
        }
        // A thread of git can start only at such an entry: any other entry needs the previous path.
        if facts.encoded == 0 {
            whole.push((offset, position));
        }
        has_unnamed |= entry.path.is_empty();
        has_folders |= entry.is_folder();
        // Git expands the folder of a conflict before it writes the index.
        if entry.is_folder() && entry.stage != 0 {
            return Err(IndexError::Malformed { what: "a folder as a side of a conflict" });
        }
        order.check(&entry, facts.common)?;
        visit(entry);
    }
    let entries = EntryOffsets { whole, count, end: reader.offset };
    let extensions = extensions::check(bytes, name_bytes, &entries)?;
    if has_unnamed && !extensions.is_split {
        return Err(IndexError::Path { path: Vec::new() });
    }
    if has_folders && !extensions.is_sparse {
        return Err(IndexError::Malformed { what: "folders as entries" });
    }
    let Some(content) = extensions.cached_trees else { return Ok(extensions.is_split) };
    let trees = CachedTrees::parse(content, format)?;
    if !trees.has_trees() {
        return Ok(extensions.is_split);
    }
    trees.objects().for_each(visit_tree);
    if extensions.is_split {
        return Err(IndexError::SplitTrees);
    }
    let check = TreeCheck::new(&trees, format, bytes.len());
    check_trees(Reader::new(body, version, name_bytes), count, check).map(|()| extensions.is_split)
}

/// Reads the entries, which were checked, once more, and compares their trees with the cached ones.
fn check_trees(mut reader: Reader<'_>, count: usize, mut check: TreeCheck<'_>) -> Result<(), IndexError> {
    for _ in 0..count {
        let (entry, facts) = reader.entry()?;
        check.entry(&entry, facts.common)?;
    }
    check.end()
}

struct Reader<'a> {
    /// The index without its checksum.
    body: &'a [u8],
    offset: usize,
    version: u32,
    name_bytes: usize,
    /// The path of the previous entry.
    path: Vec<u8>,
}

/// Facts about an entry's path.
struct EntryFacts {
    /// The length of the prefix that the encoding takes from the previous path.
    encoded: usize,
    /// The length of the prefix that it shares with the previous path.
    common: usize,
}

impl<'a> Reader<'a> {
    fn new(body: &'a [u8], version: u32, name_bytes: usize) -> Reader<'a> {
        Reader { body, offset: HEADER_BYTES, version, name_bytes, path: Vec::new() }
    }

    /// Reads the next entry, and compares its path with the previous one.
    fn entry(&mut self) -> Result<(Entry<'_>, EntryFacts), IndexError> {
        let start = self.offset;
        let mode = u32_at(self.body, start + MODE_OFFSET)?;
        let flags_offset = start + STATUS_BYTES + self.name_bytes;
        let flags = u16_at(self.body, flags_offset)?;
        let object = self.body.get(start + STATUS_BYTES..flags_offset).ok_or(IndexError::Truncated)?;
        let mut at = flags_offset + 2;
        let mut marks = flags & ASSUMED_UNCHANGED;
        if flags & EXTENDED != 0 {
            let second = u16_at(self.body, at)?;
            if self.version == 2 || second & !SECOND_FLAGS != 0 {
                return Err(IndexError::Malformed { what: "flags" });
            }
            marks |= second;
            at += 2;
        }
        let kept = if self.version == 4 { self.path_prefix(&mut at)? } else { 0 };
        let rest = self.body.get(at..).ok_or(IndexError::Truncated)?;
        let limit = MAX_PATH_BYTES - kept.min(MAX_PATH_BYTES);
        let length = rest.iter().take(limit + 1).position(|byte| *byte == 0);
        let length = length.ok_or(if rest.len() <= limit {
            IndexError::Truncated
        } else {
            IndexError::Malformed { what: "a path that is too long" }
        })?;
        // Computed before the path is replaced. Names within the common part need no second check.
        let common = common_bytes(&self.path, &rest[..length], kept);
        self.path.truncate(kept);
        self.path.extend_from_slice(&rest[..length]);
        if usize::from(flags & LENGTH) != self.path.len().min(usize::from(LENGTH)) {
            return Err(IndexError::Malformed { what: "the length of a path" });
        }
        at += length;
        self.offset = if self.version == 4 { at + 1 } else { start + (at - start + 8) / 8 * 8 };
        let padding = self.body.get(at..self.offset).ok_or(IndexError::Truncated)?;
        if padding.iter().any(|byte| *byte != 0) {
            return Err(IndexError::Malformed { what: "the bytes after a path" });
        }
        let stage = u8::try_from(flags >> 12 & 3).unwrap_or_default();
        let entry = Entry { path: &self.path, mode, stage, object, marks };
        Ok((entry, EntryFacts { encoded: kept, common }))
    }

    /// Reads the number of bytes to remove from the end of the previous path. Returns the number of bytes that are kept.
    fn path_prefix(&self, at: &mut usize) -> Result<usize, IndexError> {
        let mut next = || {
            let byte = self.body.get(*at).copied().ok_or(IndexError::Truncated);
            *at += 1;
            byte
        };
        let mut byte = next()?;
        let mut removed = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = next()?;
            removed = (removed + 1) << 7 | usize::from(byte & 0x7f);
            // The number has no fixed length; more would only overflow.
            if removed > MAX_PATH_BYTES {
                break;
            }
        }
        self.path.len().checked_sub(removed).ok_or(IndexError::Malformed { what: "a path's beginning" })
    }
}

/// Returns the length of the common beginning of two paths, whose first `kept` bytes are equal.
fn common_bytes(before: &[u8], rest: &[u8], kept: usize) -> usize {
    kept + before[kept..].iter().zip(rest).take_while(|(one, other)| one == other).count()
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, IndexError> {
    let number = bytes.get(at..).and_then(|rest| rest.first_chunk()).ok_or(IndexError::Truncated)?;
    Ok(u32::from_be_bytes(*number))
}

fn u16_at(bytes: &[u8], at: usize) -> Result<u16, IndexError> {
    let number = bytes.get(at..).and_then(|rest| rest.first_chunk()).ok_or(IndexError::Truncated)?;
    Ok(u16::from_be_bytes(*number))
}
