//! The tables in which git keeps references with the setting `reftable`.

use std::collections::BTreeSet;

use crate::ObjectFormat;

/// The beginning of a table.
const MAGIC: &[u8] = b"REFT";

/// The hash function that a table of the second version names for object names of 20 bytes.
const SHA1: &[u8] = b"sha1";

/// The one for names of 32 bytes.
const SHA256: &[u8] = b"s256";

/// The type of a block of references.
const REFERENCES: u8 = b'r';

/// The type of an index block, which lists the blocks of references.
const INDEX: u8 = b'i';

/// The most levels of index blocks. A table of a million references has two.
const LEVELS: usize = 8;

/// The largest update number. After the largest that a table could hold, git's next update fails; the names of its tables
/// have room for 12 digits.
const MOST_UPDATES: u64 = 1 << 40;

/// Reads the value after a name, by the kind of the value.
type ReadValue<'a> = dyn FnMut(&[u8], usize, &mut &[u8]) -> Option<()> + 'a;

/// A reference in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableReference {
    /// The name, `HEAD` for instance.
    pub name: Vec<u8>,
    /// The names of the object and of the tagged object, if present.
    pub objects: Vec<Vec<u8>>,
    /// The target of a symbolic reference.
    pub target: Option<Vec<u8>>,
}

/// Returns the references in a table, without deleted ones; `None` if git would not have written it so, for instance with
/// names out of order, which git searches by bisection.
///
/// Names are prefix-compressed, so a plain search does not find them.
pub fn references_in_table(table: &[u8], format: ObjectFormat) -> Option<Vec<TableReference>> {
    let rest = table.strip_prefix(MAGIC)?;
    let name_bytes = format.name_bytes();
    let header = match (rest.first()?, format) {
        (1, ObjectFormat::Sha1) => 24,
        (2, ObjectFormat::Sha1) if table.get(24..28)? == SHA1 => 28,
        (2, ObjectFormat::Sha256) if table.get(24..28)? == SHA256 => 28,
        _ => return None,
    };
    let (blocks, footer) = table.split_at_checked(table.len().checked_sub(header + FOOTER_BYTES)?)?;
    let index = index_in_footer(footer, table.get(..header)?)?;
    let number = |at: usize| Some(u64::from_be_bytes(*table.get(at..)?.first_chunk::<8>()?));
    let (first_update, last_update) = (number(8)?, number(16)?);
    if first_update > last_update || last_update > MOST_UPDATES {
        return None;
    }
    let reader = Reader { blocks, header, name_bytes, block_size: number_of_24_bits(rest.get(1..4)?) };
    let (mut references, mut ends) = (Vec::new(), Vec::new());
    let (mut start, mut name) = (0, Vec::new());
    while reader.kind_at(start) == Some(REFERENCES) {
        let (block, next) = reader.block_at(start)?;
        reader.read_references(block, &mut name, &mut references)?;
        ends.push((name.clone(), start));
        start = next;
    }
    let is_sound = index == 0 || reader.indexed(index, LEVELS)? == ends;
    is_sound.then_some(references)
}

/// The bytes of a footer after the copy of the header: five offsets, and a checksum of the footer.
const FOOTER_BYTES: usize = 44;

/// Returns the offset of the index of references in a footer, or 0 if there is none.
fn index_in_footer(footer: &[u8], header: &[u8]) -> Option<usize> {
    let (content, checksum) = footer.split_last_chunk::<4>()?;
    let offsets = content.strip_prefix(header)?;
    let index = u64::from_be_bytes(*offsets.first_chunk::<8>()?);
    (crc32(content) == u32::from_be_bytes(*checksum)).then(|| usize::try_from(index).ok())?
}

/// A block: its type, its records, and the offset of the first one in the table.
struct Block<'a> {
    records: &'a [u8],
    /// The number of bytes before the records, from the beginning that git counts from.
    offset: usize,
    restarts: BTreeSet<usize>,
}

struct Reader<'a> {
    blocks: &'a [u8],
    header: usize,
    name_bytes: usize,
    block_size: usize,
}

impl<'a> Reader<'a> {
    /// Returns the number of bytes before the type of a block.
    fn first(&self, start: usize) -> usize {
        if start == 0 { self.header } else { 0 }
    }

    fn kind_at(&self, start: usize) -> Option<u8> {
        self.blocks.get(start.checked_add(self.first(start))?).copied()
    }

    /// Returns the block at an offset, and the offset of the next one.
    fn block_at(&self, start: usize) -> Option<(Block<'a>, usize)> {
        let first = self.first(start);
        let length = number_of_24_bits(self.blocks.get(start + first + 1..start + first + 4)?);
        let block = self.blocks.get(start..start.checked_add(length)?)?;
        let (block, count) = block.split_last_chunk::<2>()?;
        let restarts = 3 * usize::from(u16::from_be_bytes(*count));
        let (records, restarts) = block.split_at_checked(block.len().checked_sub(restarts)?)?;
        let offset = first + 4;
        let restarts: Vec<_> = restarts.chunks(3).map(number_of_24_bits).collect();
        // Git searches them by bisection.
        if !restarts.is_sorted() {
            return None;
        }
        let records = records.get(offset..)?;
        // The last block of a kind is not padded.
        let is_short = self.blocks.get(start + length).is_some_and(|byte| *byte != 0);
        let next = start + if self.block_size <= length || is_short { length } else { self.block_size };
        Some((Block { records, offset, restarts: restarts.into_iter().collect() }, next))
    }

    /// Reads the references of a block, after the given name.
    fn read_references(
        &self,
        block: Block<'_>,
        name: &mut Vec<u8>,
        references: &mut Vec<TableReference>,
    ) -> Option<()> {
        self.read_names(block, name, &mut |name, kind, rest| {
            take_number(rest)?;
            let mut take_names = |count: usize| -> Option<Vec<Vec<u8>>> {
                (0..count).map(|_| take(rest, self.name_bytes).map(<[u8]>::to_vec)).collect()
            };
            let (objects, target) = match kind {
                0 => return Some(()),
                1 | 2 => (take_names(kind)?, None),
                3 => {
                    let length = take_number(rest)?;
                    (Vec::new(), Some(take(rest, length)?.to_vec()))
                }
                _ => return None,
            };
            references.push(TableReference { name: name.to_vec(), objects, target });
            Some(())
        })
    }

    /// Returns the last name and the offset of each block of references in an index.
    fn indexed(&self, index: usize, levels: usize) -> Option<Vec<(Vec<u8>, usize)>> {
        let (mut start, mut name) = (index, Vec::new());
        let mut entries = Vec::new();
        while self.kind_at(start) == Some(INDEX) {
            let (block, next) = self.block_at(start)?;
            self.read_index(block, &mut name, &mut entries)?;
            start = next;
        }
        self.leaves(entries, levels)
    }

    /// Returns the blocks of references that entries of an index lead to, in their order.
    fn leaves(&self, entries: Vec<(Vec<u8>, usize)>, levels: usize) -> Option<Vec<(Vec<u8>, usize)>> {
        let levels = levels.checked_sub(1)?;
        let is_last = entries.iter().all(|(_, start)| self.kind_at(*start) == Some(REFERENCES));
        if is_last {
            return Some(entries);
        }
        let (mut name, mut all) = (Vec::new(), Vec::new());
        for (last, start) in entries {
            let (block, _) = self.block_at(start).filter(|_| self.kind_at(start) == Some(INDEX))?;
            self.read_index(block, &mut name, &mut all)?;
            if name != last {
                return None;
            }
        }
        self.leaves(all, levels)
    }

    fn read_index(
        &self,
        block: Block<'_>,
        name: &mut Vec<u8>,
        entries: &mut Vec<(Vec<u8>, usize)>,
    ) -> Option<()> {
        self.read_names(block, name, &mut |name, kind, rest| {
            let start = take_number(rest).filter(|_| kind == 0)?;
            entries.push((name.to_vec(), start));
            Some(())
        })
    }

    /// Reads the records of a block, with ascending names, and passes their values to `read`.
    fn read_names(&self, block: Block<'_>, name: &mut Vec<u8>, read: &mut ReadValue<'_>) -> Option<()> {
        let Block { records, offset, mut restarts } = block;
        let mut rest = records;
        let mut before = Vec::new();
        while !rest.is_empty() {
            let at = offset + records.len() - rest.len();
            let common = take_number(&mut rest)?;
            let length_and_kind = take_number(&mut rest)?;
            // At a restart point, the full name is written.
            if restarts.remove(&at) && common != 0 {
                return None;
            }
            let mut next = before.get(..common)?.to_vec();
            next.extend(take(&mut rest, length_and_kind >> 3)?);
            if next <= *name {
                return None;
            }
            name.clone_from(&next);
            before = next;
            read(name, length_and_kind & 7, &mut rest)?;
        }
        // Remaining restart points are inside a record.
        restarts.is_empty().then_some(())
    }
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

/// Reads a variable-length number: seven bits per byte, each but the last with its highest bit set and counted from one.
fn take_number(rest: &mut &[u8]) -> Option<usize> {
    let mut number: usize = 0;
    loop {
        let byte = *take(rest, 1)?.first()?;
        number = number.checked_shl(7)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        number = number.checked_add(1).filter(|number| *number < 1 << 32)?;
    }
}

fn number_of_24_bits(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// Returns the CRC-32 that zip and png use, too.
fn crc32(bytes: &[u8]) -> u32 {
    const REVERSED_POLYNOMIAL: u32 = 0xedb8_8320;
    let step = |sum: u32, _| if sum & 1 == 1 { sum >> 1 ^ REVERSED_POLYNOMIAL } else { sum >> 1 };
    !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
}
