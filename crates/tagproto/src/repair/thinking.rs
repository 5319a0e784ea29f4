//! Closed thinking blocks outside of bodies.

use memchr::memmem;

use crate::parse::scan::{Line, after};

/// The two spellings, with the position of the last closing tag of each, once it was searched for.
#[derive(Debug, Default)]
pub(crate) struct Thinking {
    last: [Option<Option<usize>>; 2],
}

const NAMES: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

impl Thinking {
    /// Returns the offset behind the thinking block that begins with this line; `None` if none does, or it is not closed.
    pub(crate) fn end_of_block(&mut self, text: &str, line: &Line) -> Option<usize> {
        let content = text[line.start..line.end].trim_start();
        let which = NAMES.iter().position(|(opening, _)| content.starts_with(opening))?;
        let (_, closing) = NAMES[which];
        // Without a further closing tag nothing is searched again: the time stays linear for any number of unclosed blocks.
        let last =
            *self.last[which].get_or_insert_with(|| memmem::rfind(text.as_bytes(), closing.as_bytes()));
        last.filter(|last| *last >= line.start)?;
        let at = line.start + memmem::find(&text.as_bytes()[line.start..], closing.as_bytes())?;
        let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |lf| at + lf);
        Some(after(text, &Line { start: at, end }))
    }
}
