//! Streaming a range of lines out of a file of any size in constant memory.

use std::io::{self, Read};

use memchr::memchr_iter;

/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// How far into a file a NUL byte makes it binary.
const BINARY_PROBE_BYTES: u64 = 8 * 1024;

/// Which lines to keep, and how many bytes of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// First line to keep, 1-based.
    pub first: u64,
    /// Last line to keep, inclusive.
    pub last: u64,
    /// Most bytes to keep.
    pub limit_bytes: usize,
}

/// What was seen of a file when its whole length had been read.
#[derive(Debug)]
pub(crate) struct Windowed {
    /// The bytes of the lines that were kept, with their endings.
    pub bytes: Vec<u8>,
    /// Lines in the whole file.
    pub total_lines: u64,
    /// Lines that were kept, a cut one included.
    pub returned_lines: u64,
    /// Whether lines of the window are missing because of the limit.
    pub is_truncated: bool,
    /// Hash of the whole file.
    pub hash: blake3::Hash,
    /// Whether the file looks binary: a NUL among its first bytes.
    pub is_binary: bool,
}

impl Window {
    /// Reads `source` to its end and keeps the lines of the window.
    ///
    /// The kept bytes end on the border of a line; only a first line that alone passes the limit is cut within, at
    /// the border of a character if it is UTF-8.
    pub(crate) fn read(self, mut source: impl Read) -> io::Result<Windowed> {
        let mut hasher = blake3::Hasher::new();
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut seen = Windowed {
            bytes: Vec::new(),
            total_lines: 0,
            returned_lines: 0,
            is_truncated: false,
            hash: blake3::Hash::from_bytes([0; 32]),
            is_binary: false,
        };
        let mut position = 0_u64;
        // The line that the next byte belongs to, and whether it has bytes already.
        let mut line = 1_u64;
        let mut line_has_bytes = false;
        loop {
            let length = match source.read(&mut chunk) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let read = &chunk[..length];
            hasher.update(read);
            if position < BINARY_PROBE_BYTES {
                let probe = usize::try_from(BINARY_PROBE_BYTES - position).unwrap_or(usize::MAX).min(length);
                seen.is_binary |= read[..probe].contains(&0);
            }
            position += length as u64;
            let mut start = 0;
            for newline in memchr_iter(b'\n', read) {
                self.keep(&mut seen, line, &read[start..=newline]);
                start = newline + 1;
                line += 1;
            }
            if start < length {
                self.keep(&mut seen, line, &read[start..]);
            }
            line_has_bytes = if start < length { true } else { start == 0 && line_has_bytes };
        }
        seen.total_lines = if line_has_bytes { line } else { line - 1 };
        seen.hash = hasher.finalize();
        self.cut(&mut seen);
        Ok(seen)
    }

    /// Keeps a piece of a line, with one byte more than the limit so that [`cut`](Self::cut) sees what is over.
    fn keep(self, seen: &mut Windowed, line: u64, piece: &[u8]) {
        if line < self.first || line > self.last {
            return;
        }
        let room = self.limit_bytes.saturating_add(1).saturating_sub(seen.bytes.len());
        seen.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    fn cut(self, seen: &mut Windowed) {
        if seen.bytes.len() > self.limit_bytes {
            seen.is_truncated = true;
            seen.bytes.truncate(self.limit_bytes);
            match memchr::memrchr(b'\n', &seen.bytes) {
                Some(newline) => seen.bytes.truncate(newline + 1),
                None => cut_at_character(&mut seen.bytes),
            }
        }
        let newlines = memchr_iter(b'\n', &seen.bytes).count() as u64;
        let open_line = u64::from(seen.bytes.last().is_some_and(|byte| *byte != b'\n'));
        seen.returned_lines = newlines + open_line;
    }
}

/// Takes an incomplete UTF-8 sequence off the end; bytes that are no UTF-8 at all stay as they are.
fn cut_at_character(bytes: &mut Vec<u8>) {
    let tail = bytes.len().saturating_sub(3);
    for start in (tail..bytes.len()).rev() {
        if bytes[start] & 0b1100_0000 == 0b1000_0000 {
            continue;
        }
        if std::str::from_utf8(&bytes[start..]).is_err_and(|error| error.error_len().is_none()) {
            bytes.truncate(start);
        }
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], first: u64, last: u64, limit_bytes: usize) -> (Vec<u8>, u64, u64, bool) {
        let seen = Window { first, last, limit_bytes }.read(text).unwrap();
        (seen.bytes, seen.total_lines, seen.returned_lines, seen.is_truncated)
    }

    #[test]
    fn lines_are_counted_with_and_without_a_final_newline() {
        assert_eq!(read(b"", 1, u64::MAX, 9), (b"".to_vec(), 0, 0, false));
        assert_eq!(read(b"a", 1, u64::MAX, 9), (b"a".to_vec(), 1, 1, false));
        assert_eq!(read(b"a\n", 1, u64::MAX, 9), (b"a\n".to_vec(), 1, 1, false));
        assert_eq!(read(b"a\n\n", 1, u64::MAX, 9), (b"a\n\n".to_vec(), 2, 2, false));
    }

    #[test]
    fn lines_that_cross_chunks_are_one_line() {
        let long = vec![b'x'; CHUNK_BYTES * 2 + 7];
        assert_eq!(read(&long, 1, 1, usize::MAX - 1).1, 1);
        let mut aligned = vec![b'x'; CHUNK_BYTES - 1];
        aligned.push(b'\n');
        assert_eq!(read(&aligned, 1, 1, usize::MAX - 1).1, 1);
        aligned.push(b'y');
        assert_eq!(read(&aligned, 2, 2, 9), (b"y".to_vec(), 2, 1, false));
    }

    #[test]
    fn the_limit_cuts_between_lines_and_within_a_first_long_line() {
        assert_eq!(read(b"ab\ncd\nef\n", 1, 3, 7), (b"ab\ncd\n".to_vec(), 3, 2, true));
        assert_eq!(read(b"ab\ncd\nef\n", 2, 3, 6), (b"cd\nef\n".to_vec(), 3, 2, false));
        assert_eq!(read("a\u{e9}\u{e9}".as_bytes(), 1, 1, 4), ("a\u{e9}".as_bytes().to_vec(), 1, 1, true));
    }
}
