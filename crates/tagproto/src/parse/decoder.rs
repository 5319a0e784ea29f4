//! Strict parsing of a reply that arrives in pieces.

use crate::{Item, parse::scan::Scanner};

/// Parses a reply piece by piece, with the same result as [`parse`](crate::parse) for any cut.
///
/// It only buffers the line or block that has not ended yet, and remembers its position: the time taken is linear in the pushed
/// text.
///
/// # Example
///
/// ```
/// let mut decoder = tagproto::Decoder::new();
/// assert_eq!(decoder.push("[DONE]\nwell do"), []);
/// let items = decoder.push("ne\n[/DONE]\nand more");
/// assert_eq!(items[0].kind(), tagproto::BlockKind::Done);
/// assert_eq!(decoder.finish(), []);
/// ```
#[derive(Clone, Debug)]
pub struct Decoder {
    scanner: Scanner,
    /// The part of the reply that is still needed, starting at offset `base`.
    pending: String,
    base: usize,
}

impl Decoder {
    /// Starts at the beginning of a reply.
    #[must_use]
    pub fn new() -> Self {
        Self { scanner: Scanner::new(), pending: String::new(), base: 0 }
    }

    /// Takes the next piece and returns the blocks that ended in it; spans and lines count from the beginning of the reply.
    ///
    /// An unclosed block is reported by [`Decoder::finish`], since only the end of the text shows that it is unclosed.
    #[must_use]
    pub fn push(&mut self, piece: &str) -> Vec<Item<'static>> {
        self.pending.push_str(piece);
        let mut items = Vec::new();
        // Only a line end can complete an item: scanning each piece of a long line would be quadratic.
        if memchr::memchr(b'\n', piece.as_bytes()).is_none() {
            return items;
        }
        self.scanner.scan(&self.pending, self.base, &mut |item| items.push(item.into_owned()));
        let done = self.scanner.needed_from() - self.base;
        // An open block is kept from its tag, because its body is assembled when it closes.
        self.pending.drain(..done);
        self.base += done;
        items
    }

    /// Ends the reply and returns the items of its last line.
    #[must_use]
    pub fn finish(mut self) -> Vec<Item<'static>> {
        let mut items = Vec::new();
        self.scanner.scan_to_end(&self.pending, self.base, &mut |item| items.push(item.into_owned()));
        items
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}
