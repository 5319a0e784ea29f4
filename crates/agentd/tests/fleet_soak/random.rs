//! Numbers that follow from a seed.

use std::ops::Range;

/// A sequence of numbers, the same for the same seed (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn of(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns a number of a range that is not empty.
    pub(crate) fn within(&mut self, range: Range<u64>) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        range.start + (mixed ^ (mixed >> 31)) % (range.end - range.start)
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.within(0..length as u64)).unwrap()
    }
}
