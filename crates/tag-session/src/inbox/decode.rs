//! From the bytes of a reply to its text.

use encoding_rs::{Encoding, UTF_8};

/// The largest reply that is read, in bytes.
pub const REPLY_LIMIT_BYTES: u64 = 16 << 20;

/// Why bytes are no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplyTextError {
    /// The bytes are not text.
    #[error("the file is not text: byte {offset} is neither UTF-8 nor, with a mark in front, UTF-16")]
    NotText {
        /// Where the first such byte is, 0-based.
        offset: usize,
    },
}

/// Decodes a reply: UTF-8, or UTF-16 with a byte-order mark as some editors save it.
///
/// # Errors
///
/// [`ReplyTextError::NotText`]; nothing is replaced or guessed.
pub fn decode_reply(bytes: Vec<u8>) -> Result<String, ReplyTextError> {
    match Encoding::for_bom(&bytes) {
        Some((encoding, mark_bytes)) if encoding != UTF_8 => {
            let text = encoding.decode_without_bom_handling_and_without_replacement(&bytes[mark_bytes..]);
            text.map(|text| text.into_owned()).ok_or(ReplyTextError::NotText { offset: mark_bytes })
        }
        _ => String::from_utf8(bytes)
            .map_err(|error| ReplyTextError::NotText { offset: error.utf8_error().valid_up_to() }),
    }
}
