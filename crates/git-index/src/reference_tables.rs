//! The tables in which git keeps references where the settings say `reftable`.

/// The beginning of a table.
const MAGIC: &[u8] = b"REFT";

/// The hash function that a table of the second version names for object names of 32 bytes.
const SHA256: &[u8] = b"s256";

/// The type of a block of references.
const REFERENCES: u8 = b'r';

/// Returns the names of the references in a table, without those that it says are removed; `None` where git would not have written
/// it so.
///
/// A name lacks what it has in common with the one before, so that no search finds it.
pub fn references_in_table(table: &[u8]) -> Option<Vec<Vec<u8>>> {
    let rest = table.strip_prefix(MAGIC)?;
    let (header, footer, name_bytes) = match rest.first()? {
        1 => (24, 68, 20),
        2 if table.get(24..28)? == SHA256 => (28, 72, 32),
        2 => (28, 72, 20),
        _ => return None,
    };
    let block_size = number_of_24_bits(rest.get(1..4)?);
    let blocks = table.get(..table.len().checked_sub(footer)?)?;
    let mut names = Vec::new();
    let (mut start, mut first) = (0, header);
    while blocks.get(start + first) == Some(&REFERENCES) {
        let length = number_of_24_bits(blocks.get(start + first + 1..start + first + 4)?);
        let block = blocks.get(start..start + length)?;
        read_block(block.get(first + 4..)?, name_bytes, &mut names)?;
        // The last block of a kind is not filled up.
        let is_short = blocks.get(start + length).is_some_and(|byte| *byte != 0);
        start += if block_size <= length || is_short { length } else { block_size };
        first = 0;
    }
    Some(names)
}

/// Reads the references of a block, which ends with offsets of some of them.
fn read_block(block: &[u8], name_bytes: usize, names: &mut Vec<Vec<u8>>) -> Option<()> {
    let (block, count) = block.split_last_chunk::<2>()?;
    let offsets = 3 * usize::from(u16::from_be_bytes(*count));
    let mut rest = block.get(..block.len().checked_sub(offsets)?)?;
    let mut name: Vec<u8> = Vec::new();
    while !rest.is_empty() {
        let common = take_number(&mut rest)?;
        let length_and_type = take_number(&mut rest)?;
        name.truncate(if common > name.len() { return None } else { common });
        name.extend(take(&mut rest, length_and_type >> 3)?);
        take_number(&mut rest)?;
        match length_and_type & 7 {
            0 => continue,
            1 => drop(take(&mut rest, name_bytes)?),
            2 => drop(take(&mut rest, 2 * name_bytes)?),
            3 => {
                let length = take_number(&mut rest)?;
                take(&mut rest, length)?;
            }
            _ => return None,
        }
        names.push(name.clone());
    }
    Some(())
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

/// Takes a number of seven bits a byte, of which each but the last has its highest bit set and counts from one.
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
