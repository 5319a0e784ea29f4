//! Masking a text that arrives in pieces.

use std::ops::Range;
use std::sync::Arc;

use crate::hunk_context::without_cut_contexts;
use crate::surroundings::is_between;
use crate::{Secrets, private_key};

/// The maximum number of bytes of earlier lines that are examined with the next ones.
const CONTEXT_BYTES: usize = 16 * 1_024;

/// The shortest line that is held back because it may be part of a key.
const LEAST_KEY_LINE_BYTES: usize = 40;

/// The maximum number of bytes of a line held back until its end.
const MOST_HELD_BYTES: usize = 64 * 1_024;

/// The number of bytes held back at the end of a longer line: a value may have begun there.
const LOOK_BACK_BYTES: usize = 8 * 1_024;

/// The maximum number of points per attempt at which to divide such a line.
const MOST_TRIES: usize = 16;

/// The maximum number of bytes searched per attempt, for each byte held.
const MOST_SEARCHES: usize = 4;

/// The maximum number of bytes held back when a line cannot be divided.
const MOST_UNDIVIDED_BYTES: usize = 4 * MOST_HELD_BYTES;

/// Masks a stream of bytes. It holds each line back until it is complete, so a secret that spans two pieces is found.
#[derive(Debug)]
pub struct StreamMask {
    secrets: Arc<Secrets>,
    /// Complete lines that were already returned.
    context: Vec<u8>,
    held: Vec<u8>,
    /// The number of bytes of a long line that the last attempt to divide it left.
    left: usize,
}

impl StreamMask {
    /// Returns the mask for a new stream.
    #[must_use]
    pub fn new(secrets: &Arc<Secrets>) -> StreamMask {
        StreamMask { secrets: Arc::clone(secrets), context: Vec::new(), held: Vec::new(), left: 0 }
    }

    /// Takes the next bytes and returns the text that may be shown so far; invalid UTF-8 is replaced.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let end = match memchr::memrchr(b'\n', &self.held) {
            // Lines that may be part of a key wait for the next one, which may be the last of the key.
            Some(at) => {
                self.left = 0;
                match before_key_lines(&self.held[..=at]) {
                    end if self.held.len() - end <= MOST_HELD_BYTES => end,
                    _ => at + 1,
                }
            }
            None if self.is_worth_a_try() => {
                let (end, _) = self.division();
                self.left = self.held.len() - end;
                end
            }
            None => return String::new(),
        };
        if end == 0 {
            return String::new();
        }
        let ready: Vec<u8> = self.held.drain(..end).collect();
        self.masked(&ready)
    }

    /// Returns the rest.
    pub fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.held);
        self.masked(&rest)
    }

    /// Checks whether a long line has grown enough since the last attempt to divide it: each attempt searches all held
    /// bytes. An attempt at a line that is too long leaves at most half of it, so these need no growth.
    fn is_worth_a_try(&self) -> bool {
        let bytes = self.held.len();
        bytes > MOST_UNDIVIDED_BYTES || bytes > MOST_HELD_BYTES && bytes >= 2 * self.left
    }

    /// Returns the position at which an unfinished long line can be divided so that both parts hide what the whole line
    /// hides, and the number of bytes searched for it. The position is 0 if it is better to wait.
    fn division(&self) -> (usize, usize) {
        let bytes = self.held.len();
        let mut searched = 0;
        // Without giving placeholders: a part of a value must not have one.
        let mut hidden = |part: Range<usize>| {
            let after_this = searched + part.len();
            if after_this > MOST_SEARCHES * bytes {
                return None;
            }
            searched = after_this;
            let text = String::from_utf8_lossy(&self.held[part]);
            Some((self.secrets.ranges_with_values(&text), text.len()))
        };
        let latest = bytes - LOOK_BACK_BYTES;
        let ends_word = |at: &usize| is_between(self.held[*at - 1]);
        let between = (bytes / 2..=latest).rev().filter(ends_word).take(MOST_TRIES);
        // After any whole character, if there are no words.
        let anywhere = (bytes / 2..=latest).rev().find(|at| self.held[*at] & 0xC0 != 0x80);
        let whole = hidden(0..bytes);
        let mut is_same = |at: usize| {
            let (whole, length) = whole.as_ref()?;
            // The shorter part first: it often shows that the longer one is not worth a search.
            let (after, after_length) = hidden(at..bytes)?;
            let start = length.checked_sub(after_length)?;
            let after: Vec<Range<usize>> =
                after.into_iter().map(|range| start + range.start..start + range.end).collect();
            let (rest, same) = whole.split_at_checked(whole.len().checked_sub(after.len())?)?;
            Some(same == after && hidden(0..at)?.0 == rest)
        };
        let end = match between.chain(anywhere).find(|at| is_same(*at) == Some(true)) {
            Some(at) => at,
            None if bytes > MOST_UNDIVIDED_BYTES => anywhere.unwrap_or(latest),
            None => 0,
        };
        (end, searched)
    }

    fn masked(&mut self, ready: &[u8]) -> String {
        let lines_before = memchr::memchr_iter(b'\n', &self.context).count();
        let mut both = std::mem::take(&mut self.context);
        both.extend_from_slice(ready);
        let text = String::from_utf8_lossy(&both);
        let masked = without_cut_contexts(&self.secrets, &text);
        let masked = self.secrets.mask_printed(&masked);
        let visible = match lines_before {
            0 => 0,
            lines => memchr::memchr_iter(b'\n', masked.as_bytes()).nth(lines - 1).map_or(0, |at| at + 1),
        };
        let visible = masked[visible..].to_owned();
        drop(text);
        // Whole lines only: the number of line ends determines the start of the next piece.
        let last = memchr::memrchr(b'\n', &both).map_or(0, |at| at + 1);
        let from = last.saturating_sub(CONTEXT_BYTES);
        let from = match from {
            0 => 0,
            from => memchr::memchr(b'\n', &both[from..last]).map_or(last, |at| from + at + 1),
        };
        self.context.clear();
        if from > 0
            && let Some(state) = private_key::end_within(&String::from_utf8_lossy(&both[..last]), None)
        {
            // Its first line is not shown again, so any will do.
            self.context.extend_from_slice(private_key::first_line(state).as_bytes());
        }
        self.context.extend_from_slice(&both[from..last]);
        visible
    }
}

/// Tracks whether lines end within a private key. Lines passed on after a gap are recognised with a first line before
/// them.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyTracker {
    within: Option<private_key::KeyState>,
}

impl KeyTracker {
    /// Takes the next whole lines.
    pub fn push(&mut self, lines: &str) {
        self.within = private_key::end_within(lines, self.within);
    }

    /// Returns a first line of a key if the lines so far end within one, or an empty text. With it before the next
    /// lines, [`StreamMask`] hides in them what it would hide after all lines.
    #[must_use]
    pub fn first_line(&self) -> &'static str {
        self.within.map_or("", private_key::first_line)
    }
}

/// Returns the start of the trailing lines that look like the body of a key.
fn before_key_lines(lines: &[u8]) -> usize {
    let mut end = lines.len();
    while end > 0 {
        let start = memchr::memrchr(b'\n', &lines[..end - 1]).map_or(0, |at| at + 1);
        let line = lines[start..end].trim_ascii();
        // In UTF-16, there are NULs between the characters.
        let is_of_key =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'\r' | 0);
        let is_key = line.len() >= LEAST_KEY_LINE_BYTES && line.iter().all(is_of_key);
        if !is_key {
            break;
        }
        end = start;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryStore;

    /// Returns the number of bytes that were searched to divide a line, and the number of pieces it was divided into.
    fn cost(line: &[u8], piece: usize) -> (usize, usize) {
        let secrets = Secrets::open(MemoryStore::default()).expect("an empty store");
        let mut stream = StreamMask::new(&Arc::new(secrets));
        let (mut searched, mut pieces) = (0, 1);
        for bytes in line.chunks(piece) {
            stream.held.extend_from_slice(bytes);
            if stream.is_worth_a_try() {
                searched += stream.division().1;
            }
            pieces += usize::from(!stream.push(b"").is_empty());
        }
        (searched, pieces)
    }

    #[test]
    fn a_long_line_is_searched_for_its_divisions_in_linear_time() {
        const MOST_PER_BYTE: usize = 5;
        let searched = |unit: &str, length: usize| {
            let (searched, pieces) = cost(unit.repeat(length / unit.len()).as_bytes(), 8_192);
            assert!(searched <= MOST_PER_BYTE * length, "{unit:?}: {searched} of {length}");
            (searched, pieces)
        };
        // The second part of a line of these hides more than the line: no point divides it.
        let ((_, pieces), (most, _)) = (searched("password='", 100_000), searched("password='", 350_000));
        assert_eq!(pieces, 2, "a line that is too long is divided all the same");
        // The first point divides a line of words, and a line without words.
        for unit in ["ab \"cd\", ", "x"] {
            let (searched, pieces) = searched(unit, 350_000);
            assert!(pieces > 5 && searched < most, "{unit:?}: {searched} {pieces}");
        }
        // The control: a search of the whole line for each of the points at each growth takes more than that.
        let each = (MOST_TRIES + 1) * (MOST_HELD_BYTES + MOST_UNDIVIDED_BYTES);
        assert!(each > 3 * most, "{each} {most}");
    }
}
