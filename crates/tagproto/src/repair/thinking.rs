//! Thinking blocks outside of bodies.
//!
//! Closed ones in every dialect. In the dialect `agentd` also what a chat shows of thinking without one of its marks: a reply that
//! begins with the opening mark and has no closing one was cut off in its thinking, and one that has a closing mark without an
//! opening one began with it.

use memchr::memmem;

use crate::{
    BlockKind, Dialect,
    parse::scan::{Line, after},
    repair::{
        outline::lines_from,
        tag_line::{closing_kind, opening_kind},
    },
};

/// The two spellings, with the position of the last closing mark of each, once it was searched for.
#[derive(Debug)]
pub(crate) struct Thinking {
    last: [Option<Option<usize>>; 2],
    /// The first line with text, and the end of the thinking that begins there without one of its marks, once it was searched for;
    /// `None` where it is not.
    leading: Option<Option<(usize, usize)>>,
}

const NAMES: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

impl Thinking {
    pub(crate) fn of(dialect: Dialect) -> Thinking {
        let leading = match dialect {
            Dialect::Agentd => None,
            Dialect::CodingAgent => Some(None),
        };
        Thinking { last: [None; 2], leading }
    }

    /// Returns the offset behind the thinking block that begins with this line; `None` if none does.
    pub(crate) fn end_of_block(&mut self, text: &str, line: &Line) -> Option<usize> {
        if let Some((first, end)) = *self.leading.get_or_insert_with(|| leading(text))
            && (line.start..=line.end).contains(&first)
        {
            return Some(end);
        }
        let content = text[line.start..line.end].trim_start();
        let which = NAMES.iter().position(|(opening, _)| content.starts_with(opening))?;
        let (_, closing) = NAMES[which];
        // Without a further closing tag nothing is searched again: the time stays linear for any number of unclosed blocks.
        let last =
            *self.last[which].get_or_insert_with(|| memmem::rfind(text.as_bytes(), closing.as_bytes()));
        last.filter(|last| *last >= line.start)?;
        let at = line.start + memmem::find(&text.as_bytes()[line.start..], closing.as_bytes())?;
        Some(behind_line(text, at))
    }
}

/// Returns the start of the thinking in which a text was cut off, and the kind of the first block in it; `None` if it was not, or
/// considers no block.
pub(crate) fn unfinished(text: &str) -> Option<(usize, BlockKind)> {
    let (first, _) = leading(text).filter(|(_, end)| *end == text.len())?;
    let is_closed = NAMES.iter().any(|(_, closing)| text.contains(closing));
    let kind = text[first..].lines().find_map(|line| opening_kind(line.trim()))?;
    (!is_closed).then_some((first, kind))
}

/// Returns the offset behind the line with a position.
fn behind_line(text: &str, at: usize) -> usize {
    let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |lf| at + lf);
    after(text, &Line { start: at, end })
}

/// Returns the start and the end of thinking at the start of a text that lacks one of its marks.
fn leading(text: &str) -> Option<(usize, usize)> {
    let content = text.trim_start_matches('\u{feff}').trim_start();
    let first = text.len() - content.len();
    match NAMES.iter().find(|(opening, _)| content.starts_with(opening)) {
        Some((_, closing)) if content.contains(closing) => None,
        // The other spelling is better than none.
        Some(_) => {
            let end = NAMES.iter().find_map(|(_, closing)| content.find(closing));
            Some((first, end.map_or(text.len(), |end| behind_line(text, first + end))))
        }
        None => end_without_opening(text).map(|end| (first, end)),
    }
}

/// Returns the offset behind the first closing mark that has no opening one.
///
/// It stands outside of all blocks, or in a block that has a tag of its own kind behind it: then that block was a part of the thinking, and
/// its own closing tag is missing. Any other body may have the mark as its text.
fn end_without_opening(text: &str) -> Option<usize> {
    memmem::find(text.as_bytes(), b"</think")?;
    let (mut open, mut end_in_body, mut is_opened_in_body) = (None, None, false);
    for line in lines_from(text, 0) {
        let content = text[line.start..line.end].trim_start_matches('\u{feff}').trim();
        let opens = NAMES.iter().any(|(opening, _)| content.starts_with(opening));
        let closes = |content: &str| {
            NAMES.iter().any(|(_, closing)| content.starts_with(closing) || content.ends_with(closing))
        };
        if open.is_none() {
            if opens {
                return None;
            }
            if closes(content) {
                return Some(after(text, &line));
            }
            open = opening_kind(content).filter(|kind| kind.has_body());
            (end_in_body, is_opened_in_body) = (None, false);
        } else if closing_kind(content) == open {
            open = None;
        } else if end_in_body.is_some() && opening_kind(content) == open {
            return end_in_body;
        } else if opens {
            is_opened_in_body = true;
        } else if !is_opened_in_body && end_in_body.is_none() && closes(content) {
            end_in_body = Some(after(text, &line));
        }
    }
    None
}
