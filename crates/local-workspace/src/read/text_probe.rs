//! Determines, while a file is read, whether it is text.

use std::io::{self, Read};

/// The length of a file's beginning in which a NUL byte makes it binary.
const BINARY_PROBE_BYTES: usize = 8 * 1024;

/// A reader that inspects the bytes passing through it, and fails at once on a binary file.
#[derive(Debug)]
pub(crate) struct TextProbe<R> {
    inner: R,
    position: usize,
    /// The bytes of the file's beginning, enough for a byte-order mark.
    head: Vec<u8>,
    /// A character that the last chunk has cut in two.
    pending: Vec<u8>,
    is_binary: bool,
    is_undecodable: bool,
}

impl TextProbe<io::Empty> {
    /// Probes a whole file in memory, or its beginning.
    pub(crate) fn of(bytes: &[u8]) -> TextProbe<io::Empty> {
        let mut probe = TextProbe::new(io::empty());
        probe.look_at(bytes);
        probe
    }
}

impl<R: Read> TextProbe<R> {
    pub(crate) fn new(inner: R) -> TextProbe<R> {
        TextProbe {
            inner,
            position: 0,
            head: Vec::new(),
            pending: Vec::new(),
            is_binary: false,
            is_undecodable: false,
        }
    }

    /// Checks whether there is a NUL near the beginning and no UTF-16 mark.
    pub(crate) fn is_binary(&self) -> bool {
        self.is_binary
    }

    /// Checks whether the bytes are neither UTF-8 nor marked as UTF-16.
    pub(crate) fn is_undecodable(&self) -> bool {
        self.is_undecodable || !self.pending.is_empty()
    }

    fn look_at(&mut self, bytes: &[u8]) {
        let missing = 2_usize.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..missing]);
        if self.head.starts_with(b"\xff\xfe") || self.head.starts_with(b"\xfe\xff") {
            (self.is_binary, self.is_undecodable) = (false, false);
            self.pending.clear();
            return;
        }
        let probed = BINARY_PROBE_BYTES.saturating_sub(self.position).min(bytes.len());
        self.is_binary |= bytes[..probed].contains(&0);
        self.position = self.position.saturating_add(bytes.len());
        self.decode(bytes);
    }

    fn decode(&mut self, mut bytes: &[u8]) {
        // Byte by byte only until the cut character is complete, then the rest at once.
        while let (false, Some((first, rest))) = (self.pending.is_empty(), bytes.split_first()) {
            self.pending.push(*first);
            bytes = rest;
            match std::str::from_utf8(&self.pending) {
                Ok(_) => self.pending.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => {
                    self.is_undecodable = true;
                    self.pending.clear();
                }
            }
        }
        if self.is_undecodable {
            return;
        }
        if let Err(error) = std::str::from_utf8(bytes) {
            match error.error_len() {
                None => self.pending = bytes[error.valid_up_to()..].to_vec(),
                Some(_) => self.is_undecodable = true,
            }
        }
    }
}

impl<R: Read> Read for TextProbe<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.look_at(&buffer[..count]);
        // A mark of UTF-16 has two bytes: one alone decides nothing.
        if self.is_binary && self.head.len() > 1 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads in pieces of `piece` bytes; answers (binary, undecodable).
    fn probe(bytes: &[u8], piece: usize) -> (bool, bool) {
        let mut probe = TextProbe::new(bytes);
        let mut buffer = vec![0; piece];
        while probe.read(&mut buffer).is_ok_and(|count| count > 0) {}
        (probe.is_binary(), probe.is_undecodable())
    }

    #[test]
    fn what_a_file_is_does_not_depend_on_the_pieces() {
        let late_nul = [vec![b'x'; BINARY_PROBE_BYTES], vec![0]].concat();
        let cases: [(&[u8], (bool, bool)); 8] = [
            (b"plain", (false, false)),
            ("a\u{e9}\u{20ac}\u{1f600}".as_bytes(), (false, false)),
            (b"caf\xe9\n", (false, true)),
            (b"cut \xf0\x9f", (false, true)),
            (b"\xff\xfea\0b\0", (false, false)),
            (b"\xfe\xff\0a\0b", (false, false)),
            (&late_nul, (false, false)),
            (b"", (false, false)),
        ];
        for (bytes, expected) in cases {
            for piece in [1, 2, 3, 5, 10_000] {
                assert_eq!(probe(bytes, piece), expected, "{bytes:?} by {piece}");
            }
        }
        for piece in [1, 2, 7] {
            assert!(probe(b"a\0b", piece).0);
        }
    }
}
