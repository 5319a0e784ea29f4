//! Extracts a range of lines of a file: from its bytes if they are in memory, otherwise by streaming in constant
//! memory.
//!
//! Both give the same result. Files up to [`COUNTED_BYTES`] are read to their end, so that all their lines are counted
//! and the whole is hashed. Larger files are read up to that size or the end of the range, whichever is more.

use std::io::{self, Read};
use std::ops::Range;

use change_journal::ContentHash;
use memchr::memchr_iter;

/// The number of bytes per read.
const CHUNK_BYTES: usize = 64 * 1024;

/// The file size up to which reading continues after the range is complete: a fraction of a second.
pub(crate) const COUNTED_BYTES: u64 = 256 << 20;

/// The length of a file's beginning in which a NUL byte makes it binary.
const BINARY_PROBE_BYTES: u64 = 8 * 1024;

/// The lines to keep, and the limit on their bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// The first line to keep, 1-based.
    pub first: u64,
    /// The last line to keep, inclusive.
    pub last: u64,
    /// The maximum number of bytes to keep.
    pub limit_bytes: usize,
    /// True to continue although the file looks binary.
    pub takes_binary: bool,
}

/// The result of reading a window of a file.
#[derive(Debug, Default)]
pub(crate) struct Windowed {
    /// The bytes of the lines that were kept, with their endings.
    pub bytes: Vec<u8>,
    /// The number of lines read, including an unfinished last one.
    pub total_lines: u64,
    /// The number of bytes that were read.
    pub read_bytes: u64,
    /// True if the end of the file was reached; otherwise there are more lines.
    pub is_whole: bool,
    /// True if the window is complete; otherwise reading was stopped before its end.
    pub is_filled: bool,
    /// The number of lines kept, including a cut one.
    pub returned_lines: u64,
    /// True if lines of the window are missing because of the limit.
    pub is_truncated: bool,
    /// Hash of the whole file, if its end was reached.
    pub hash: Option<ContentHash>,
    /// True if the file looks binary: a NUL among its first bytes.
    pub is_binary: bool,
}

impl Window {
    /// Reads `source` to its end, or up to the limit in the module documentation, and keeps the lines of the window.
    ///
    /// Reading stops at once at a binary file, unless the window accepts it. A reader that fails with `TimedOut` ends
    /// the reading and is not an error. Otherwise memory depends on `limit_bytes` alone, whatever the lengths of file
    /// and lines.
    ///
    /// The kept bytes end at a line boundary; only a first line that alone exceeds the limit is cut within, at a
    /// character boundary if it is UTF-8.
    pub(crate) fn read(self, mut source: impl Read) -> io::Result<Windowed> {
        let mut hasher = blake3::Hasher::new();
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut excerpt = Windowed::default();
        // The line of the next byte, and true if it already has bytes.
        let mut line = 1_u64;
        let mut line_has_bytes = false;
        while !(excerpt.is_filled && excerpt.read_bytes > COUNTED_BYTES) {
            let length = match source.read(&mut chunk) {
                Ok(0) => {
                    (excerpt.is_whole, excerpt.is_filled) = (true, true);
                    break;
                }
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::TimedOut => break,
                Err(error) => return Err(error),
            };
            let read = &chunk[..length];
            if excerpt.read_bytes < BINARY_PROBE_BYTES {
                let probe = usize::try_from(BINARY_PROBE_BYTES - excerpt.read_bytes).unwrap_or(usize::MAX);
                excerpt.is_binary |= read[..probe.min(length)].contains(&0);
                if excerpt.is_binary && !self.takes_binary {
                    return Ok(excerpt);
                }
            }
            hasher.update(read);
            excerpt.read_bytes += length as u64;
            let newlines = memchr_iter(b'\n', read).count() as u64;
            if excerpt.is_filled || line + newlines < self.first {
                // None of it is kept.
                line += newlines;
                line_has_bytes = read.last() != Some(&b'\n');
                continue;
            }
            let mut start = 0;
            for newline in memchr_iter(b'\n', read) {
                self.keep(&mut excerpt, line, &read[start..=newline]);
                start = newline + 1;
                line += 1;
            }
            if start < length {
                self.keep(&mut excerpt, line, &read[start..]);
            }
            line_has_bytes = start < length;
            excerpt.is_filled |= line > self.last || excerpt.bytes.len() > self.limit_bytes;
        }
        excerpt.total_lines = if line_has_bytes { line } else { line - 1 };
        excerpt.hash = excerpt.is_whole.then(|| ContentHash::from_bytes(*hasher.finalize().as_bytes()));
        let bytes = std::mem::take(&mut excerpt.bytes);
        let length = self.cut(&mut excerpt, &bytes);
        excerpt.bytes = bytes;
        excerpt.bytes.truncate(length);
        Ok(excerpt)
    }

    /// Finds the lines of the window in the bytes of a whole file, with the same result as [`read`](Self::read) in as
    /// few passes as possible. The second value is the kept range, which callers copy if they do not need the rest.
    pub(crate) fn within(self, whole: &[u8]) -> (Windowed, Range<usize>) {
        let probe = &whole[..whole.len().min(BINARY_PROBE_BYTES as usize)];
        let mut excerpt = Windowed { is_binary: probe.contains(&0), ..Windowed::default() };
        if excerpt.is_binary && !self.takes_binary {
            return (excerpt, 0..0);
        }
        let newlines = memchr_iter(b'\n', whole).count() as u64;
        excerpt.total_lines = newlines + u64::from(whole.last().is_some_and(|byte| *byte != b'\n'));
        excerpt.read_bytes = whole.len() as u64;
        let start = line_start(whole, self.first, newlines);
        let end = line_start(whole, self.last.saturating_add(1), newlines);
        let kept = start..start + self.cut(&mut excerpt, &whole[start..end]);
        (excerpt.is_whole, excerpt.is_filled) = (true, true);
        excerpt.hash = Some(ContentHash::of(whole));
        (excerpt, kept)
    }

    /// Keeps a piece of a line, up to one byte more than the limit so that [`cut`](Self::cut) detects the excess.
    fn keep(self, excerpt: &mut Windowed, line: u64, piece: &[u8]) {
        if line < self.first || line > self.last {
            return;
        }
        let room = self.limit_bytes.saturating_add(1).saturating_sub(excerpt.bytes.len());
        excerpt.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// Returns how many of the bytes are kept, and records the number of lines.
    fn cut(self, excerpt: &mut Windowed, bytes: &[u8]) -> usize {
        excerpt.is_truncated = bytes.len() > self.limit_bytes;
        let mut kept = &bytes[..bytes.len().min(self.limit_bytes)];
        if excerpt.is_truncated {
            let length = memchr::memrchr(b'\n', kept).map_or(whole_characters(kept), |newline| newline + 1);
            kept = &kept[..length];
        }
        excerpt.returned_lines = match kept.len() as u64 == excerpt.read_bytes {
            // The whole file, whose lines are counted.
            true => excerpt.total_lines,
            false => {
                let newlines = memchr_iter(b'\n', kept).count() as u64;
                newlines + u64::from(kept.last().is_some_and(|byte| *byte != b'\n'))
            }
        };
        kept.len()
    }
}

/// Returns the start of a line in a text with `newlines` line feeds; the end of the text for a line past it.
fn line_start(text: &[u8], line: u64, newlines: u64) -> usize {
    match line.checked_sub(2) {
        None => 0,
        // Past the last line, there is nothing to search for.
        Some(before) if before >= newlines => text.len(),
        Some(before) => {
            let before = usize::try_from(before).expect("there are not more line feeds than bytes");
            memchr_iter(b'\n', text).nth(before).map_or(text.len(), |newline| newline + 1)
        }
    }
}

/// Returns the length without an incomplete UTF-8 sequence at the end; invalid bytes count.
fn whole_characters(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    for start in (tail..bytes.len()).rev() {
        if bytes[start] & 0b1100_0000 == 0b1000_0000 {
            continue;
        }
        if std::str::from_utf8(&bytes[start..]).is_err_and(|error| error.error_len().is_none()) {
            return start;
        }
        break;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(window: Window, text: &[u8]) -> Windowed {
        let (excerpt, kept) = window.within(text);
        Windowed { bytes: text[kept].to_vec(), ..excerpt }
    }

    fn read(text: &[u8], first: u64, last: u64, limit_bytes: usize) -> (Vec<u8>, u64, u64, bool) {
        let window = Window { first, last, limit_bytes, takes_binary: false };
        let excerpt = window.read(text).unwrap();
        assert!(excerpt.is_whole && excerpt.hash == Some(ContentHash::of(text)));
        assert_eq!(format!("{excerpt:?}"), format!("{:?}", within(window, text)));
        (excerpt.bytes, excerpt.total_lines, excerpt.returned_lines, excerpt.is_truncated)
    }

    #[test]
    fn lines_are_counted_with_and_without_a_final_newline() {
        assert_eq!(read(b"", 1, u64::MAX, 9), (b"".to_vec(), 0, 0, false));
        assert_eq!(read(b"a", 1, u64::MAX, 9), (b"a".to_vec(), 1, 1, false));
        assert_eq!(read(b"a\n", 1, u64::MAX, 9), (b"a\n".to_vec(), 1, 1, false));
        assert_eq!(read(b"a\n\n", 1, u64::MAX, 9), (b"a\n\n".to_vec(), 2, 2, false));
    }

    #[test]
    fn a_text_in_memory_gives_what_streaming_it_gives() {
        for text in [&b""[..], b"\n", b"a", b"ab\n\ncd\nef", b"ab\ncd\n", b"\xe2\x82\xac\n\xe2", b"a\0b\nc\n"]
        {
            for (first, last) in
                (1..7).flat_map(|first| (first..7).chain([u64::MAX]).map(move |last| (first, last)))
            {
                for (limit_bytes, takes_binary) in
                    (0..=text.len()).flat_map(|limit| [(limit, false), (limit, true)])
                {
                    let window = Window { first, last, limit_bytes, takes_binary };
                    let (streamed, within) = (window.read(text).unwrap(), within(window, text));
                    assert_eq!(format!("{within:?}"), format!("{streamed:?}"), "{window:?} of {text:?}");
                }
            }
        }
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

    /// Lines of 64 bytes without end.
    struct Endless;

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(b'x');
            buffer.iter_mut().skip(63).step_by(64).for_each(|byte| *byte = b'\n');
            Ok(buffer.len())
        }
    }

    #[test]
    fn a_range_of_an_endless_file_is_read_and_its_lines_are_counted_so_far() {
        let window = Window { first: 3, last: 4, limit_bytes: 200, takes_binary: false };
        let excerpt = window.read(Endless).unwrap();
        assert_eq!((excerpt.bytes.len(), excerpt.returned_lines), (128, 2));
        assert!(excerpt.is_filled && !excerpt.is_whole && excerpt.hash.is_none());
        assert!(excerpt.read_bytes > COUNTED_BYTES && excerpt.read_bytes < COUNTED_BYTES * 2);
        assert_eq!(excerpt.total_lines, excerpt.read_bytes / 64);
    }

    #[test]
    fn a_binary_file_is_left_at_once_unless_it_is_taken() {
        let text = [&b"a\0"[..], &vec![b'x'; CHUNK_BYTES * 3]].concat();
        let window = Window { first: 1, last: 1, limit_bytes: 9, takes_binary: false };
        let excerpt = window.read(&text[..]).unwrap();
        assert!(excerpt.is_binary && excerpt.read_bytes == 0 && excerpt.bytes.is_empty());
        let excerpt = Window { takes_binary: true, ..window }.read(&text[..]).unwrap();
        assert!(excerpt.is_binary && excerpt.is_whole && excerpt.bytes == b"a\0xxxxxxx");
    }

    #[test]
    fn a_stopped_reading_differs_from_a_finished_one() {
        struct Stopped(usize);
        impl Read for Stopped {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                buffer[..2].copy_from_slice(b"a\n");
                if self.0 > 3 { Err(io::ErrorKind::TimedOut.into()) } else { Ok(2) }
            }
        }
        let window = Window { first: 1, last: 9, limit_bytes: 100, takes_binary: false };
        let excerpt = window.read(Stopped(0)).unwrap();
        assert_eq!((excerpt.is_whole, excerpt.is_filled, excerpt.total_lines), (false, false, 3));
        let excerpt = Window { last: 2, ..window }.read(Stopped(0)).unwrap();
        assert_eq!((excerpt.is_whole, excerpt.is_filled, &excerpt.bytes[..]), (false, true, &b"a\na\n"[..]));
    }
}
