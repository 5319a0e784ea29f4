//! A stream's beginning and end, kept within a bound.

use std::collections::VecDeque;

/// The kept bytes of one output stream.
///
/// As long as nothing was left out, `tail` continues `head` without a gap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Captured {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes that are not in `head`.
    pub tail: Vec<u8>,
    /// The number of bytes that the stream carried in all.
    pub total_bytes: u64,
}

impl Captured {
    /// Returns how many bytes between `head` and `tail` were not kept.
    pub fn omitted_bytes(&self) -> u64 {
        self.total_bytes - (self.head.len() + self.tail.len()) as u64
    }

    /// Returns the kept text: invalid UTF-8 replaced, and at the cut, if there is one, the text of `gap`.
    ///
    /// The cut never splits a character: parts of a character at the cut are dropped and counted. `gap` receives the
    /// number of bytes that the text omits.
    ///
    /// # Example
    /// ```
    /// let captured = sandbox_exec::Captured::default();
    /// assert_eq!(captured.text(|omitted| format!("[{omitted} bytes left out]")), "");
    /// ```
    pub fn text(&self, gap: impl FnOnce(u64) -> String) -> String {
        let omitted = self.omitted_bytes();
        if omitted == 0 {
            let mut whole = self.head.clone();
            whole.extend_from_slice(&self.tail);
            return lossy(&whole);
        }
        let head = &self.head[..self.head.len() - cut_character_bytes_at_end(&self.head)];
        let tail = &self.tail[cut_character_bytes_at_start(&self.tail)..];
        let hidden = omitted + (self.head.len() - head.len()) as u64 + (self.tail.len() - tail.len()) as u64;
        let mut text = lossy(head);
        text.push_str(&gap(hidden));
        text.push_str(&lossy(tail));
        text
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Counts the bytes at the end that begin a character and do not finish it.
fn cut_character_bytes_at_end(bytes: &[u8]) -> usize {
    // `error_len` is `None` exactly when the input ended inside a character.
    let last = bytes.len().saturating_sub(3);
    for start in last..bytes.len() {
        match std::str::from_utf8(&bytes[start..]) {
            Err(error) if error.error_len().is_none() => {
                let unfinished = bytes.len() - start - error.valid_up_to();
                return unfinished;
            }
            Ok(_) => return 0,
            Err(_) => {}
        }
    }
    0
}

/// Counts the continuation bytes at the start, at most three.
fn cut_character_bytes_at_start(bytes: &[u8]) -> usize {
    let continuation = bytes.iter().take(4).take_while(|byte| (**byte & 0b1100_0000) == 0b1000_0000).count();
    if continuation > 3 { 0 } else { continuation }
}

/// Collects a stream into its first and last bytes.
#[derive(Debug)]
pub(crate) struct HeadTail {
    head_limit: usize,
    tail_limit: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total_bytes: u64,
}

impl HeadTail {
    /// Keeps at most `limit_bytes`, one half from the start and one half from the end.
    pub(crate) fn new(limit_bytes: usize) -> HeadTail {
        let head_limit = limit_bytes.div_ceil(2);
        HeadTail {
            head_limit,
            tail_limit: limit_bytes - head_limit,
            head: Vec::new(),
            tail: VecDeque::new(),
            total_bytes: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total_bytes += bytes.len() as u64;
        let room = (self.head_limit - self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// Returns a copy of the bytes kept so far.
    pub(crate) fn captured(&self) -> Captured {
        Captured {
            head: self.head.clone(),
            tail: self.tail.iter().copied().collect(),
            total_bytes: self.total_bytes,
        }
    }

    pub(crate) fn finish(self) -> Captured {
        Captured { head: self.head, tail: self.tail.into(), total_bytes: self.total_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn captured(limit_bytes: usize, chunks: &[&[u8]]) -> Captured {
        let mut ring = HeadTail::new(limit_bytes);
        for chunk in chunks {
            ring.push(chunk);
        }
        ring.finish()
    }

    #[test]
    fn short_output_is_kept_whole() {
        let kept = captured(8, &[b"abc", b"defgh"]);
        assert_eq!((kept.omitted_bytes(), kept.text(|_| unreachable!())), (0, "abcdefgh".into()));
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let text = "xx€€€€€€€€yy".as_bytes();
        for limit in 1..text.len() {
            let text = captured(limit, &[text]).text(|omitted| format!("<{omitted}>"));
            assert!(!text.contains('\u{fffd}'), "{limit}: {text}");
        }
    }

    #[test]
    fn invalid_bytes_are_replaced_and_not_lost() {
        assert_eq!(captured(64, &[b"a\xff\xfeb"]).text(|_| unreachable!()), "a\u{fffd}\u{fffd}b");
    }

    proptest! {
        #[test]
        fn any_split_of_the_stream_keeps_the_same_bytes(
            chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..20),
            limit in 0usize..200,
        ) {
            let whole: Vec<u8> = chunks.concat();
            let slices: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
            let kept = captured(limit, &slices);
            prop_assert_eq!(&kept, &captured(limit, &[&whole]));
            prop_assert_eq!(kept.total_bytes, whole.len() as u64);
            prop_assert!(whole.starts_with(&kept.head));
            prop_assert!(whole.ends_with(&kept.tail));
            prop_assert_eq!(kept.head.len() + kept.tail.len(), whole.len().min(limit));
        }
    }
}
