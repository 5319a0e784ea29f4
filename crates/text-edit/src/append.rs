//! Adding text at the end of a file, in its encoding.

use crate::encode::{Unencodable, encode};
use crate::{EditErrorKind, Encoding, Source};

/// Returns the bytes of a file followed by `text` in the file's encoding. Line feeds stay line feeds. To UTF-8, and to bytes that
/// are not a text, the text's own bytes are appended.
///
/// # Errors
///
/// [`EditErrorKind::Undecodable`] for UTF-16 that ends in half a unit, and [`EditErrorKind::Unencodable`] for a NUL in UTF-16 and
/// for a character other than ASCII in a file whose 8-bit encoding is unknown.
///
/// # Example
///
/// ```
/// assert_eq!(text_edit::append(b"\xff\xfea\0", "b")?, b"\xff\xfea\0b\0");
/// # Ok::<(), text_edit::EditErrorKind>(())
/// ```
pub fn append(file: &[u8], text: &str) -> Result<Vec<u8>, EditErrorKind> {
    let mut bytes = file.to_vec();
    let encoding = Source::parse(file).map_or(Encoding::Utf8, |source| source.format().encoding);
    if encoding == Encoding::Utf8 {
        bytes.extend_from_slice(text.as_bytes());
        return Ok(bytes);
    }
    if !file.len().is_multiple_of(encoding.unit_bytes()) {
        return Err(EditErrorKind::Undecodable { encoding });
    }
    encode(text, encoding, &mut bytes).map_err(|Unencodable(character)| {
        let before = &text[..text.find(character).unwrap_or(0)];
        EditErrorKind::Unencodable { character, encoding, content_line: 1 + before.matches('\n').count() }
    })?;
    Ok(bytes)
}
