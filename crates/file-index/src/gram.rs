//! The runs of three bytes in a content, as numbers.

/// The number of bits of a gram's number.
pub(crate) const GRAM_BITS: u32 = 20;

/// A run of three bytes, as a number below `1 << GRAM_BITS`. Several runs share one.
pub(crate) type Gram = u32;

/// Returns the number of a run of three bytes.
pub(crate) fn gram_of(bytes: [u8; 3]) -> Gram {
    number(u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]))
}

fn number(run: u32) -> Gram {
    run.wrapping_mul(0x9e37_79b1) >> (u32::BITS - GRAM_BITS)
}

/// Collects the grams of one content after the other.
#[derive(Debug)]
pub(crate) struct GramCollector {
    is_collected: Box<[u64]>,
    grams: Vec<Gram>,
}

impl GramCollector {
    pub(crate) fn new() -> GramCollector {
        GramCollector { is_collected: vec![0; 1 << (GRAM_BITS - 6)].into(), grams: Vec::new() }
    }

    /// Returns the distinct grams of a content, unordered. Runs with a line feed are left out: no search
    /// spans lines.
    pub(crate) fn collect(&mut self, content: &[u8]) -> &[Gram] {
        for gram in self.grams.drain(..) {
            self.is_collected[gram as usize / 64] = 0;
        }
        for line in content.split(|byte| *byte == b'\n').filter(|line| line.len() > 2) {
            let mut run = u32::from_be_bytes([0, 0, line[0], line[1]]);
            for byte in &line[2..] {
                run = (run << 8 | u32::from(*byte)) & 0xff_ffff;
                let gram = number(run);
                let (word, bit) = (gram as usize / 64, 1 << (gram % 64));
                if self.is_collected[word] & bit == 0 {
                    self.is_collected[word] |= bit;
                    self.grams.push(gram);
                }
            }
        }
        &self.grams
    }
}
