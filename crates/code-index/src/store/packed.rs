//! A byte encoding of numbers and texts.
//!
//! Decoding ends at the first invalid byte: the store may be damaged.

/// Appends a number; one below 128 takes a single byte.
pub(crate) fn put_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    to.push(number.to_le_bytes()[0]);
}

/// Appends a signed number; one from -64 to 63 takes a single byte.
pub(crate) fn put_difference(to: &mut Vec<u8>, difference: i64) {
    // The sign moves to the lowest bit, so that small negative numbers stay short.
    put_number(to, ((difference << 1) ^ (difference >> 63)).cast_unsigned());
}

/// Appends a text with its length.
pub(crate) fn put_text(to: &mut Vec<u8>, text: &str) {
    put_number(to, text.len() as u64);
    to.extend_from_slice(text.as_bytes());
}

/// Returns the length of the common prefix of two texts in bytes, up to `most`, at a character boundary.
pub(crate) fn alike(left: &str, right: &str, most: usize) -> usize {
    let same = left.bytes().zip(right.bytes()).take(most).take_while(|(one, other)| one == other).count();
    (0..=same).rev().find(|at| right.is_char_boundary(*at)).unwrap_or(0)
}

/// A decoder of packed bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unpacking<'b> {
    bytes: &'b [u8],
}

impl<'b> Unpacking<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Unpacking<'b> {
        Unpacking { bytes }
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        // Bounded to ten bytes, because damaged input may never end the number.
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn difference(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    pub(crate) fn text(&mut self) -> Option<&'b str> {
        let length = usize::try_from(self.number()?).ok()?;
        self.text_of(length)
    }

    pub(crate) fn text_of(&mut self, length: usize) -> Option<&'b str> {
        let (text, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        std::str::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let differences = [0, -1, 1, 63, -64, 64, -65, i64::from(u32::MAX), i64::MIN, i64::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|number| put_number(&mut bytes, *number));
        differences.iter().for_each(|difference| put_difference(&mut bytes, *difference));
        let mut unpacking = Unpacking::new(&bytes);
        assert!(numbers.iter().all(|number| unpacking.number() == Some(*number)));
        assert!(differences.iter().all(|difference| unpacking.difference() == Some(*difference)));
        assert_eq!(unpacking.number(), None);
        assert_eq!(Unpacking::new(&[0xff; 20]).number(), None);
        let small = |difference| {
            let mut bytes = Vec::new();
            put_difference(&mut bytes, difference);
            bytes.len()
        };
        assert_eq!([-65, -64, 63, 64].map(small), [2, 1, 1, 2]);
    }

    #[test]
    fn a_common_prefix_ends_at_a_character_boundary() {
        assert_eq!(alike("größe", "größer", 99), 7);
        assert_eq!(alike("größe", "grüße", 99), 2);
        assert_eq!(alike("abc", "abd", 1), 1);
        assert_eq!(alike("", "abd", 9), 0);
    }
}
