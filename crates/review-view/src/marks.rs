//! Marks for characters that cannot be seen, or that control a terminal.

use std::borrow::Cow;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
use wap_core::is_invisible;

/// The maximum number of zero-width characters on one letter; more would grow out of the row, and are shown as marks
/// after it.
const MOST_COMBINED: usize = 2;

/// The variation selectors after a symbol with emoji and text presentations.
const PICTURE: char = '\u{fe0f}';
const TEXT: char = '\u{fe0e}';

/// The way in which a character is shown.
pub(crate) enum Shape {
    Tab,
    /// By other characters, each one cell wide.
    Mark(String),
    /// On the preceding letter.
    Combining,
    /// Unchanged, in this many cells.
    Plain(usize),
}

/// The shapes of the characters of a line, one after the other.
#[derive(Default)]
pub(crate) struct Shapes {
    /// The accents on the letter so far; `None` if there is no letter to carry one.
    accents: Option<usize>,
}

impl Shapes {
    /// Returns the shape of the next character.
    pub(crate) fn next(&mut self, character: char) -> Shape {
        let shape = shape(character);
        self.accents = match shape {
            Shape::Plain(_) => Some(0),
            Shape::Combining => self.accents.map(|count| count + 1).filter(|count| *count <= MOST_COMBINED),
            Shape::Tab | Shape::Mark(_) => None,
        };
        match shape {
            Shape::Combining if self.accents.is_none() => Shape::Mark(code(character)),
            shape => shape,
        }
    }
}

/// Returns a text in which characters that control a terminal, change the direction of writing or are invisible are
/// replaced by marks.
///
/// They are those of [`cut_line`](crate::cut_line). Tabs and line ends, `\n` or `\r\n`, stay, and so does the selector
/// for emoji presentation, as in `⚠️`: models often use it. In rows it is shown as a mark, because all terminals have
/// to agree on their width.
///
/// # Example
///
/// ```
/// use review_view::marked_text;
///
/// assert_eq!(marked_text("rm\u{200b} a\u{1b}[8m\n\tb"), "rm⟨200B⟩ a␛[8m\n\tb");
/// assert_eq!(marked_text("café ⚠\u{fe0f}\r\n"), "café ⚠\u{fe0f}\r\n");
/// ```
#[must_use]
pub fn marked_text(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    // Nearly every text is plain, and is returned without a copy.
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut marked = String::with_capacity(text.len());
    let mut shapes = Shapes::default();
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let ends_a_line = character == '\n' || (character == '\r' && characters.peek() == Some(&'\n'));
        if ends_a_line {
            shapes = Shapes::default();
            marked.push(character);
            before = None;
            continue;
        }
        if before.replace(character).is_some_and(|symbol| is_picture(symbol, character)) {
            marked.push(character);
            continue;
        }
        match shapes.next(character) {
            Shape::Mark(mark) => marked.push_str(&mark),
            Shape::Tab | Shape::Combining | Shape::Plain(_) => marked.push(character),
        }
    }
    Cow::Owned(marked)
}

/// Checks whether a selector turns the preceding symbol into an emoji, by Unicode's list of such pairs: the width of a
/// listed symbol depends on its selector.
fn is_picture(symbol: char, selector: char) -> bool {
    if selector != PICTURE {
        return false;
    }
    let cells = |selector: char| String::from_iter([symbol, selector]).width();
    cells(PICTURE) == 2 && cells(TEXT) == 1
}

fn shape(character: char) -> Shape {
    match character {
        '\t' => Shape::Tab,
        // The pictures of the control characters are in the same order.
        '\0'..='\u{1f}' => {
            Shape::Mark(char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}').to_string())
        }
        '\u{7f}' => Shape::Mark('\u{2421}'.to_string()),
        _ if character.is_control() || is_invisible(character) => Shape::Mark(code(character)),
        _ => match character.width().unwrap_or(1) {
            0 => Shape::Combining,
            cells => Shape::Plain(cells),
        },
    }
}

/// Returns the mark of a character without a glyph.
fn code(character: char) -> String {
    format!("⟨{:02X}⟩", u32::from(character))
}

#[cfg(test)]
mod tests {
    use super::marked_text;

    #[test]
    fn a_selector_stays_after_a_symbol_that_it_makes_an_emoji() {
        for text in ["⚠\u{fe0f}", "❤\u{fe0f}!", "✔\u{fe0f} done", "⭐\u{fe0f}", "1\u{fe0f}"] {
            assert_eq!(marked_text(text), text);
        }
        for (text, marked) in [
            ("a\u{fe0f}", "a⟨FE0F⟩"),
            ("漢\u{fe0f}", "漢⟨FE0F⟩"),
            ("é\u{fe0f}", "é⟨FE0F⟩"),
            ("\u{fe0f}", "⟨FE0F⟩"),
            ("⚠\n\u{fe0f}", "⚠\n⟨FE0F⟩"),
            ("⚠\u{fe0f}\u{fe0f}", "⚠\u{fe0f}⟨FE0F⟩"),
            ("⚠\u{fe0e}", "⚠⟨FE0E⟩"),
            ("⚠\u{200b}\u{fe0f}", "⚠⟨200B⟩⟨FE0F⟩"),
        ] {
            assert_eq!(marked_text(text), marked);
        }
    }
}
