//! Decodes bytes that arrive in pieces: a character that is split waits for the next piece.

/// Turns pieces into text. Invalid bytes become U+FFFD, as in the whole output.
#[derive(Debug, Default)]
pub(super) struct TextPieces {
    /// The beginning of a character: at most three bytes.
    held: Vec<u8>,
}

impl TextPieces {
    /// Adds a piece and returns its complete characters.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let whole = self.held.len() - unfinished(&self.held);
        let rest = self.held.split_off(whole);
        let text = String::from_utf8_lossy(&self.held).into_owned();
        self.held = rest;
        text
    }

    /// Returns the rest, after the last piece.
    pub(super) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.held)).into_owned()
    }
}

/// Returns the number of bytes at the end that begin an incomplete character.
fn unfinished(bytes: &[u8]) -> usize {
    // A character has at most four bytes, so an incomplete one has at most three.
    let last = &bytes[bytes.len().saturating_sub(3)..];
    let mut chunks = last.utf8_chunks();
    // The tail may begin within a character: only the last chunk counts.
    let invalid = chunks.by_ref().last().map_or(&[][..], |chunk| chunk.invalid());
    let is_beginning = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
    if is_beginning { invalid.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::TextPieces;

    #[test]
    fn every_cut_gives_the_text_of_the_whole() {
        let texts: [&[u8]; 5] =
            ["aé漢😀z".as_bytes(), b"\xff\xfeab\x80", b"\xe6\xbc", b"a\xf0\x9f\x98", b"\xf0\x9f\x98\x80\xf0"];
        for text in texts {
            let whole = String::from_utf8_lossy(text);
            for first in 0..=text.len() {
                for second in first..=text.len() {
                    let mut pieces = TextPieces::default();
                    let mut given = pieces.push(&text[..first]);
                    given += &pieces.push(&text[first..second]);
                    given += &pieces.push(&text[second..]);
                    given += &pieces.finish();
                    assert_eq!(given, whole, "{text:?} cut at {first} and {second}");
                }
            }
        }
    }
}
