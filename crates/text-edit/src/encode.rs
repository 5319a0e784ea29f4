//! Characters to bytes and back, in the encodings that a text can have.

use std::borrow::Cow;

use crate::Encoding;

/// A character that an encoding cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unencodable(pub(crate) char);

/// Appends `text` to `bytes`.
///
/// NUL is refused in every encoding: the text would be taken for binary from then on.
pub(crate) fn encode(text: &str, encoding: Encoding, bytes: &mut Vec<u8>) -> Result<(), Unencodable> {
    if memchr::memchr(0, text.as_bytes()).is_some() {
        return Err(Unencodable('\0'));
    }
    match encoding {
        Encoding::Utf8 => bytes.extend_from_slice(text.as_bytes()),
        Encoding::UnknownEightBit => match text.chars().find(|character| !character.is_ascii()) {
            Some(character) => return Err(Unencodable(character)),
            None => bytes.extend_from_slice(text.as_bytes()),
        },
        Encoding::Utf16Le => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        Encoding::Utf16Be => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
    }
    Ok(())
}

/// Returns the bytes of a search text; in an unknown encoding, characters other than ASCII are searched as UTF-8.
pub(crate) fn encode_any(text: &str, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 | Encoding::UnknownEightBit => text.as_bytes().to_vec(),
        Encoding::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Encoding::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    }
}

/// The characters of `bytes`; what cannot be decoded becomes U+FFFD.
pub(crate) fn decode_lossy(bytes: &[u8], encoding: Encoding) -> Cow<'_, str> {
    match encoding {
        Encoding::Utf8 | Encoding::UnknownEightBit => String::from_utf8_lossy(bytes),
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let mut text: String = char::decode_utf16(units(bytes, encoding))
                .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect();
            if bytes.len() % 2 == 1 {
                text.push(char::REPLACEMENT_CHARACTER);
            }
            Cow::Owned(text)
        }
    }
}

/// The characters of UTF-16 `bytes`, or `None` if there is a lone surrogate or half a unit.
pub(crate) fn decode_utf16_exact(bytes: &[u8], encoding: Encoding) -> Option<String> {
    if bytes.len() % 2 == 1 {
        return None;
    }
    char::decode_utf16(units(bytes, encoding)).collect::<Result<String, _>>().ok()
}

fn units(bytes: &[u8], encoding: Encoding) -> impl Iterator<Item = u16> + '_ {
    bytes.chunks_exact(2).map(move |pair| {
        let pair = [pair[0], pair[1]];
        if encoding == Encoding::Utf16Be { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
    })
}
