//! Closed thinking blocks outside of bodies.

use memchr::memmem;

use crate::parse::scan::{Line, after};

/// The two spellings, and where the last closing one of each stands once that was looked for.
#[derive(Debug, Default)]
pub(crate) struct Thinking {
    last: [Option<Option<usize>>; 2],
}

const NAMES: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

impl Thinking {
    /// If a thinking block begins with this line and is closed, returns the offset behind the line that closes it.
    pub(crate) fn end_of_block(&mut self, text: &str, line: &Line) -> Option<usize> {
        let content = text[line.start..line.end].trim_start();
        let which = NAMES.iter().position(|(opening, _)| content.starts_with(opening))?;
        let (_, closing) = NAMES[which];
        // Where no closing one is left, nothing is searched again: the time stays linear for any number of unclosed ones.
        let last =
            *self.last[which].get_or_insert_with(|| memmem::rfind(text.as_bytes(), closing.as_bytes()));
        last.filter(|last| *last >= line.start)?;
        let at = line.start + memmem::find(&text.as_bytes()[line.start..], closing.as_bytes())?;
        let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |lf| at + lf);
        Some(after(text, &Line { start: at, end }))
    }
}
