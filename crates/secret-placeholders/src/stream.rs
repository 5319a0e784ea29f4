//! Masking a text that arrives in pieces.

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

/// The maximum number of bytes held back when a line cannot be divided.
const MOST_UNDIVIDED_BYTES: usize = 4 * MOST_HELD_BYTES;

/// Masks a stream of bytes. It holds each line back until it is complete, so a secret that spans two pieces is found.
#[derive(Debug)]
pub struct StreamMask {
    secrets: Arc<Secrets>,
    /// Complete lines that were already returned.
    context: Vec<u8>,
    held: Vec<u8>,
    /// The number of bytes held when their line could not be divided.
    undivided: usize,
}

impl StreamMask {
    /// Returns the mask for a new stream.
    #[must_use]
    pub fn new(secrets: &Arc<Secrets>) -> StreamMask {
        StreamMask { secrets: Arc::clone(secrets), context: Vec::new(), held: Vec::new(), undivided: 0 }
    }

    /// Takes the next bytes and returns the text that may be shown so far; invalid UTF-8 is replaced.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let end = match memchr::memrchr(b'\n', &self.held) {
            // Lines that may be part of a key wait for the next one, which may be the last of the key.
            Some(at) => match before_key_lines(&self.held[..=at]) {
                end if self.held.len() - end <= MOST_HELD_BYTES => end,
                _ => at + 1,
            },
            None if self.is_worth_a_try() => {
                let end = self.division();
                self.undivided = if end == 0 { self.held.len() } else { 0 };
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
    /// bytes.
    fn is_worth_a_try(&self) -> bool {
        let bytes = self.held.len();
        bytes > MOST_UNDIVIDED_BYTES || bytes > MOST_HELD_BYTES && bytes > self.undivided + self.undivided / 2
    }

    /// Returns the position at which an unfinished long line can be divided so that both parts hide what the whole line
    /// hides; 0 if it is better to wait.
    fn division(&self) -> usize {
        // Without giving placeholders: a part of a value must not have one.
        let hidden = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            (self.secrets.ranges_with_values(&text), text.len())
        };
        let (whole, _) = hidden(&self.held);
        let latest = self.held.len() - LOOK_BACK_BYTES;
        let ends_word = |at: &usize| is_between(self.held[*at - 1]);
        let between = (1..=latest).rev().filter(ends_word).take(MOST_TRIES);
        // After any whole character, if there are no words.
        let anywhere = (1..=latest).rev().find(|at| self.held[*at] & 0xC0 != 0x80);
        let hides_all = |at: &usize| {
            let ((before, length), (after, _)) = (hidden(&self.held[..*at]), hidden(&self.held[*at..]));
            let after = after.into_iter().map(|range| length + range.start..length + range.end);
            before.into_iter().chain(after).eq(whole.iter().cloned())
        };
        match between.chain(anywhere).find(hides_all) {
            Some(at) => at,
            None if self.held.len() > MOST_UNDIVIDED_BYTES => anywhere.unwrap_or(latest),
            None => 0,
        }
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
