//! A token counter with the vocabulary `o200k`.

use super::TokenCounter;

/// The longest piece that is counted at once, in bytes. Each cut of a longer text may add one to the count, but
/// keeps the time linear in its length.
const PIECE_BYTES: usize = 16 << 10;

/// Byte pairs of the vocabulary `o200k_base`, which is loaded by the first count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct O200k;

impl TokenCounter for O200k {
    fn count(&self, text: &str) -> u64 {
        let vocabulary = tiktoken_rs::o200k_base_singleton();
        let mut rest = text;
        let mut tokens = 0;
        while !rest.is_empty() {
            let (piece, tail) = rest.split_at(end_of_piece(rest));
            tokens += vocabulary.encode_ordinary(piece).len() as u64;
            rest = tail;
        }
        tokens
    }
}

/// Returns the end of the next piece: after a line if possible, where tokens end anyway.
fn end_of_piece(text: &str) -> usize {
    if text.len() <= PIECE_BYTES {
        return text.len();
    }
    let end = text.floor_char_boundary(PIECE_BYTES);
    text[..end].rfind('\n').map_or(end, |newline| newline + 1)
}
