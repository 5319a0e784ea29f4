//! Unprintable bytes as `\xNN`, and back.
//!
//! Rendering escapes bytes that are not UTF-8, and every character that would be invisible, move the cursor or change the reading
//! direction. Parsing only accepts escapes that rendering can produce, so that a path typed with a backslash keeps its meaning,
//! and so that no escape can smuggle in a slash or a NUL. If a name really contains such a text, its backslash is rendered as
//! `\x5c`, which makes the round trip exact.

use core::fmt::{self, Write};

use crate::new_name::is_invisible;

/// Renders `bytes`; never writes a control, bidirectional or zero-width character.
pub(crate) fn render(bytes: &[u8], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        for (index, character) in valid.char_indices() {
            let here = &valid.as_bytes()[index..index + character.len_utf8()];
            if is_invisible(character) {
                render_escaped(here, out)?;
            // A literal backslash is escaped only where the text would otherwise be read back as an escape.
            } else if character == '\\' && escaped_byte(&valid.as_bytes()[index..]).is_some() {
                render_escaped(b"\\", out)?;
            } else {
                out.write_char(character)?;
            }
        }
        render_escaped(chunk.invalid(), out)?;
    }
    Ok(())
}

/// Turns `\xNN` back into bytes; everything else stays as it is.
pub(crate) fn unescape(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some(first) = rest.first() {
        match escaped_byte(rest) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[4..];
            }
            None => {
                bytes.push(*first);
                rest = &rest[1..];
            }
        }
    }
    bytes
}

fn render_escaped(bytes: &[u8], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(out, "\\x{byte:02x}"))
}

/// Decodes the escape at the beginning of `text`, if rendering could have written it.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    let [b'\\', b'x', high, low, ..] = text else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let value = u8::try_from(digit(*high)? * 16 + digit(*low)?).expect("two hexadecimal digits fit a byte");
    // Other values are never rendered escaped, so reading them back would give one path two spellings, and
    // `\x2f` or `\x00` would smuggle in a separator.
    let rendered_escaped = value >= 0x80 || value == b'\\' || (value != 0 && value.is_ascii_control());
    rendered_escaped.then_some(value)
}
