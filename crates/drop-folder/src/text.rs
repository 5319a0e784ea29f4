//! Decodes the bytes of a file into text.

use encoding_rs::{Encoding, UTF_8};

/// The maximum length of the text of a dropped file, in bytes: 16 MiB.
pub const TEXT_LIMIT_BYTES: u64 = 16 << 20;

/// Bytes that are not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file is not text: byte {offset} is neither UTF-8 nor UTF-16 with a byte-order mark")]
pub struct NotText {
    /// The first such byte, 0-based. For UTF-16, the first byte after the mark.
    pub offset: usize,
}

/// Decodes UTF-8 text, or UTF-16 text with a byte-order mark as saved by some editors.
///
/// # Errors
///
/// [`NotText`]; nothing is replaced or guessed.
pub fn decode_text(bytes: Vec<u8>) -> Result<String, NotText> {
    match Encoding::for_bom(&bytes) {
        // UTF-16 requires a mark: without one, any even number of bytes could be UTF-16.
        Some((encoding, mark_bytes)) if encoding != UTF_8 => {
            let text = encoding.decode_without_bom_handling_and_without_replacement(&bytes[mark_bytes..]);
            text.map(|text| text.into_owned()).ok_or(NotText { offset: mark_bytes })
        }
        _ => String::from_utf8(bytes).map_err(|error| NotText { offset: error.utf8_error().valid_up_to() }),
    }
}
