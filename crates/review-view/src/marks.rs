//! Marks for characters that cannot be seen, or that control a terminal.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;
use wap_core::is_invisible;

/// The most characters without a width of their own that stay on one letter; more would grow out of the row, and stand as
/// marks behind it.
const MOST_COMBINED: usize = 2;

/// The way in which a character is shown.
pub(crate) enum Shape {
    Tab,
    /// By other characters, each one cell wide.
    Mark(String),
    /// On the letter in front of it.
    Combining,
    /// As it is, in so many cells.
    Plain(usize),
}

/// The shapes of the characters of a line, one after the other.
#[derive(Default)]
pub(crate) struct Shapes {
    /// The accents on the letter so far; `None` if there is no letter for any.
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

/// Returns a text in which characters stand as marks that control a terminal, change the direction of writing or are invisible.
///
/// They are those of [`cut_line`](crate::cut_line). Tabs and the ends of lines, `\n` or `\r\n`, stay.
///
/// # Example
///
/// ```
/// use review_view::marked_text;
///
/// assert_eq!(marked_text("rm\u{200b} a\u{1b}[8m\n\tb"), "rm⟨200B⟩ a␛[8m\n\tb");
/// assert_eq!(marked_text("café\r\n"), "café\r\n");
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
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let ends_a_line = character == '\n' || (character == '\r' && characters.peek() == Some(&'\n'));
        if ends_a_line {
            shapes = Shapes::default();
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

fn shape(character: char) -> Shape {
    match character {
        '\t' => Shape::Tab,
        // The pictures of the control characters stand in their order.
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

/// Returns the mark of a character that has no sign of its own.
fn code(character: char) -> String {
    format!("⟨{:02X}⟩", u32::from(character))
}
