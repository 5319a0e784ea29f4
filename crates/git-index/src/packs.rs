//! Reads pack indexes, and commits in packs.

use crate::object_format::ObjectFormat;
use crate::objects::{HEADER_BYTES, ObjectName, inflated, names_in_lines};

/// The beginning of an index of a pack, with its version.
const MAGIC: &[u8] = b"\xfftOc\0\0\0\x02";

/// The entries of the fan-out table, each a number of four bytes.
const FIRST_BYTES: usize = 256;

/// The longest chain of deltas that is resolved. Git itself makes chains of 50.
const MOST_BASES: usize = 64;

/// The bit that marks an offset as an index into the table of long offsets.
const IS_LONG: u32 = 1 << 31;

/// A pack index that git can read.
#[derive(Clone, Copy, Debug)]
pub struct PackIndex<'a> {
    bytes: &'a [u8],
    count: usize,
    format: ObjectFormat,
}

impl<'a> PackIndex<'a> {
    /// The bytes before the names.
    pub const HEAD_BYTES: usize = MAGIC.len() + 4 * FIRST_BYTES;

    /// Parses an index; `None` if git fails to read it, or would not have written it. Its own checksum is not verified.
    pub fn read(bytes: &'a [u8]) -> Option<PackIndex<'a>> {
        PackIndex::open(bytes).filter(PackIndex::is_in_order)
    }

    /// Parses an index that was checked before: the order of its names is not checked again.
    pub fn open(bytes: &'a [u8]) -> Option<PackIndex<'a>> {
        let count = PackIndex::count(bytes.get(..PackIndex::HEAD_BYTES)?, bytes.len() as u64)?;
        let format = [ObjectFormat::Sha1, ObjectFormat::Sha256]
            .into_iter()
            .find(|format| has_size(count, *format, bytes.len() as u64))?;
        Some(PackIndex { bytes, count, format })
    }

    /// Returns whether the names are in order, and match the fan-out table.
    fn is_in_order(&self) -> bool {
        let (index, count, bytes) = (self, self.count, self.bytes);
        let is_sorted = (1..count).all(|at| index.name(at - 1) <= index.name(at));
        let is_listed = (0..FIRST_BYTES).all(|first| {
            let end = number(bytes, MAGIC.len() + 4 * first).map(|end| end as usize);
            end.is_some_and(|end| {
                (end == 0 || usize::from(index.name(end - 1)[0]) <= first)
                    && (end == count || usize::from(index.name(end)[0]) > first)
            })
        });
        is_sorted && is_listed
    }

    /// Returns the number of objects in an index from its first [`HEAD_BYTES`](PackIndex::HEAD_BYTES) and its size in bytes;
    /// `None` if git fails to read it because of these.
    pub fn count(head: &[u8], size_bytes: u64) -> Option<usize> {
        let table = head.strip_prefix(MAGIC).filter(|table| table.len() == 4 * FIRST_BYTES)?;
        let counts = (0..FIRST_BYTES).map(|first| number(table, 4 * first));
        let counts: Vec<u32> = counts.collect::<Option<_>>()?;
        let count = usize::try_from(*counts.last()?).ok()?;
        let formats = [ObjectFormat::Sha1, ObjectFormat::Sha256];
        let has_size = formats.into_iter().any(|format| has_size(count, format, size_bytes));
        (counts.is_sorted() && has_size).then_some(count)
    }

    /// Returns whether a pack has the form and checksum of this index's pack. The contents of its objects are not checked.
    pub fn is_of(&self, pack: &[u8]) -> bool {
        let length = self.format.name_bytes();
        let checksum = &self.bytes[self.bytes.len() - 2 * length..][..length];
        pack.starts_with(b"PACK")
            && number(pack, 4).is_some_and(|version| matches!(version, 2 | 3))
            && number(pack, 8).is_some_and(|count| count as usize == self.count)
            && pack.len() >= 12 + length
            && pack.ends_with(checksum)
    }

    /// Returns whether the index lists an object.
    pub fn has(&self, object: &ObjectName) -> bool {
        self.position(object.as_bytes()).is_some()
    }

    /// Returns the parents of a commit in the pack; `Some(None)` if it cannot be read, or is not a commit, and `None` if it is not
    /// in the pack. `left_bytes` is the budget for inflated bytes.
    pub fn parents(
        &self,
        pack: &[u8],
        commit: &ObjectName,
        left_bytes: &mut usize,
    ) -> Option<Option<Vec<ObjectName>>> {
        const COMMIT: u8 = 1;
        let offset = self.offset(commit.as_bytes())?;
        let read = self.object(pack, offset, left_bytes, MOST_BASES);
        let names = read.filter(|(kind, _)| *kind == COMMIT);
        let names = names.and_then(|(_, content)| names_in_lines(&content, self.format));
        Some(names.map(|names| names.into_iter().skip(1).collect()))
    }

    /// Returns the kind of an object of the pack, as a number, and its content.
    fn object(
        &self,
        pack: &[u8],
        offset: usize,
        left_bytes: &mut usize,
        left_bases: usize,
    ) -> Option<(u8, Vec<u8>)> {
        const OFFSET_DELTA: u8 = 6;
        const NAME_DELTA: u8 = 7;
        let mut rest = pack.get(offset..)?;
        let mut byte = *rest.split_off_first()?;
        let kind = byte >> 4 & 7;
        // The size is in the content as well.
        while byte & 0x80 != 0 {
            byte = *rest.split_off_first()?;
        }
        let base = match kind {
            OFFSET_DELTA => {
                let mut byte = *rest.split_off_first()?;
                let mut back = usize::from(byte & 0x7f);
                while byte & 0x80 != 0 {
                    byte = *rest.split_off_first()?;
                    back = back.checked_add(1)?.checked_mul(128)? | usize::from(byte & 0x7f);
                }
                Some(offset.checked_sub(back).filter(|_| back > 0)?)
            }
            NAME_DELTA => Some(self.offset(rest.split_off(..self.format.name_bytes())?)?),
            _ => None,
        };
        let content = inflated(rest, HEADER_BYTES, left_bytes)?;
        let Some(base) = base else { return Some((kind, content)) };
        let (kind, base) = self.object(pack, base, left_bytes, left_bases.checked_sub(1)?)?;
        Some((kind, applied(&base, &content)?))
    }

    /// Returns the offset of an object in the pack.
    fn offset(&self, name: &[u8]) -> Option<usize> {
        let offsets = PackIndex::HEAD_BYTES + self.count * (self.format.name_bytes() + 4);
        let offset = number(self.bytes, offsets + 4 * self.position(name)?)?;
        // A pack of this size is not read.
        (offset & IS_LONG == 0).then_some(offset as usize)
    }

    /// Returns the 0-based position of a name.
    fn position(&self, name: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            match self.name(middle).cmp(name) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn name(&self, at: usize) -> &'a [u8] {
        let length = self.format.name_bytes();
        &self.bytes[PackIndex::HEAD_BYTES + at * length..][..length]
    }
}

/// Returns whether an index with `count` objects may have this size: after names, checksums and offsets, it has a table of
/// some long offsets.
fn has_size(count: usize, format: ObjectFormat, size_bytes: u64) -> bool {
    let (count, length) = (count as u64, format.name_bytes() as u64);
    let least = PackIndex::HEAD_BYTES as u64 + count * (length + 8) + 2 * length;
    size_bytes.checked_sub(least).is_some_and(|long| long % 8 == 0 && long / 8 <= count)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_be_bytes)
}

/// Applies a delta to a content. The result has at most the length of a header.
fn applied(base: &[u8], mut delta: &[u8]) -> Option<Vec<u8>> {
    let size = |delta: &mut &[u8]| {
        let (mut size, mut shift) = (0_usize, 0);
        loop {
            let byte = *delta.split_off_first()?;
            size |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(size);
            }
        }
    };
    let (from, to) = (size(&mut delta)?, size(&mut delta)?);
    if from != base.len() || to > HEADER_BYTES {
        return None;
    }
    let mut content = Vec::new();
    while let Some(step) = delta.split_off_first() {
        if step & 0x80 == 0 {
            content.extend_from_slice(delta.split_off(..usize::from(*step)).filter(|new| !new.is_empty())?);
        } else {
            let mut part = |bits: std::ops::Range<u32>| {
                let mut value = 0_usize;
                for (at, bit) in bits.enumerate() {
                    if step >> bit & 1 != 0 {
                        value |= usize::from(*delta.split_off_first()?) << (8 * at);
                    }
                }
                Some(value)
            };
            let (start, length) = (part(0..4)?, part(4..7)?);
            let length = if length == 0 { 0x10000 } else { length };
            content.extend_from_slice(base.get(start..start.checked_add(length)?)?);
        }
        if content.len() > to {
            return None;
        }
    }
    (content.len() == to).then_some(content)
}
