//! Signatures: which grams each file can contain.
//!
//! Every file has a *signature*: a row of bits, and each of its grams sets one of them. A file whose signature lacks the
//! bit of a gram lacks the gram; a file that has the bits of all grams of a query is a candidate, no more. Signatures of
//! files with about as many grams are as long, and stand side by side in *blocks*, so that one word answers for 64 files
//! at once. A signature is taken out by clearing its column, so nothing has to be merged or compacted later.

use crate::gram::{GRAM_BITS, Gram};
use crate::needle::Needle;

/// The number of bits of a signature for each gram. One bit of four is set then.
const BITS_FOR_A_GRAM: f64 = 3.5;

/// The number of grams for which the shortest signature is sized.
const FEWEST_GRAMS: f64 = 24.0;

/// The growth in grams from one length of signature to the next.
const STEP: f64 = 1.25;

/// The number of rows from which a block holds eight files, so that a partly filled block wastes little.
const NARROW_FROM_ROWS: usize = 16 << 10;

/// Marks a free lane.
const FREE_LANE: u32 = u32::MAX;

/// The position of a file's signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    shelf: u8,
    block: u32,
    lane: u8,
}

/// The signatures of all files.
#[derive(Debug, Default)]
pub(crate) struct Signatures {
    shelves: Vec<Shelf>,
    bytes: usize,
}

/// Blocks of signatures that are equally long.
#[derive(Debug)]
struct Shelf {
    rows: usize,
    /// Files of a block: 8 or 64.
    lanes: usize,
    blocks: Vec<Block>,
    /// Blocks that may have a free lane.
    open: Vec<u32>,
    /// Blocks that hold nothing and have no memory.
    vacant: Vec<u32>,
}

#[derive(Debug, Default)]
struct Block {
    /// Row after row, `lanes` bits each.
    bits: Box<[u8]>,
    files: Box<[u32]>,
    used: usize,
}

impl Signatures {
    /// Adds a file. `file` is any number but the largest.
    pub(crate) fn add(&mut self, file: u32, grams: &[Gram]) -> Slot {
        let number = shelf_for(grams.len());
        while self.shelves.len() <= number {
            self.shelves.push(Shelf::new(self.shelves.len()));
        }
        let shelf = &mut self.shelves[number];
        let block_number = shelf.open_block(&mut self.bytes);
        let (rows, lanes) = (shelf.rows, shelf.lanes);
        let block = &mut shelf.blocks[block_number as usize];
        let lane =
            block.files.iter().position(|file| *file == FREE_LANE).expect("an open block has a free lane");
        block.files[lane] = file;
        block.used += 1;
        for gram in grams {
            block.bits[row_of(*gram, rows) * lanes / 8 + lane / 8] |= 1 << (lane % 8);
        }
        // A block with a free lane takes the next file, so that blocks fill up before another is allocated.
        if block.used < lanes {
            shelf.open.push(block_number);
        }
        Slot { shelf: number as u8, block: block_number, lane: lane as u8 }
    }

    /// Removes a file, and frees its block once that is empty.
    pub(crate) fn remove(&mut self, slot: Slot) {
        let shelf = &mut self.shelves[usize::from(slot.shelf)];
        let (lanes, lane) = (shelf.lanes, usize::from(slot.lane));
        let block = &mut shelf.blocks[slot.block as usize];
        block.files[lane] = FREE_LANE;
        block.used -= 1;
        if block.used == 0 {
            self.bytes -= block.bytes();
            *block = Block::default();
            shelf.vacant.push(slot.block);
            return;
        }
        // Clearing the column removes the file from every later query, without moving its neighbours.
        for row in 0..shelf.rows {
            block.bits[row * lanes / 8 + lane / 8] &= !(1 << (lane % 8));
        }
        if block.used + 1 == lanes {
            shelf.open.push(slot.block);
        }
    }

    /// Calls `each` with the files that may match: every file that does, and a few that do not.
    pub(crate) fn candidates(&self, needle: &Needle, mut each: impl FnMut(u32)) {
        for shelf in &self.shelves {
            for block in shelf.blocks.iter().filter(|block| block.used > 0) {
                // One pass over the rows answers for all files of a block; the bits left are the candidates.
                let mut lanes = needle.lanes(&|gram| block.row(row_of(gram, shelf.rows), shelf.lanes));
                while lanes != 0 {
                    let lane = lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    if let Some(file) = block.files.get(lane).filter(|file| **file != FREE_LANE) {
                        each(*file);
                    }
                }
            }
        }
    }

    /// Returns the number of bytes that the signatures take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Shelf {
    fn new(number: usize) -> Shelf {
        let grams = FEWEST_GRAMS * STEP.powi(number as i32);
        let rows = (grams * BITS_FOR_A_GRAM).ceil() as usize;
        let lanes = if rows >= NARROW_FROM_ROWS { 8 } else { 64 };
        Shelf { rows, lanes, blocks: Vec::new(), open: Vec::new(), vacant: Vec::new() }
    }

    /// A block with a free lane, taken off the list of those.
    fn open_block(&mut self, bytes: &mut usize) -> u32 {
        while let Some(number) = self.open.pop() {
            // A block may be on the list twice, and may have been filled or emptied since.
            let used = self.blocks[number as usize].used;
            if used > 0 && used < self.lanes {
                return number;
            }
        }
        let block = Block {
            bits: vec![0; self.rows * self.lanes / 8].into(),
            files: vec![FREE_LANE; self.lanes].into(),
            used: 0,
        };
        *bytes += block.bytes();
        match self.vacant.pop() {
            Some(number) => {
                self.blocks[number as usize] = block;
                number
            }
            None => {
                self.blocks.push(block);
                self.blocks.len() as u32 - 1
            }
        }
    }
}

impl Block {
    fn bytes(&self) -> usize {
        self.bits.len() + self.files.len() * size_of::<u32>() + size_of::<Block>()
    }

    /// Returns a row as a word with a bit for each file.
    fn row(&self, row: usize, lanes: usize) -> u64 {
        if lanes == 8 {
            return u64::from(self.bits[row]);
        }
        let bytes = &self.bits[row * 8..row * 8 + 8];
        u64::from_le_bytes(bytes.try_into().expect("the slice has eight bytes"))
    }
}

fn shelf_for(grams: usize) -> usize {
    let steps = (grams as f64 / FEWEST_GRAMS).max(1.0).ln() / STEP.ln();
    steps.ceil() as usize
}

fn row_of(gram: Gram, rows: usize) -> usize {
    (gram as usize * rows) >> GRAM_BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gram::GramCollector;

    fn candidates(signatures: &Signatures, text: &str) -> Vec<u32> {
        let mut files = Vec::new();
        signatures.candidates(&Needle::literal(text.as_bytes()), |file| files.push(file));
        files.sort_unstable();
        files
    }

    #[test]
    fn a_file_with_the_text_is_a_candidate_until_it_is_removed() {
        let mut signatures = Signatures::default();
        let mut collector = GramCollector::new();
        let content =
            |number: u32| format!("filler {}\nneedle{number} here\n", "xyz ".repeat(number as usize % 7));
        let mut slots = Vec::new();
        for number in 0..1000 {
            slots.push(signatures.add(number, collector.collect(content(number).as_bytes())));
        }
        assert_eq!(candidates(&signatures, "needle").len(), 1000);
        assert!(candidates(&signatures, "needle77 here").contains(&77));
        for number in (0..1000).step_by(2) {
            signatures.remove(slots[number as usize]);
        }
        assert_eq!(candidates(&signatures, "needle"), (1..1000).step_by(2).collect::<Vec<_>>());
        for number in (1..1000).step_by(2) {
            signatures.remove(slots[number as usize]);
        }
        assert_eq!(signatures.bytes(), 0);
        assert_eq!(candidates(&signatures, "needle"), Vec::<u32>::new());
        signatures.add(5, collector.collect(b"needle again"));
        assert_eq!(candidates(&signatures, "needle"), [5]);
    }

    #[test]
    fn text_that_is_nowhere_has_few_candidates() {
        let mut signatures = Signatures::default();
        let mut collector = GramCollector::new();
        for number in 0..2000_u64 {
            let words: Vec<_> = (0..200)
                .map(|word| format!("{:x}", (number * 200 + word).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
                .collect();
            signatures.add(number as u32, collector.collect(words.join(" ").as_bytes()));
        }
        assert!(candidates(&signatures, "reconcile").len() < 40);
    }

    #[test]
    fn every_number_of_grams_has_a_shelf_that_is_long_enough() {
        for grams in [0, 1, 24, 25, 100, 5_000, 70_000, 1 << GRAM_BITS] {
            let shelf = Shelf::new(shelf_for(grams));
            assert!(shelf.rows as f64 >= grams as f64 * BITS_FOR_A_GRAM * 0.999, "{grams}");
            assert!(shelf_for(grams) < 256);
        }
    }
}
