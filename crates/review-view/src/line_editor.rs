//! A line that the user types.

use crate::event::Key;

/// The maximum number of characters of a line.
const MOST_CHARACTERS: usize = 4_000;

/// A line with a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineEditor {
    characters: Vec<char>,
    /// The number of characters before the cursor.
    cursor: usize,
}

impl LineEditor {
    /// Begins with a text, with the cursor after it. Line ends become spaces.
    pub(crate) fn with(text: &str) -> LineEditor {
        let mut editor = LineEditor::default();
        editor.insert(text);
        editor
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> String {
        self.characters.iter().collect()
    }

    /// Returns the text before the cursor.
    pub(crate) fn before_cursor(&self) -> String {
        self.characters[..self.cursor].iter().collect()
    }

    /// Applies an editing key; other keys do nothing.
    pub(crate) fn press(&mut self, key: &Key) {
        match key {
            Key::Character(character) => self.insert(character.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.insert(text),
            Key::Left => self.cursor = self.cursor.saturating_sub(1),
            Key::Right => self.cursor = (self.cursor + 1).min(self.characters.len()),
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = self.characters.len(),
            Key::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.characters.remove(self.cursor);
            }
            Key::Delete if self.cursor < self.characters.len() => {
                self.characters.remove(self.cursor);
            }
            Key::ClearLine => {
                self.characters.drain(..self.cursor);
                self.cursor = 0;
            }
            _ => {}
        }
    }

    fn insert(&mut self, text: &str) {
        let room = MOST_CHARACTERS.saturating_sub(self.characters.len());
        let text = text.trim_end_matches(['\r', '\n']).replace("\r\n", "\n");
        let typed: Vec<char> = text
            .chars()
            .map(|character| if character.is_whitespace() { ' ' } else { character })
            .filter(|character| !character.is_control())
            .take(room)
            .collect();
        let count = typed.len();
        self.characters.splice(self.cursor..self.cursor, typed);
        self.cursor += count;
    }
}
